#!/usr/bin/env bash
# make_digits_test.sh MAKE_DIGITS: the files' checksums are as they were when this test was written,
# by another compiler on another machine.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

expect() {  # expect WHAT FOUND WANTED
  if [[ $2 != "$3" ]]; then
    printf 'FAILED: %s\n  found:  %s\n  wanted: %s\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}

"$1" "$folder/seven" --train 300 --test 40 --seed 7
expect "checksum and size of each file, seed 7" "$(cd "$folder/seven" && cksum -- *)" \
  "1849019704 31376 t10k-images-idx3-ubyte
1073082077 48 t10k-labels-idx1-ubyte
2911503692 235216 train-images-idx3-ubyte
1192845831 308 train-labels-idx1-ubyte"

"$1" "$folder/longer" --train 301 --test 40 --seed 7
expect "a longer set begins with the shorter one" \
  "$(tail -c +17 "$folder/longer/train-images-idx3-ubyte" | head -c $((300 * 784)) | cksum)" \
  "$(tail -c +17 "$folder/seven/train-images-idx3-ubyte" | cksum)"

"$1" "$folder/eight" --train 300 --test 40 --seed 8
if cmp --silent "$folder/seven/train-images-idx3-ubyte" \
  "$folder/eight/train-images-idx3-ubyte"; then
  echo "FAILED: seeds 7 and 8 give the same digits" >&2
  exit 1
fi

code=0
"$1" /dev/null/nowhere --train 1 --test 1 2>"$folder/words" || code=$?
expect "exit code where no folder can be made" "$code" 1
expect "words where no folder can be made" \
  "$(grep -c '^make_digits: .*/dev/null/nowhere' "$folder/words")" 1
