#!/usr/bin/env bash
# reference_test.sh SOURCE WORK: doxygen makes the reference of include/feedline without a warning,
# its first page links all that it names, and a docstring that is wrong fails it.
set -euo pipefail
source=$1
work=$2

if ! command -v doxygen >/dev/null; then
  echo "[feedline skip] doxygen is not installed, so the reference is not built"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work"
cd "$source"

# make FOLDER [SETTING...]: the reference with these settings besides.
make() {
  local folder=$1
  shift
  { cat docs/Doxyfile; printf '%s\n' "OUTPUT_DIRECTORY = $folder" "$@"; } | doxygen -
}

mkdir "$work/whole" "$work/wrong"
make "$work/whole"
for name in $(grep -oE 'feedline(::[a-z_]+)+' docs/reference.md | sort -u); do
  if ! grep -q ">$name<" "$work/whole/html/index.html"; then
    echo "docs/reference.md names $name, which include/feedline does not have" >&2
    exit 1
  fi
done

printf '%s\n' '/// Twice a number. @param number It.' 'int twice(int value);' >"$work/wrong.hpp"
if make "$work/wrong" "INPUT = $work/wrong.hpp" "USE_MDFILE_AS_MAINPAGE =" 2>"$work/wrong.log" ||
  ! grep -q "argument 'number' of command @param is not found" "$work/wrong.log"; then
  echo "a docstring that names a parameter which is not there passed:" >&2
  cat "$work/wrong.log" >&2
  exit 1
fi
