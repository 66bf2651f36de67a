#!/usr/bin/env bash
# Installs what is missing, builds the Python package with all that this machine has, installs it in
# a virtual environment, build/python, and runs its tests.
#
#   tests/python.sh                 all tests
#   tests/python.sh -k "deadline"   arguments go to pytest: only the tests whose names match
#
# On Debian 12 and 13 and Ubuntu 24.04, as root or with sudo; may be run again at any time. pip
# fetches what it needs from its index; PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER takes wheels from a
# folder instead. PYTHON names the interpreter (default python3). FEEDLINE_WERROR=ON takes warnings
# for errors. The build's words are in build/python.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/packages.sh

stage="installing packages"
finish() {
  local code=$?
  if ((code != 0)); then echo "tests/python.sh: FAILED while $stage (exit code $code)" >&2; fi
}
trap finish EXIT

feedline_install_packages build python

folder=build/python
log=build/python.log
mkdir -p build
: >"$log"

# quietly COMMAND...: its words go to the log, and are shown if it fails.
quietly() {
  local begin
  begin=$(($(wc -l <"$log") + 1))
  if ! "$@" >>"$log" 2>&1; then
    tail -n "+$begin" "$log" >&2
    return 1
  fi
}

stage="making the virtual environment $folder"
if [[ ! -x $folder/bin/pip ]]; then
  echo "tests/python.sh: making the virtual environment $folder"
  quietly "${PYTHON:-python3}" -m venv "$folder"
fi
pip=("$folder/bin/pip" --disable-pip-version-check)

stage="fetching what the build and the tests need (no network? see PIP_FIND_LINKS in this script)"
echo "tests/python.sh: fetching what the build and the tests need"
mapfile -t wanted < <("$folder/bin/python" - <<'END'
import re
text = open("pyproject.toml").read()
for name in ("requires", "dependencies", "test"):
    for line in re.search(rf"^{name} = \[(.*)\]$", text, re.MULTILINE)[1].split('", '):
        print(line.strip('" '))
END
)
quietly "${pip[@]}" install --prefer-binary "${wanted[@]}"

# Without pip's isolation: headers whose path stays the same are compiled once (ccache).
stage="building"
echo "tests/python.sh: building and installing the package; on two cores this takes some 10" \
  "minutes the first time"
quietly "${pip[@]}" install --no-build-isolation --no-deps --force-reinstall \
  --config-settings=cmake.define.FEEDLINE_WERROR="${FEEDLINE_WERROR:-OFF}" .
echo "tests/python.sh: built in $SECONDS s"

# From another folder, so that what is imported is what was installed.
stage="testing"
"$folder/bin/python" -m pytest --rootdir "$PWD" --quiet "$@" "$PWD/tests/python"
echo "tests/python.sh: ended in $SECONDS s"
