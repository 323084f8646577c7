#!/usr/bin/env bash
# Puts ONNX Runtime's library beside the program, where `ssdl features` finds it. It downloads the
# npm package onnxruntime-node (114 MB) and keeps one file of it. Needs npm and a network.
set -euo pipefail

version=1.30.0
sha256=6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75

into=${1:?usage: scripts/ort.sh FOLDER}
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) member=linux/x64/libonnxruntime.so.1 name=libonnxruntime.so ;;
  Linux-aarch64) member=linux/arm64/libonnxruntime.so.1 name=libonnxruntime.so ;;
  Darwin-arm64) member=darwin/arm64/libonnxruntime.$version.dylib name=libonnxruntime.dylib ;;
  *)
    echo "ort.sh: the package has no library for $(uname -sm); see https://github.com/microsoft/onnxruntime/releases" >&2
    exit 1
    ;;
esac
if [ -e "$into/$name" ]; then
  echo "$into/$name is there already"
  exit 0
fi
if ! command -v npm >/dev/null; then
  echo "ort.sh: npm is not installed; install it, or put $name of https://github.com/microsoft/onnxruntime/releases (version $version) into $into" >&2
  exit 1
fi

mkdir -p "$into"
into=$(cd "$into" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work" "$into/$name.tmp"' EXIT
cd "$work"
# pack only downloads; an install would run the package's own scripts.
npm pack --silent --fetch-retries 1 "onnxruntime-node@$version" >/dev/null
archive=onnxruntime-node-$version.tgz
if command -v sha256sum >/dev/null; then have=$(sha256sum "$archive"); else have=$(shasum -a 256 "$archive"); fi
if [ "${have%% *}" != "$sha256" ]; then
  echo "ort.sh: $archive has SHA-256 ${have%% *}, expected $sha256" >&2
  exit 1
fi
tar -xzf "$archive" "package/bin/napi-v6/$member"
cp "package/bin/napi-v6/$member" "$into/$name.tmp"
mv "$into/$name.tmp" "$into/$name"
echo "$into/$name: ONNX Runtime $version"
