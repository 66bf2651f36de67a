#!/usr/bin/env bash
# Installs what is missing, builds feedline with all that this machine has, and runs all tests.
#
#   tests/run.sh                 all tests
#   tests/run.sh -R "staging"    arguments go to ctest: only the tests whose names match
#
# On Debian 12 and 13 and Ubuntu 24.04, as root or with sudo; may be run again at any time. Tests
# that need a GPU or data that is not there are skipped, and counted by reason at the end. All words
# of the build and of the tests are in build/release/build.log and tests.log. FEEDLINE_WERROR=ON
# takes warnings for errors. FEEDLINE_PYARROW=FOLDER builds and tests Parquet by the libraries of a
# pyarrow whose libparquet exports no OpenSSL; .ci/run tests it with those of a wheel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/packages.sh
. .ci/quiet.sh

stage="installing packages"
finish() {
  local code=$?
  if ((code != 0)); then echo "tests/run.sh: FAILED while $stage (exit code $code)" >&2; fi
}
trap finish EXIT

feedline_install_packages build samples tests

jobs=$(nproc)
folder=build/release
mkdir -p "$folder"
stage="configuring"
echo "tests/run.sh: configuring $folder"
if ! cmake --preset release -D CMAKE_UNITY_BUILD=ON -D FEEDLINE_WERROR="${FEEDLINE_WERROR:-OFF}" \
  ${FEEDLINE_PYARROW:+-D "FEEDLINE_PYARROW=$FEEDLINE_PYARROW"} >"$folder/configure.log" 2>&1; then
  cat "$folder/configure.log"
  exit 1
fi
tail -n 4 "$folder/configure.log" | grep feedline

stage="building"
echo "tests/run.sh: building with $jobs jobs; on two cores this takes some 20 minutes the first" \
  "time"
cmake --build --preset release --parallel "$jobs" 2>&1 | tee "$folder/build.log" |
  feedline_show_build tests/run.sh

stage="testing"
echo "tests/run.sh: running the tests"  # two a core: many of their threads wait for one another
report=$folder/tests.log
ctest --preset release --no-tests=error --parallel $((2 * jobs)) "$@" 2>&1 | tee "$report" |
  feedline_show_tests tests/run.sh
feedline_show_skipped "$folder/Testing/Temporary/LastTest.log"
echo "tests/run.sh: passed; the whole report is in $report"
