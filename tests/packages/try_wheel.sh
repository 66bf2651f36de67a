#!/usr/bin/env bash
# try_wheel.sh FOLDER: installs the wheel that lies in FOLDER for this system's Python, by pip
# alone, where there is no compiler, and uses it: a first batch, the package's tests, and beside
# other libraries. FOLDER has all that pip installs: no index is asked. Works in the root of a
# system that is for that alone. FEEDLINE_BESIDE names modules (default: those in FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(readlink -f "$1")

fail() {
  echo "try_wheel.sh: $*" >&2
  exit 1
}
export DEBIAN_FRONTEND=noninteractive PIP_NO_INDEX=1 PIP_FIND_LINKS=$folder
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
python=python3
apt-get -qq update
if [[ -e $folder/python.tar ]]; then  # make_python.sh
  apt-get -qq install --yes --no-install-recommends libffi7 zlib1g libssl1.1 >/dev/null
  tar --extract --file "$folder/python.tar" -C /
  python=/opt/python/bin/python3
else
  apt-get -qq install --yes --no-install-recommends python3-venv >/dev/null
fi
for compiler in cc gcc c++ g++ clang cmake; do
  if command -v $compiler; then fail "this system has $compiler: it shows nothing"; fi
done
"$python" -m venv /tmp/venv
use() {
  /tmp/venv/bin/pip install --quiet feedline && (cd / && /tmp/venv/bin/python -c '
import numpy as np, feedline
x = np.arange(1000)
batch = next(iter(feedline.Loader(feedline.make_memory_dataset({"x": x}), batch_size=10)))
assert batch["x"].numpy().tolist() == list(range(10))
told = feedline.build_info()
lacking = [name for name, has in told.items() if has is False]
assert set(lacking) <= {"parquet", "cuda", "remote"}, lacking
print(told, feedline.cuda_device_count())')
}
TIMEFORMAT='%R %U %S'
{ time use >/tmp/words 2>&1; } 2>/tmp/time || { cat /tmp/words; fail "no first batch came"; }
read -r real user system </tmp/time
cat /tmp/words
echo "try_wheel.sh: installed with numpy, and a first batch, in $real s; CPU $user + $system s"
((${user%.*} + ${system%.*} <= 10)) || fail "that is more than 10 s of CPU"  # others may be busy

module=$(echo /tmp/venv/lib/python3*/site-packages/feedline/_feedline*.so)
needed=$(ldd "$module")
echo "$needed"
if grep -E "not found|cuda|hdf5|stdc\+\+|spdlog|jpeg|png|libz|tiff|webp" <<<"$needed"; then
  fail "the module needs more than the system's C library has"
fi
undefined=$(ldd -r "$module" 2>&1 | grep "undefined symbol" | grep -v "symbol: _\?Py" || true)
[[ -z $undefined ]] || fail "the module lacks symbols: $undefined"
licenses=$(echo /tmp/venv/lib/python3*/site-packages/feedline-*.dist-info/licenses)
for library in feedline zlib libdeflate lz4 libzstd hdf5 libjpeg-turbo libpng1.6 libwebp tiff \
  libzip libaec nlohmann-json3 pugixml spdlog fmtlib nanobind libstdc++; do
  text=$licenses/$library.txt
  if [[ $library == feedline ]]; then text=$licenses/LICENSE; fi
  grep -qi "copyright" "$text" || fail "the wheel has no licence of $library"
done

others=${FEEDLINE_BESIDE-h5py PIL.Image cv2 jax.numpy pyarrow}
/tmp/venv/bin/pip install --quiet pytest tqdm ml_dtypes h5py pillow
if [[ -n $others ]]; then
  /tmp/venv/bin/pip install --quiet opencv-python-headless jax pyarrow
  read -ra others <<<"$others"
  /tmp/venv/bin/python tests/packages/beside.py "${others[@]}"
fi
# As in a checkout, but with nothing of the sources' package in sight.
/tmp/venv/bin/python -m pytest --rootdir "$PWD" --quiet -p no:cacheprovider "$PWD/tests/python"
echo "try_wheel.sh: the wheel works"
