#!/usr/bin/env bash
# feedline_convert_test.sh FEEDLINE_CONVERT DIGITS WORK [hdf5]: the command line of
# feedline-convert.
#   DIGITS  folder with IDX files, left as it is
#   WORK    folder for what the test makes
#   hdf5    given where it was built with HDF5
set -euo pipefail
convert=$(realpath "$1") digits=$2 work=$3 hdf5=${4:-}
rm -rf "$work"
mkdir -p "$work"
cd "$work"
images=$digits/t10k-images-idx3-ubyte labels=$digits/t10k-labels-idx1-ubyte

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# crc32_from BYTE FILE: checksum of the file from that byte on, counted from 1; gzip writes it.
crc32_from() { tail -c "+$1" "$2" | gzip -c | tail -c 8 | head -c 4 | od -An -tx4 | sed 's/ /0x/'; }
expected="1000 samples, written and read back equal
  image: uint8[28, 28]  crc32 $(crc32_from 17 "$images")
  label: uint8[]  crc32 $(crc32_from 9 "$labels")"

# prints OUTPUT ARGUMENTS...: succeeds, and prints these lines, whatever the formats.
prints() {
  local output=$1
  shift
  "$convert" "$@" --output "$output" >printed 2>errors || fail "$*: $(cat errors)"
  [[ $(cat printed) == "$output: $expected" ]] ||
    fail "$*: printed $(cat printed), not $output: $expected"
  [[ ! -s errors ]] || fail "$*: said $(cat errors)"
}

# refused CODE WORDS ARGUMENTS...: ends with the code, says the words, writes nothing.
refused() {
  local code=0 wanted=$1 words=$2
  shift 2
  "$convert" "$@" --output refused >printed 2>errors || code=$?
  [[ $code == "$wanted" ]] || fail "exit code $code, not $wanted, for: $*: $(cat errors)"
  grep -q -- "$words" errors || fail "for: $*: no '$words' in: $(cat errors)"
  [[ ! -e refused ]] || fail "something was written for: $*"
}

"$convert" --version | grep -qE '^feedline-convert [0-9]+\.[0-9]+\.[0-9]+$' ||
  fail "no version: $("$convert" --version)"
prints arrays "image=$images" "label=$labels" --to npy
prints records "image=$images" "label=$labels" --to records --readers 0
prints renamed arrays/image.npy arrays/label.npy --to npy --restart
if [[ -n $hdf5 ]]; then
  prints digits.h5 arrays/image.npy arrays/label.npy
  prints again.h5 digits.h5 --fields image label --contiguous
  prints arrays again.h5 --to npy --force
  refused 2 'image.npy: there is a field .image. already' digits.h5 arrays/image.npy
fi

refused 2 'nothing: no such file or folder' nothing
refused 2 'input is required'
refused 2 'deflate has levels 1 to 9' "$images" --level 12
refused 2 'shuffle' "$images" --within-chunks 4
echo 'these are words, and many of them' >words
refused 1 '^feedline-convert: words: ' words
head -c 100000 "$images" >cut
refused 1 '^feedline-convert: cut: ' cut

# The library's messages about its own options name the program's.
{
  printf '\x88\xd8\x34\x01\x01\x00\x00\x00\x64\x00\x00\x00' # llm.c's header: 100 tokens
  head -c $((1024 - 12 + 200)) /dev/zero
} >tokens.bin
refused 2 'tokens.bin holds tokens, and --tokens-per-sample is not given' tokens.bin
refused 2 '--like chooses datasets of HDF5 files' tokens.bin --tokens-per-sample 10 --like x
! grep -q '::' errors || fail "a member of C++ in: $(cat errors)"

if [[ -n $hdf5 ]]; then
  # Compressions that the HDF5 library has no plugin for.
  for filter in zstd lz4; do
    prints $filter.h5 digits.h5 --compression $filter
    prints "$filter-back" $filter.h5 --to npy
  done

  # A chunk that cannot be decoded: without it, or not at all.
  "$convert" digits.h5 --output damaged.h5 --chunk-rows 50 >/dev/null
  dd if=/dev/zero of=damaged.h5 bs=1 seek=$(($(stat -c %s damaged.h5) / 2)) count=64 \
    conv=notrunc status=none
  refused 1 '^feedline-convert: damaged.h5: ' damaged.h5
  ! grep -q 'ticket' errors || fail "a ticket in: $(cat errors)"
  code=0
  "$convert" damaged.h5 --output rest.h5 --skip-damaged >printed 2>errors || code=$?
  [[ $code == 3 ]] || fail "exit code $code, not 3: $(cat printed errors)"
  [[ $(head -1 printed) == 'rest.h5: 950 samples, written and read back equal' ]] ||
    fail "printed $(cat printed)"
  grep -q '^feedline-convert: 50 of 1000 samples cannot be read and were left out:$' errors ||
    fail "said $(cat errors)"
  [[ $(wc -l <errors) == 2 ]] && grep -qE \
    "^  samples ([0-9]*[05]0) to [0-9]*[49]9: damaged.h5: field '/image', sample \1, " errors ||
    fail "listed $(cat errors)"
  "$convert" rest.h5 --output checked --to npy --skip-damaged >printed 2>errors ||
    fail "with nothing damaged: $(cat errors)"
  "$convert" --help | grep -q 'Exit codes: 0 all was written' || fail 'the help tells no exit codes'
fi
