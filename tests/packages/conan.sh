#!/usr/bin/env bash
# conan.sh WORK: makes feedline's package by Conan 2, static and shared, and runs a program of it.
# Conan is installed in WORK, by pip. Its settings are those that `conan profile detect` finds. Its
# server is not asked: the profile says that what feedline is built from comes from the system, in
# the versions that it has.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. .ci/packages.sh
. tests/packages/page.sh
feedline_install_packages build
work=$(mkdir -p "$1" && readlink -f "$1")
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet 'conan>=2.4'
export PATH=$work/venv/bin:$PATH CONAN_HOME=$work/home
rm -rf "$CONAN_HOME"
conan profile detect
conan remote disable '*'
{
  # Without the time that optimizing takes.
  echo "[conf]
tools.cmake.cmaketoolchain:extra_variables={'CMAKE_CXX_FLAGS_RELEASE': '-O0'}
[platform_requires]"
  while read -r name package; do
    # The upstream part: no epoch, no revision, no word of Debian's.
    dpkg-query --show --showformat "$name/\${Version}\n" "$package" |
      sed -E 's|/([0-9]+:)?([0-9]+([.][0-9]+)*).*|/\2|'
  done <<'END'
boost libboost-dev
spdlog libspdlog-dev
zlib zlib1g-dev
hdf5 libhdf5-dev
libjpeg-turbo libjpeg62-turbo-dev
libpng libpng-dev
nlohmann_json nlohmann-json3-dev
pugixml libpugixml-dev
libzip libzip-dev
libcurl libcurl4-openssl-dev
END
} >"$work/more"
cat "$work/more" >>"$CONAN_HOME/profiles/default"
cat "$CONAN_HOME/profiles/default"

bash -exc "$(page_commands "Conan" | grep '^conan')" 2>&1 | tee "$work/log"
(($(grep -c '^sum 499500$' "$work/log") == 2)) || { echo "conan.sh: no sum" >&2; exit 1; }
(($(grep -c '^remote 1$' "$work/log") == 2)) ||
  { echo "conan.sh: no remote files" >&2; exit 1; }
conan list "feedline/$feedline_version:*"
echo "conan.sh: Conan made feedline $feedline_version, and programs of it run"
