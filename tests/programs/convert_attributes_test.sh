#!/usr/bin/env bash
# convert_attributes_test.sh FEEDLINE_CONVERT WORK: attributes, names of dimensions, fill values and
# groups that h5py and zarr-python write are read back by them after conversions.
#   WORK  folder for what the test makes
# FEEDLINE_TEST_PYTHON names a Python that has zarr-python 3 and h5py; python3 unless set.
set -euo pipefail
convert=$(realpath "$1") work=$2
python=${FEEDLINE_TEST_PYTHON:-python3}
if ! "$python" -c 'import h5py, zarr; assert int(zarr.__version__.split(".")[0]) >= 3' 2>/dev/null
then
  echo "[feedline skip] $python has no h5py and zarr-python 3 (pip install h5py zarr)"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work"
cd "$work"

"$python" - <<'END'
import h5py
import numpy as np

with h5py.File("in.h5", "w") as made:
    made.attrs.update(title="wetter — météo", version=np.int16(3))
    group = made.create_group("levels")
    group.attrs["kind"] = "pressure"
    time = made.create_dataset("time", data=np.arange(20) * 6)
    time.attrs["units"] = "hours since 1970-01-01"
    time.make_scale("time")
    stored = np.arange(20 * 6, dtype=np.int16).reshape(20, 2, 3)
    t = made.create_dataset("t", data=stored, chunks=(4, 2, 3), compression="gzip")
    t.attrs.update(scale_factor=np.float32(0.01), add_offset=280.0, units="K", flag=True)
    t.attrs.update(valid=np.array([-5, 7], np.int32), names=["a", "b"], nothing=np.nan)
    t.attrs["_FillValue"] = np.array([-9], np.int16)
    t.attrs["where"] = time.ref
    t.attrs["empty"] = h5py.Empty("f4")
    t.attrs["grid"] = np.zeros((2, 2))
    t.dims[0].attach_scale(time)
    for place, name in enumerate("yx", 1):
        made[name] = np.arange(t.shape[place])
        made[name].make_scale(name)
        t.dims[place].attach_scale(made[name])
    q = group.create_dataset("q", data=np.linspace(0, 1, 20, dtype=np.float32))
    q.attrs["_FillValue"] = np.float32(1e20)
END

for to in zarr zarr2 hdf5; do
  "$convert" in.h5 --to $to --like t --keep-groups --output "out.$to" >printed 2>told
  for name in where empty grid; do
    grep -q "attribute '$name' of 't' is not carried over" told ||
      { echo "FAILED: $to does not tell of '$name': $(cat told)" >&2; exit 1; }
  done
  if grep -q "DIMENSION_LIST" told; then echo "FAILED: $(cat told)" >&2; exit 1; fi
  "$convert" "out.$to" --keep-groups --output "back.$to.h5" >again 2>told
  if grep -q "not carried" told; then echo "FAILED: $(cat told)" >&2; exit 1; fi
done

"$python" - <<'END'
import base64
import math
import struct

import h5py
import numpy as np
import zarr

stored = np.arange(20 * 6, dtype=np.int16).reshape(20, 2, 3)


def number(value):
    return value[0] if isinstance(value, (list, np.ndarray)) else value


def check(group, is_hdf5):
    assert group.attrs["title"] == "wetter — météo"
    assert group.attrs["version"] == 3
    assert group["levels"].attrs["kind"] == "pressure"
    t, q = group["t"], group["levels/q"]
    assert (t[:] == stored).all() and (q[:] == np.linspace(0, 1, 20, dtype=np.float32)).all()
    assert t.attrs["scale_factor"] == np.float32(0.01), t.attrs["scale_factor"]
    assert t.attrs["add_offset"] == 280.0 and t.attrs["units"] == "K"
    assert t.attrs["flag"] in (True, np.True_)
    assert list(t.attrs["valid"]) == [-5, 7] and list(t.attrs["names"]) == ["a", "b"]
    assert math.isnan(t.attrs["nothing"])
    assert group["time"].attrs["units"] == "hours since 1970-01-01"
    assert not {"where", "empty", "grid", "CLASS", "DIMENSION_LIST"} & set(t.attrs)
    if is_hdf5:
        assert t.attrs["_FillValue"] == -9 and t.attrs["_FillValue"].dtype == np.int16
        assert q.attrs["_FillValue"] == np.float32(1e20)
        assert q.attrs["_FillValue"].dtype == np.float32
        assert [d.label for d in group["t"].dims] == ["time", "y", "x"]


