#!/usr/bin/env bash
# convert_zarr_test.sh FEEDLINE_CONVERT DIGITS WORK [hdf5]: zarr-python reads the Zarr stores that
# feedline-convert writes, and feedline-convert reads zarr-python's.
#   DIGITS  folder with IDX files, left as it is
#   WORK    folder for what the test makes
#   hdf5    given where it was built with HDF5
# FEEDLINE_TEST_PYTHON names a Python that has zarr-python 3; python3 unless set.
set -euo pipefail
convert=$(realpath "$1") digits=$2 work=$3 hdf5=${4:-}
python=${FEEDLINE_TEST_PYTHON:-python3}
if ! "$python" -c 'import zarr; assert int(zarr.__version__.split(".")[0]) >= 3' 2>/dev/null; then
  echo "[feedline skip] $python has no zarr-python 3 (pip install zarr)"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work"
cd "$work"
images=$digits/t10k-images-idx3-ubyte labels=$digits/t10k-labels-idx1-ubyte

for to in zarr zarr2; do
  for how in "" "--compression none" "--compression deflate --chunk-rows 7" "--compression lz4"; do
    # shellcheck disable=SC2086
    "$convert" "image=$images" "label=$labels" --to $to $how --output "out.$to" --force >/dev/null
    "$python" - "$images" "$labels" "out.$to" "$to" "$how" <<'END'
import sys

import numpy as np
import zarr

images, labels, store, to, how = sys.argv[1:]
if to == "zarr" and "lz4" in how:
    import numcodecs.zarr3  # noqa: F401  names the codec numcodecs.lz4
group = zarr.open_group(store, mode="r")
assert group.metadata.zarr_format == (3 if to == "zarr" else 2)
assert sorted(group.array_keys()) == ["image", "label"], list(group.array_keys())
wanted = np.fromfile(images, np.uint8)[16:].reshape(-1, 28, 28)
assert (group["image"][:] == wanted).all(), how
assert (group["label"][:] == np.fromfile(labels, np.uint8)[8:]).all(), how
if "chunk-rows" in how:
    assert group["image"].chunks == (7, 28, 28)
if how == "":
    fresh = zarr.create_array({}, shape=(3,), dtype="u1", zarr_format=group.metadata.zarr_format)
    ours, its = group["image"].compressors[0], fresh.compressors[0]
    assert ours == its, (ours, its)
END
  done
done

if [[ -n $hdf5 ]]; then
  "$convert" out.zarr2 --output back.h5 >printed
  "$convert" back.h5 --to zarr --fields image label --output again.zarr >again
  [[ $(tail -n 2 printed) == "$(tail -n 2 again)" ]] ||
    { echo "FAILED: checksums differ: $(cat printed again)" >&2; exit 1; }
fi
