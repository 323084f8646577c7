#!/usr/bin/env bash
# Writes results/published/ from a store of runs, as results/published/README.md describes it:
#   scripts/publish.sh FOLDER-OF-runs.db
# Nothing is computed; what the store does not have shows as `not yet`. Needs bin/ssdl (make build).
set -euo pipefail
cd "$(dirname "$0")/.."
store=${1:?which folder has runs.db?}
ssdl=bin/ssdl
out=results/published

publish() { # data set, seeds
  local set=$1 seeds=$2 dir=$out/$1
  rm -rf "$dir"
  mkdir -p "$dir/figures"
  for table in table1 table2; do
    for format in text md latex csv json; do
      local ext=$format
      case $format in text) ext=txt ;; latex) ext=tex ;; esac
      $ssdl report $table -d "$set" -s "$seeds" --results "$store" --format $format >"$dir/$table.$ext"
      case $format in text | md | json)
        $ssdl verify $table -d "$set" -s "$seeds" --results "$store" --format $format --report-only >"$dir/verify-$table.$ext" ;;
      esac
    done
  done
  $ssdl compare table1 --against ssdl -d "$set" -s "$seeds" --results "$store" --format md >"$dir/compare-table1.md" || rm "$dir/compare-table1.md"
  $ssdl export table1 -d "$set" -s "$seeds" --results "$store" --format csv | gzip -9n >"$dir/runs-table1.csv.gz"
  $ssdl export table2 -d "$set" -s "$seeds" --results "$store" --format csv | gzip -9n >"$dir/runs-table2.csv.gz"
}

figure() { # data set, spec, seeds: drawn if there are results
  rm -rf "$store/figures"
  if $ssdl figure "$2" -d "$1" -s "$3" --results "$store" >/dev/null; then cp "$store"/figures/* "$out/$1/figures/"; fi
}

readings() { # data set, spec, seeds
  local dir=$out/$1
  $ssdl report "$2" -d "$1" -s "$3" --results "$store" --format md >"$dir/$2.md"
  $ssdl report "$2" -d "$1" -s "$3" --results "$store" --format csv | gzip -9n >"$dir/$2.csv.gz"
  $ssdl verify "$2" -d "$1" -s "$3" --results "$store" --format md --report-only >"$dir/verify-$2.md"
}

publish sports8 1000..1007
publish stanford40 1000..1007
figure sports8 p-lambda 1000..1007
figure sports8 model-agnostic 1000..1007
figure sports8 label-rate 1000..1003
figure sports8 alpha-gamma 1000..1001
figure stanford40 model-agnostic 1000
readings sports8 multiverse 1000..1001
readings sports8 multiverse-loss 1000..1003
rm -f "$out/runs.zip"
$ssdl archive table1 table2 model-agnostic label-rate p-lambda alpha-gamma multiverse multiverse-loss --results "$store" -o "$out/runs.zip"
