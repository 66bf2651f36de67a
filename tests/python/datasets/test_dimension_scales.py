"""Names of dimensions of HDF5 and NetCDF-4, as their own libraries give them."""

import feedline
import numpy as np
import pytest

h5py = pytest.importorskip("h5py")


def listed(path):
    return {each.name: each for each in feedline.list_fields(path)}


def test_names_are_those_of_netcdf(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w") as made:
        for name, extent in {"time": None, "x": 4, "station": 3, "strlen": 8}.items():
            made.createDimension(name, extent)
        made.createVariable("time", "f8", ("time",))[:] = np.arange(7)
        made.createVariable("t", "i2", ("time", "x"))[:] = np.ones((7, 4))
        made.createVariable("station", "S1", ("station", "strlen"))[:] = b"a"
        made.createVariable("square", "f4", ("x", "x"))[:] = 1
        inner = made.createGroup("inner")
        inner.createDimension("y", 2)
        inner.createVariable("v", "f4", ("time", "y", "station"))[:] = np.ones((7, 2, 3))
        inner.createVariable("y", "i2", ("y", "strlen"))[:] = np.ones((2, 8))
    fields = listed(path)
    with netcdf.Dataset(path) as made:
        for name in ["/time", "/t", "/station", "/square", "/inner/v", "/inner/y"]:
            wanted = list(made[name].dimensions)
            wanted = ["" if wanted.count(each) > 1 else each for each in wanted]
            assert fields[name].dimensions == (wanted if any(wanted) else []), name
            if name != "/station":
                assert feedline.open_hdf5_array(path, name).dimensions == fields[name].dimensions
    for name in ["/x", "/strlen"]:
        assert fields[name].left_out == "a NetCDF dimension without values"
        with pytest.raises(feedline.Hdf5Error, match="stands for a dimension of NetCDF"):
            feedline.open_hdf5_array(path, name)
    assert set(feedline.open(path, like="t").read([0])) == {"time", "t", "v"}


def test_a_window_lies_along_a_scale_of_h5py(tmp_path):
    path = tmp_path / "a.h5"
    values = np.arange(60).reshape(3, 4, 5)
    with h5py.File(path, "w") as made:
        made["v"] = values
        for axis, name in enumerate(["t", "lat", "lon"]):
            made[name] = np.arange(values.shape[axis]) * 10.0
            made[name].make_scale("title of " + name)
            made["v"].dims[axis].attach_scale(made[name])
    v, lat = feedline.open_hdf5_arrays(path, ["v", "lat"])
    samples = feedline.make_windows(
        [feedline.Window("t", keep_axis=False), feedline.Window("lat", 2)],
        [feedline.WindowField("v", [v]), feedline.WindowField("lat", [lat])],
    )
    read = samples.read(range(len(samples)))
    for sample in range(len(samples)):
        t, at = divmod(sample, 3)
        assert (read["v"][sample] == values[t, at : at + 2]).all()
        assert (read["lat"][sample] == [at * 10, at * 10 + 10]).all()


def test_arrays_of_two_years_are_not_one_sample(tmp_path):
    arrays = []
    for year in (1979, 1980):
        with h5py.File(tmp_path / f"{year}.nc", "w") as made:
            made["t"], made["time"] = np.zeros(4), np.arange(4.0)
            made["time"].attrs["units"] = f"hours since {year}-01-01"
            made["time"].make_scale()
            made["t"].dims[0].attach_scale(made["time"])
        arrays.append(feedline.open_hdf5_array(tmp_path / f"{year}.nc", "t"))
    fields = [feedline.WindowField(f"t{i}", [array]) for i, array in enumerate(arrays)]
    with pytest.raises(feedline.UsageError, match="at 0 hours since 1979-01-01 in .*1979.nc"):
        feedline.make_windows([feedline.Window("time")], fields)
    fields[1] = feedline.WindowField("t1", [feedline.rename_array(arrays[1], dimensions=["time"])])
    assert len(feedline.make_windows([feedline.Window("time")], fields)) == 4
