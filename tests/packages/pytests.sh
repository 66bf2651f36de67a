#!/usr/bin/env bash
# pytests.sh FOLDER OUT [PYTEST ARGUMENTS]: runs tests/python against the wheels in FOLDER, with the
# interpreter and the packages that this machine has, in two halves beside each other, for 400 s at
# most each. Leaves the output in OUT, and ends with a summary. Installs nothing in the system.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
folder=$(readlink -f "$1") out=$(mkdir -p "$2" && readlink -f "$2")
shift 2
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
python3 -m pip install --quiet --no-index --no-deps --no-compile --target "$site" "$folder"/*.whl ||
  exit 1
export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
(cd / && python3 -c 'import feedline, sys; print(sys.version.split()[0], feedline.__file__,
  feedline.build_info(), feedline.cuda_device_count())') || exit 1

mapfile -t all < <(find tests/python -name 'test_*.py' | sort)
halves=("" "")
for i in "${!all[@]}"; do halves[i % 2]+=" ${all[i]}"; done
began=$SECONDS
for half in 0 1; do
  read -ra files <<<"${halves[half]}"
  timeout --signal=INT --kill-after=20 400 python3 -m pytest --rootdir "$PWD" --quiet \
    -p no:cacheprovider -p no:randomly --durations=8 "$@" "${files[@]}" \
    >"$out/half$half.txt" 2>&1 &
done
failed=0
for half in 0 1; do wait -n || failed=$?; done
for half in 0 1; do
  echo "== half $half"
  grep --extended-regexp '^(FAILED|ERROR|SKIPPED|.*KeyboardInterrupt)' "$out/half$half.txt" |
    cut -c1-300
  tail -1 "$out/half$half.txt"
done
echo "pytests.sh: ended in $((SECONDS - began)) s with code $failed; all output is in $out"
exit "$failed"
