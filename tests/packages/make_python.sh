#!/usr/bin/env bash
# make_python.sh FOLDER: compiles the Python whose source is in FOLDER, and leaves it there as
# python.tar, to be unpacked in the root directory. For systems whose own Python is too old. Works
# in the root of a system that is for that alone.
#
# make_python.sh FOLDER PREFIX OPTION…: installs it in PREFIX instead, with these options of its
# configure (--disable-gil: free-threaded Python).
set -euo pipefail
folder=$(readlink -f "$1")
prefix=${2:-/opt/python}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. .ci/packages.sh
feedline_install_packages interpreter

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
tar --extract --strip-components=1 --file "$folder"/python3*.orig.tar.?z  # not its signature
./configure --quiet --prefix="$prefix" --disable-test-modules CFLAGS=-O1 "${@:3}" >/dev/null
make --silent --jobs "$(nproc)" >"$folder/log" 2>&1 || { tail "$folder/log"; exit 1; }
make --silent install >"$folder/log" 2>&1 || { tail "$folder/log"; exit 1; }
"$prefix/bin/python3" -c 'import ctypes, zlib, ssl, sys; print("make_python.sh:", sys.version)'
if (($# == 1)); then tar --create --file "$folder/python.tar" -C / opt/python; fi
