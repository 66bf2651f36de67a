#!/usr/bin/env bash
# convert_full_disk_test.sh FEEDLINE_CONVERT WORK [hdf5]: feedline-convert ends well on a full
# disk, and leaves other file systems alone.
#   WORK  folder for what the test makes
#   hdf5  given where it was built with HDF5
set -euo pipefail
convert=$(realpath "$1") work=$2 hdf5=${3:-}

# In a namespace of its own, where a file system may be mounted, if that is possible.
if [[ ${CONVERT_FULL_DISK:-} != inside ]]; then
  for privilege in "" --map-root-user; do
    # shellcheck disable=SC2086
    if unshare $privilege --mount true 2>/dev/null; then
      exec env CONVERT_FULL_DISK=inside unshare $privilege --mount \
        "$(realpath "$0")" "$convert" "$work" $hdf5
    fi
  done
fi

rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# 16,000 samples of 1,000 random bytes: 16 MB that do not compress.
{
  printf '\x93NUMPY\x01\x00\x76\x00'
  printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (16000, 1000), }"
  head -c 16000000 /dev/urandom
} >x.npy

formats=("--to npy" "--to records")
if [[ -n $hdf5 ]]; then
  formats+=("--to hdf5" "--contiguous" "--compression none" "--checkpoint 1")
fi

# fails_in FOLDER WORDS ARGUMENTS...: ends with 1 and one line that says so, by no signal.
fails_in() {
  local code=0 at=$1 words=$2
  shift 2
  # shellcheck disable=SC2086
  "$convert" x.npy --output "$at/out" $1 >printed 2>errors || code=$?
  [[ $code == 1 ]] || fail "exit code $code, not 1, for: $1: $(cat errors)"
  [[ $(wc -l <errors) == 1 ]] || fail "for: $1: not one line: $(cat errors)"
  grep -q "^feedline-convert: $at/out.part/unfinished.*$words" errors ||
    fail "for: $1: no '$words' in: $(cat errors)"
  [[ ! -e $at/out ]] || fail "for: $1: an output was put in place"
}

# A limit on a file's size needs no privileges; the library, or the system, meets it in the midst.
for arguments in "${formats[@]}"; do
  (
    trap '' XFSZ
    ulimit -f 12000
    fails_in . 'File too large' "$arguments"
  )
  # shellcheck disable=SC2086
  "$convert" x.npy --output out $arguments >printed ||
    fail "does not continue without the limit: $arguments"
  if [[ $arguments == "--checkpoint 1" ]]; then
    grep -q 'by an earlier run' printed ||
      fail "does not continue from its checkpoint: $(cat printed)"
  fi
  rm -r out
done

# A disk of 4 MiB, where one can be made.
if [[ ${CONVERT_FULL_DISK:-} != inside ]]; then
  echo "no file system can be mounted here, so no small one was filled"
  exit 0
fi
mkdir disk
mount -t tmpfs -o size=4m none disk
for arguments in "${formats[@]}"; do
  fails_in disk 'there is no room on the disk for [0-9]* bytes: No space left on device' \
    "$arguments"
  [[ $(ls -A disk) == '' ]] || fail "for: $arguments: left on the full disk: $(find disk)"
done
umount disk

# A folder in which something is mounted is not replaced: that would empty the other file system.
mkdir -p forced/deep
mount -t tmpfs none forced/deep
echo 'three years of work' >forced/deep/thesis.txt
code=0
"$convert" x.npy --output forced --to npy --force 2>errors || code=$?
[[ $code == 2 ]] && grep -q 'another file system is mounted on it or in it' errors ||
  fail "exit code $code for a folder with a mount in it: $(cat errors)"
[[ $(cat forced/deep/thesis.txt) == 'three years of work' ]] || fail "forced/deep was touched"
umount forced/deep