for to in ("zarr", "zarr2"):
    group = zarr.open_group(f"out.{to}", mode="r")
    check(group, False)
    t, q = group["t"], group["levels/q"]
    assert t.fill_value == -9 and q.fill_value == np.float32(1e20), (t.fill_value, q.fill_value)
    if to == "zarr":
        assert t.attrs["_FillValue"] == -9
        (coded,) = struct.unpack("<d", base64.b64decode(q.attrs["_FillValue"]))
        assert np.float32(coded) == np.float32(1e20)
        assert group["time"].metadata.dimension_names == ("time",)
        assert t.metadata.dimension_names == ("time", "y", "x")
    else:
        assert group["time"].attrs["_ARRAY_DIMENSIONS"] == ["time"]
    with h5py.File(f"back.{to}.h5") as back:
        check(back, True)
with h5py.File("out.hdf5") as out, h5py.File("back.hdf5.h5") as back:
    for group in (out, back):
        check(group, True)
        assert group["t"].attrs["scale_factor"].dtype == np.float32  # HDF5 has the type
        assert group["t"].attrs["valid"].dtype == np.int32

try:
    import xarray
except ImportError:
    xarray = None
if xarray is not None:
    wanted = np.where(stored == -9, np.nan, stored * 0.01 + 280)
    for to in ("zarr", "zarr2"):
        with xarray.open_zarr(f"out.{to}", consolidated=False, decode_times=False) as found:
            assert found["t"].dims == ("time", "y", "x")
            assert np.allclose(found["t"].values, wanted, equal_nan=True)
END

if "$convert" in.h5 --to npy --keep-groups --output out.npy 2>told; then exit 1; fi
grep -q "npy has no groups" told

# Numbers at the ends of their types, and texts that look like numbers.
"$python" - <<'END'
import h5py
import numpy as np
import zarr

with h5py.File("ends.h5", "w") as made:
    for name, type in (("u", np.uint64), ("i", np.int64), ("b", np.int8)):
        x = made.create_dataset(name, data=np.arange(3, dtype=type))
        x.attrs["_FillValue"] = np.iinfo(type).max if name == "u" else np.iinfo(type).min
        x.attrs.update(word="NaN", words=["Infinity", "a"])
group = zarr.open_group("ends.zarr", mode="w")
x = group.create_array("x", data=np.arange(3, dtype=np.uint64))
x.attrs.update(most=2**64 - 1, pair=[1, 2**63], mixed=[-1, 2**63])
END
"$convert" ends.h5 --to hdf5 --output ends.back.h5 >printed 2>told
"$convert" ends.h5 --to zarr --output ends.out.zarr >printed 2>>told
if grep -q "not carried" told; then echo "FAILED: $(cat told)" >&2; exit 1; fi
"$convert" ends.zarr --to hdf5 --output ends.zarr.h5 >printed 2>told
grep -q "attribute 'mixed' of 'x' is not carried over: no type of HDF5 holds" told ||
  { echo "FAILED: $(cat told)" >&2; exit 1; }
"$python" - <<'END'
import h5py
import numpy as np
import zarr

out = zarr.open_group("ends.out.zarr", mode="r")
with h5py.File("ends.back.h5") as back, h5py.File("ends.zarr.h5") as large:
    for name, end in (("u", 2**64 - 1), ("i", -(2**63)), ("b", -128)):
        assert back[name].attrs["_FillValue"] == end == out[name].fill_value, name
        for of in (back, out):
            assert of[name].attrs["word"] == "NaN", of[name].attrs["word"]
            assert list(of[name].attrs["words"]) == ["Infinity", "a"]
    assert large["x"].attrs["most"] == 2**64 - 1
    assert large["x"].attrs["pair"].tolist() == [1, 2**63]
END

# Files whose samples follow each other: attributes must be true of all.
"$python" - <<'END'
import numpy as np
import zarr

for name, scale, units in (("s1", 0.5, "h since 1"), ("s2", 0.5, "h since 2"), ("s3", 0.25, "")):
    group = zarr.open_group(f"{name}.zarr", mode="w")
    x = group.create_array("x", data=np.arange(3, dtype=np.int16))
    x.attrs.update(scale_factor=scale, units=units, long_name="x")
END
"$convert" 's[12].zarr' --to zarr --output s12.out.zarr >printed 2>told
grep -q "attribute 'units' of 'x' is not carried over: s2.zarr has not the same" told ||
  { echo "FAILED: $(cat told)" >&2; exit 1; }
"$python" -c 'import zarr
x = zarr.open_group("s12.out.zarr", mode="r")["x"]
assert dict(x.attrs) == {"scale_factor": 0.5, "long_name": "x"}, dict(x.attrs)
assert x[:].tolist() == [0, 1, 2] * 2'
if "$convert" 's[13].zarr' --to zarr --output s13.out.zarr >printed 2>told; then exit 1; fi
grep -q "s3.zarr: attribute 'scale_factor' of 'x' is not that of s1.zarr" told ||
  { echo "FAILED: $(cat told)" >&2; exit 1; }

