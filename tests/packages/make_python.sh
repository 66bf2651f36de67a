#!/usr/bin/env bash
# make_python.sh FOLDER: compiles the Python whose source is in FOLDER, and leaves it there as
# python.tar, to be unpacked in the root directory. For systems whose own Python is too old. Works
# in the root of a system that is for that alone.
set -euo pipefail
folder=$(readlink -f "$1")
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install --yes --no-install-recommends gcc libc6-dev make libffi-dev zlib1g-dev \
  libssl-dev xz-utils >/dev/null
mkdir /tmp/python
cd /tmp/python
tar --extract --strip-components=1 --file "$folder"/python3*.orig.tar.*
./configure --quiet --prefix=/opt/python --disable-test-modules CFLAGS=-O1 >/dev/null
make --silent --jobs "$(nproc)" >/tmp/log 2>&1 || { tail /tmp/log; exit 1; }
make --silent install >/tmp/log 2>&1 || { tail /tmp/log; exit 1; }
/opt/python/bin/python3 -c 'import ctypes, zlib, ssl, sys; print("make_python.sh:", sys.version)'
tar --create --file "$folder/python.tar" -C / opt/python
