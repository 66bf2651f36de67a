#!/usr/bin/env bash
# convert_safety_test.sh FEEDLINE_CONVERT WORK [hdf5]: feedline-convert does not change what is
# not its own.
#   WORK  folder for what the test makes
#   hdf5  given where it was built with HDF5
set -euo pipefail
convert=$(realpath "$1") work=$2 hdf5=${3:-}
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# ran CODE ARGUMENTS...: runs the program, which is to end so.
ran() {
  local code=0 wanted=$1
  shift
  "$convert" "$@" >printed 2>errors || code=$?
  [[ $code == "$wanted" ]] || fail "exit code $code, not $wanted, for: $*: $(cat errors)"
}

# refused WORDS ARGUMENTS...: says the words, and neither makes nor changes anything.
refused() {
  local words=$1
  shift
  snapshot >before
  ran 2 "$@"
  grep -q -- "$words" errors || fail "for: $*: no '$words' in: $(cat errors)"
  snapshot | diff before - || fail "for: $*: files are not as they were"
}

# Every name here, and every file's bytes.
snapshot() {
  find . ! -name before ! -name printed ! -name errors | sort
  find . -type f ! -name before ! -name printed ! -name errors -print0 | sort -z | xargs -0 cksum
}

# 100 numbers of 8 bytes, as a NumPy file.
numbers() {
  printf '\x93NUMPY\x01\x00\x76\x00'
  printf "%-117s\n" "{'descr': '<i8', 'fortran_order': False, 'shape': (100,), }"
  head -c 800 /dev/zero
}

numbers >x.npy
mkdir d
echo 'three years of work' >d/thesis.txt
cp -r d d.old
echo 'another' >file
formats=(npy records)
if [[ -n $hdf5 ]]; then formats+=(hdf5); fi

for to in "${formats[@]}"; do
  for output in d d/ ./d// file file/ "$work/d"; do
    refused "exists; choose another --output" x.npy --to "$to" --output "$output"
  done
  refused 'is the input x.npy' x.npy --to "$to" --output x.npy --force
  refused 'is the input x.npy' x.npy --to "$to" --output d/../x.npy --force
  refused 'contains the input d/../x.npy' d/../x.npy --to "$to" --output "$work" --force
  for output in . .. ./ / '' d/.; do
    refused 'without the name of an output' x.npy --to "$to" --output "$output" --force
  done
  refused 'there is no folder nowhere' x.npy --to "$to" --output nowhere/out

  # A neighbour's name is never taken, with --force neither, and only the output is replaced.
  cp -r d forced
  cp -r d forced.old
  echo 'mine' >forced.part
  refused 'was not made by it' x.npy --to "$to" --output forced --force
  rm forced.part
  ran 0 x.npy --to "$to" --output forced/ --force
  [[ $(cat forced.old/thesis.txt) == 'three years of work' ]] || fail "forced.old was touched"
  [[ ! -e forced/thesis.txt && ! -e forced.part ]] || fail "forced was not replaced by --to $to"
  rm -r forced forced.old
done

# An output of its own is refused too; with the slash of tab completion it has the same name.
ran 0 x.npy --to npy --output own/
refused "own: exists; choose another --output" x.npy --to npy --output own/
ran 0 x.npy --to npy --output own/ --force
[[ -e own/x.npy ]] || fail "own/ was not replaced"

for words in --force 'OUTPUT.part' 'contains or lies inside an input' \
  'two at once on one output'; do
  "$convert" --help | tr -s '\n ' ' ' | grep -q -- "$words" || fail "--help says nothing of $words"
done