# Texts of Zarr that look like numbers stay texts, and a number for missing values that a group has
# is carried over, too.
"$python" - <<'END'
import json
from pathlib import Path

import h5py
import numpy as np
import zarr

for version, file in ((3, "zarr.json"), (2, ".zattrs")):
    group = zarr.open_group(f"words{version}.zarr", mode="w", zarr_format=version)
    x = group.create_array("g/x", shape=(3,), chunks=(3,), dtype="float32")
    x[:] = np.arange(3)
    path = Path(f"words{version}.zarr/g/x/{file}")
    text = path.read_text() if path.exists() else "{}"
    stored = json.loads(text)
    own = stored.setdefault("attributes", {}) if version == 3 else stored
    own.update(word="NaN", words=["Infinity", "NaN"], number=np.nan, numbers=[1.5, -np.inf],
               mixed=[np.nan, "NaN"])
    path.write_text(json.dumps(stored))
    zarr.open_group(f"words{version}.zarr", mode="a")["g"].attrs.update(_FillValue=-5, kind="NaN")
with h5py.File("fill.h5", "w") as made:
    made.create_dataset("g/x", data=np.arange(3))
    made["g"].attrs["_FillValue"] = np.int16(-7)
    made.attrs["_FillValue"] = "none"
END
for version in 2 3; do
  for to in hdf5 zarr zarr2; do
    "$convert" words$version.zarr --keep-groups --to $to --output words$version.out.$to \
      >printed 2>told
    grep -q "attribute 'mixed' of 'g/x' is not carried over: it is" told ||
      { echo "FAILED: words$version to $to: $(cat told)" >&2; exit 1; }
  done
done
for to in hdf5 zarr; do
  "$convert" fill.h5 --keep-groups --to $to --output fill.$to >printed 2>told
  if grep -q "not carried" told; then echo "FAILED: $(cat told)" >&2; exit 1; fi
done
"$python" - <<'END'
import math

import h5py
import zarr


def check(group):
    x = group["g/x"].attrs
    assert x["word"] == "NaN" and isinstance(x["word"], str), x["word"]
    assert list(x["words"]) == ["Infinity", "NaN"] and isinstance(x["words"][0], str)
    assert math.isnan(x["number"]) and list(x["numbers"]) == [1.5, -math.inf]
    assert group["g"].attrs["_FillValue"] == -5, dict(group["g"].attrs)
    assert group["g"].attrs["kind"] == "NaN"


for version in (2, 3):
    with h5py.File(f"words{version}.out.hdf5") as out:
        check(out)
    for to in ("zarr", "zarr2"):
        check(zarr.open_group(f"words{version}.out.{to}", mode="r"))
with h5py.File("fill.hdf5") as out:
    assert out["g"].attrs["_FillValue"] == -7 and out["g"].attrs["_FillValue"].dtype == "int16"
    assert out.attrs["_FillValue"] == "none"
assert zarr.open_group("fill.zarr", mode="r")["g"].attrs["_FillValue"] == -7
END

# Attributes of groups: those that all files have, where samples follow each other; those of the
# first, where files are beside each other. What is left out is told.
"$python" - <<'END'
import h5py
import numpy as np

for number, kind, more in ((1, "a", {}), (2, "b", {"later": 1})):
    with h5py.File(f"g{number}.h5", "w") as made:
        made.create_dataset("g/x", data=np.arange(3))
        made.create_dataset(f"g/y{number}", data=np.arange(3))
        made["g"].attrs.update(kind=kind, same="s", **more)
        made.attrs.update(title=kind, same="s")
END
"$convert" 'g[12].h5' --fields g/x --keep-groups --to hdf5 --output g12.out.h5 >printed 2>told
for words in "'kind' of 'g' is not carried over: g2.h5 has not the same" \
  "'later' of 'g' is not carried over: g2.h5 has not the same" \
  "'title' of the whole is not carried over: g2.h5 has not the same"; do
  grep -q "attribute $words" told || { echo "FAILED: no $words: $(cat told)" >&2; exit 1; }
done
"$python" -c 'import h5py
with h5py.File("g12.out.h5") as out:
    assert dict(out.attrs) == {"same": "s"} == dict(out["g"].attrs), dict(out["g"].attrs)
    assert out["g/x"][:].tolist() == [0, 1, 2] * 2'
"$convert" first=g1.h5 second=g2.h5 --fields g/x --keep-groups --to hdf5 --output beside.h5 \
  >printed 2>told
grep -q "attribute 'title' of the whole is not carried over: those of g1.h5 are" told ||
  { echo "FAILED: $(cat told)" >&2; exit 1; }
"$python" -c 'import h5py
with h5py.File("beside.h5") as out:
    assert dict(out.attrs) == {"title": "a", "same": "s"}, dict(out.attrs)
    assert sorted(out) == ["first", "second"]'
