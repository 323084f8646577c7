#!/usr/bin/env bash
# Writes the folders of results/published/, and runs.zip and index.html beside them, from a store of runs:
#   scripts/publish.sh FOLDER-OF-runs.db
# Cells without runs show as `not run`. It refuses a store if a shown run has no record of its commit, code or memory,
# comes from modified sources, or was changed. Then it repeats shown runs, each in its own process, until $SSDL_SAMPLE
# of them are verified (by default 60; the store remembers those of earlier calls of `ssdl check`), and stops if one
# differs. This needs the data sets (SSDL_DATA names their folder) and bin/ssdl (make build).
#
# It copies the store first, so that all files show one state of it, and writes nothing beside it. It replaces
# the published files only when all are complete. README.md and performance.md are written by hand and stay.
set -euo pipefail

store=$(realpath -e -- "${1:?which folder has runs.db?}")
[[ -f $store/runs.db ]] || { echo "publish.sh: $store has no runs.db; name the folder of a store" >&2; exit 2; }
top=$(realpath -e -- "$(dirname -- "$0")/..")
published=$top/results/published
ssdl=$top/bin/ssdl
[[ -x $ssdl ]] || { echo "publish.sh: there is no $ssdl; make build makes it" >&2; exit 2; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
copy=$tmp/results
out=$tmp/published
"$ssdl" import --shards "$store/runs.db" --results "$copy" >&2

# from VERB ARGUMENTS...: runs the verb on the copy.
from() { "$ssdl" "$@" --results "$copy"; }

# optional FILE VERB ARGUMENTS...: writes the output to the file; no file if there are no results.
optional() {
  local file=$1 status=0
  from "${@:2}" >"$file" || status=$?
  case $status in
    0) ;;
    5) rm "$file" ;;
    *) return $status ;;
  esac
}

publish() { # data set, seeds
  local set=$1 seeds=$2 dir=$out/$1
  mkdir -p "$dir/figures"
  for table in table1 table2; do
    for format in text md latex csv json; do
      local ext=$format
      case $format in text) ext=txt ;; latex) ext=tex ;; esac
      from report $table -d "$set" -s "$seeds" --format $format >"$dir/$table.$ext"
      case $format in text | md | json)
        from verify $table -d "$set" -s "$seeds" --format $format --report-only >"$dir/verify-$table.$ext" ;;
      esac
    done
  done
  optional "$dir/compare-table1.md" compare table1 --against ssdl -d "$set" -s "$seeds" --format md
  optional "$tmp/drawn" compare table1 --figure -d "$set" -s "$seeds"
  drawn "$set"
  "$ssdl" data stats "$set" --picture "$tmp/$set.png" | grep -v '^figure: ' >"$dir/data.txt"
  from export table1 -d "$set" -s "$seeds" --format csv | gzip -9n >"$dir/runs-table1.csv.gz"
  from export table2 -d "$set" -s "$seeds" --format csv | gzip -9n >"$dir/runs-table2.csv.gz"
}

# drawn DATASET: moves new figures into its folder.
drawn() {
  if [[ -d $copy/figures ]]; then
    mv "$copy"/figures/* "$out/$1/figures/"
    rmdir "$copy/figures"
  fi
}

figure() { # data set, spec, seeds: drawn if there are results
  optional "$tmp/drawn" figure "$2" -d "$1" -s "$3"
  drawn "$1"
}

table() { # data set, spec, seeds
  local dir=$out/$1
  from report "$2" -d "$1" -s "$3" --format md >"$dir/$2.md"
  from verify "$2" -d "$1" -s "$3" --format md --report-only >"$dir/verify-$2.md"
}

traces() { # data set, spec, seeds, names
  optional "$out/$1/$2.md" report "$2" -d "$1" -s "$3" --traces "$4" --format md
}

readings() { # data set, spec, seeds
  local dir=$out/$1
  figure "$@"
  from report "$2" -d "$1" -s "$3" --format md >"$dir/$2.md"
  from report "$2" -d "$1" -s "$3" --format csv | gzip -9n >"$dir/$2.csv.gz"
  from verify "$2" -d "$1" -s "$3" --format md --report-only >"$dir/verify-$2.md"
}

specs=(table1 table2 charity ladder leak model-agnostic label-rate p-lambda alpha-gamma multiverse multiverse-stanford40 multiverse-loss multiverse-loss-stanford40)
mkdir -p "$out"
for set in sports8 stanford40; do
  from verify "${specs[@]}" -d "$set" --require-clean --report-only >/dev/null
done
from fsck >&2
from check "${specs[@]}" -d sports8,stanford40 --isolate --until "${SSDL_SAMPLE:-60}" --draw 1 >"$out/check.txt"

for set in sports8 stanford40; do
  publish "$set" 1000..1007
  for spec in ladder model-agnostic; do
    figure "$set" "$spec" 1000..1007
    table "$set" "$spec" 1000..1007
  done
  table "$set" charity 1000..1007
  traces "$set" leak 1000..1001 atoms,train_accuracy_with_labels,train_accuracy_without_labels
done
for spec in p-lambda label-rate alpha-gamma; do
  figure sports8 $spec 1000..1007
done
readings sports8 multiverse 1000..1003
readings stanford40 multiverse-stanford40 1000..1001
readings sports8 multiverse-loss 1000..1003
readings stanford40 multiverse-loss-stanford40 1000..1001
from site -o "$out/index.html" >/dev/null
from archive "${specs[@]}" -o "$out/runs.zip" >/dev/null

for made in "$out"/*; do
  rm -rf "$published/${made##*/}"
  mv "$made" "$published/"
done
echo "published: $published; \`make docs\` puts it into README.md and REPRODUCE.md"
