#!/usr/bin/env bash
# vcpkg.sh VCPKG WORK: makes feedline by vcpkg, whose checkout is VCPKG with its program in it, and
# builds and runs a program of it. What feedline is built from comes from the system: ports of the
# same names stand in that hold nothing, so that nothing is downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. .ci/packages.sh
. tests/packages/page.sh
feedline_install_packages build
VCPKG_ROOT=$(readlink -f "$1")
work=$(mkdir -p "$2" && readlink -f "$2")
export VCPKG_ROOT VCPKG_FORCE_SYSTEM_BINARIES=1 VCPKG_DISABLE_METRICS=1
export VCPKG_OVERLAY_PORTS=$work/ports VCPKG_OVERLAY_TRIPLETS=$work/triplets
export VCPKG_DEFAULT_TRIPLET=x64-linux VCPKG_DEFAULT_HOST_TRIPLET=x64-linux
export VCPKG_BINARY_SOURCES=clear
export PATH=$VCPKG_ROOT:$PATH
rm -rf "$work"
mkdir -p "$work/triplets"
# One build instead of two, without optimizing, and without patchelf, which would be downloaded.
cat >"$VCPKG_OVERLAY_TRIPLETS/x64-linux.cmake" <<'END'
set(VCPKG_TARGET_ARCHITECTURE x64)
set(VCPKG_CMAKE_SYSTEM_NAME Linux)
set(VCPKG_CRT_LINKAGE dynamic)
set(VCPKG_LIBRARY_LINKAGE static)
set(VCPKG_BUILD_TYPE release)
set(VCPKG_FIXUP_ELF_RPATH OFF)
set(VCPKG_CMAKE_CONFIGURE_OPTIONS -DCMAKE_CXX_FLAGS_RELEASE=-O0)
END
if command -v ccache >/dev/null; then
  echo 'list(APPEND VCPKG_CMAKE_CONFIGURE_OPTIONS -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)' \
    >>"$VCPKG_OVERLAY_TRIPLETS/x64-linux.cmake"
fi

stand_in() {  # stand_in NAME [FEATURE]
  local features=""
  if (($# > 1)); then features=", \"features\": { \"$2\": { \"description\": \"none\" } }"; fi
  mkdir -p "$VCPKG_OVERLAY_PORTS/$1"
  echo "set(VCPKG_POLICY_EMPTY_PACKAGE enabled)" >"$VCPKG_OVERLAY_PORTS/$1/portfile.cmake"
  echo "{ \"name\": \"$1\", \"version\": \"0\"$features }" >"$VCPKG_OVERLAY_PORTS/$1/vcpkg.json"
}
for port in boost-lockfree spdlog zlib libjpeg-turbo libpng nlohmann-json pugixml libzip \
  cli11; do stand_in $port; done
stand_in hdf5 zlib
stand_in curl ssl

export FEEDLINE=$PWD
cp -r tests/install/whole tests/install/consumer.cpp "$work"
cd "$work/whole"
bash -exc "$(cd "$FEEDLINE" && page_commands "vcpkg")"
[[ $(build/my_trainer) == *"sum 499500"* ]] || { echo "vcpkg.sh: no sum" >&2; exit 1; }
build/my_trainer
build/my_trainer | grep -q '^remote 1$' || { echo "vcpkg.sh: no remote files" >&2; exit 1; }
echo "vcpkg.sh: vcpkg made feedline, and a program of it runs"
