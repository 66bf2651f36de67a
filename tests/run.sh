#!/usr/bin/env bash
# Installs what is missing, builds feedline with all that this machine has, and runs all tests.
#
#   tests/run.sh                 all tests
#   tests/run.sh -R "staging"    arguments go to ctest: only the tests whose names match
#
# On Debian 12 and Ubuntu 24.04, as root or with sudo; may be run again at any time. Tests that need
# a GPU or data that is not there are shown as skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/packages.sh

stage="installing packages"
finish() {
  local code=$?
  if ((code != 0)); then echo "tests/run.sh: FAILED while $stage (exit code $code)" >&2; fi
}
trap finish EXIT

feedline_install_packages build samples tests

jobs=$(nproc)
stage="configuring"
echo "tests/run.sh: configuring and building build/release with $jobs jobs"
cmake --preset release
stage="building"
cmake --build --preset release --parallel "$jobs"

stage="testing"
report=build/release/tests.log
echo "tests/run.sh: running the tests; their report is also in $report"
ctest --preset release --no-tests=error --parallel "$jobs" "$@" 2>&1 | tee "$report"

skipped=$(grep -c '\*\*\*Skipped' "$report" || true)
echo
echo "tests/run.sh: $(grep -m1 'tests passed' "$report" || echo "no tests were run")"
if ((skipped > 0)); then echo "tests/run.sh: $skipped of them skipped; the list above says which"; fi
echo "tests/run.sh: passed"
