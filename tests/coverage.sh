#!/usr/bin/env bash
# Prints which lines and branches of the pipeline's heart the host's tests run, as a table by
# folder.
#
#   tests/coverage.sh              prints the table
#   tests/coverage.sh --lines      and the lines that no test runs
#
# Builds build/coverage (g++, -O0, HDF5 and CUDA left out) and runs the tests of units, pipeline,
# results, faults, statistics and traces. A branch that only an exception takes is not counted: the
# compiler makes one at nearly every call. Builds everything again, so CI does not run it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/packages.sh
feedline_install_packages build tests coverage

folder=build/coverage
heart='reader staging transfer batch device loader sampler results statistics rows detail'
programs=(unit pipeline results fault statistics trace)
targets=("${programs[@]/#/feedline_}")
targets=("${targets[@]/%/_tests}")
jobs=$(nproc)

cmake --preset host-debug -B "$folder" -D FEEDLINE_COVERAGE=ON -D FEEDLINE_HDF5=OFF \
  -D FEEDLINE_SAMPLES=OFF -D FEEDLINE_PROGRAMS=OFF >"$folder.log"
cmake --build "$folder" --parallel "$jobs" \
  --target "${targets[@]}" >>"$folder.log" 2>&1
find "$folder" -name '*.gcda' -delete
ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure --no-tests=error \
  --tests-regex "^feedline_($(IFS='|' && echo "${programs[*]}"))_tests:" >>"$folder.log"

gcovr --root . --object-directory "$folder" --filter 'src/' --exclude-throw-branches \
  --json-summary-pretty --json-summary "$folder/summary.json" >/dev/null
python3 - "$folder/summary.json" "$heart" <<'PYTHON'
import json, sys
files = json.load(open(sys.argv[1]))["files"]
kinds = ("line", "branch")
def row(name, chosen):
    cells = []
    for kind in kinds:
        of, run = (sum(f[f"{kind}_{what}"] for f in chosen) for what in ("total", "covered"))
        cells.append(f"{run} of {of} | {100 * run / of:.1f} %" if of else "- | -")
    print(f"| {name} | {' | '.join(cells)} |")
print("| folder of `src/` | lines | | branches | |\n| --- | --- | --- | --- | --- |")
heart = sys.argv[2].split()
def inside(folder):
    return [f for f in files if f["filename"].startswith(f"src/{folder}/")]
for folder in heart:
    row(f"`{folder}/`", inside(folder))
row("all of them", [f for folder in heart for f in inside(folder)])
PYTHON

if [[ ${1:-} == --lines ]]; then
  gcovr --root . --object-directory "$folder" --filter "src/(${heart// /|})/" --txt |
    awk '$NF != "100%"'
fi
