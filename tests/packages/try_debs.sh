#!/usr/bin/env bash
# try_debs.sh FOLDER: installs the Debian packages that lie in FOLDER on a bare system, runs the
# programs, builds programs against the libraries by find_package and by pkg-config, removes the
# packages, and looks for what they left. Works in the root of a system that is for that alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/packages/page.sh
export DEBIAN_FRONTEND=noninteractive
here=$PWD folder=$(readlink -f "$1") work=$(mktemp -d)

fail() {
  echo "try_debs.sh: $*" >&2
  exit 1
}
ours() {  # files whose names have feedline in them, but for this checkout
  find / -xdev \( -path "$here" -o -path "$folder" -o -path "$work" -o -path /proc \) -prune \
    -o -iname '*feedline*' -print
}
says() {  # says TEXT COMMAND...: the command succeeds, and its output has the text
  local output
  output=$("${@:2}" 2>&1) || fail "'${*:2}' failed: $output"
  [[ $output == *"$1"* ]] || fail "'${*:2}' does not say '$1' but: $output"
}

[[ -z $(ours) ]] || fail "something of feedline is here already: $(ours)"
apt-get -qq update
echo "--- the programs, with what they need to run and no more"
cp "$folder"/*.deb "$work"
cd "$work"
commands=$(page_commands "Packages for Debian and Ubuntu")
install=$(grep '^apt-get install' <<<"$commands")
remove=$(grep '^apt-get purge' <<<"$commands")
apt-get -qq install --yes --no-install-recommends ./libfeedline[0-9]*.deb ./feedline-tools_*.deb \
  >/dev/null
for tool in gcc g++ cmake; do
  if command -v $tool >/dev/null; then fail "$tool is here: this system is not bare"; fi
done
program=/usr/bin/feedline-doctor
if ldd $program | grep 'not found'; then fail "$program lacks libraries"; fi
# 1,000 images of 28 by 28 bytes, as MNIST's files are.
{ printf '\0\0\x08\x03\0\0\x03\xe8\0\0\0\x1c\0\0\0\x1c' && head -c 784000 /dev/urandom; } >images
says "1000 samples, written and read back equal" feedline-convert image=images --output images.h5
says "1000 samples, written and read back equal" \
  feedline-convert images.h5 --output arrays --to npy
says "uint8[28, 28]" feedline-doctor images.h5 --batch-size 64 --step 100us --seconds 2
cd "$here"

echo "--- development: with find_package and with pkg-config"
(cd "$work" && bash -exc "${install/install/-qq install --yes --no-install-recommends} >/dev/null")
apt-get -qq install --yes --no-install-recommends g++ cmake make pkgconf >/dev/null
for name in whole core_alone; do
  cmake -S tests/install/$name -B "$work/$name" -D CMAKE_BUILD_TYPE=Release
  cmake --build "$work/$name"
  says "sum 499500" "$work/$name/my_trainer"
done
says "hdf5 1" "$work/whole/my_trainer"
says "formats 1" "$work/whole/my_trainer"
says "mapped 01" "$work/whole/my_trainer"  # map_files reaches every library
cp tests/install/consumer.cpp "$work/my_trainer.cpp"
(cd "$work" && bash -exc "$(page_commands "pkg-config")")
says "sum 499500" "$work/my_trainer"

echo "--- removal"
cd "$work"
bash -exc "${remove/purge/-qq purge --yes}"
[[ -z $(ours) ]] || fail "the packages left: $(ours)"
if ldconfig -p | grep feedline; then fail "ld.so.cache still has feedline"; fi
rm -rf "$work"
echo "try_debs.sh: the packages install, run, serve and go"
