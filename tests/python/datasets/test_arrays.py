"""Standardized arrays against NumPy, numbers that others wrote, and what list_fields tells."""

import json

import feedline
import numpy as np
import pytest


def test_standardized_windows_are_those_of_numpy():
    values = np.random.default_rng(1).normal(250, 30, (12, 3, 5, 4)).astype(np.float32)
    names = ["time", "level", "lat", "lon"]
    array = feedline.make_memory_array(values, "t", names)
    mean, stddev = values.mean((0, 2, 3)), values.std((0, 2, 3), dtype=np.float64)
    made = feedline.standardize(array, mean, stddev, axis="level")
    wanted = (values.astype(np.float64) - mean[:, None, None].astype(np.float64)) / stddev[
        :, None, None
    ]
    assert made.dtype == "float32"
    assert (made.numpy() == wanted.astype(np.float32)).all()
    double = feedline.standardize(array, mean, stddev, axis=1, dtype="float64")
    assert (double.numpy() == wanted).all()
    # Windows, in an order that resumes, by several readers.
    samples = feedline.make_windows(
        [feedline.Window("time", 2), feedline.Window("lat", 3, position="random")],
        [feedline.WindowField("t", [made], channels=["level"])],
    )
    order = feedline.shuffle(seed=3)
    options = {"batch_size": 3, "epochs": 1, "device": "cpu", "readers": 2}
    whole = [batch["t"].numpy().copy() for batch in feedline.Loader(samples, order, **options)]
    loader = feedline.Loader(samples, order, **options)
    for _, batch in zip(range(2), loader.epoch(0)):
        state = loader.state_dict()
    again = feedline.Loader(samples, order, **options)
    again.load_state_dict(state)
    rest = [batch["t"].numpy().copy() for batch in again]
    assert len(rest) == len(whole) - 2
    assert all((a == b).all() for a, b in zip(rest, whole[2:]))


def test_nan_follows_the_rule():
    values = np.array([1.0, np.nan, 3.0])
    array = feedline.make_memory_array(values, "x", ["time"])
    assert np.isnan(feedline.standardize(array, 1.0, 2.0).numpy()[1])
    assert feedline.standardize(array, 1.0, nan="replace").numpy().tolist() == [0, 0, 2]
    made = feedline.standardize(array, 1.0, nan="replace", replacement=-9)
    assert made.numpy().tolist() == [0, -9, 2]
    refusing = feedline.standardize(array, 1.0, nan="refuse")
    samples = feedline.make_windows(
        [feedline.Window("time")], [feedline.WindowField("x", [refusing])]
    )
    policy = feedline.ErrorPolicy(action="skip", max_share=1.0)
    loader = feedline.Loader(samples, batch_size=1, epochs=1, device="cpu", errors=policy)
    assert [float(batch["x"].numpy()[0, 0]) for batch in loader] == [0, 2]
    with pytest.raises(feedline.DatasetError, match="holds NaN"):
        samples.read([1])
    with pytest.raises(feedline.UsageError, match="mean has 2 numbers; set the axis"):
        feedline.standardize(array, [1, 2])
    with pytest.raises(feedline.UsageError, match="stddev has no numbers"):
        feedline.standardize(array, 1.0, [])


def test_numbers_are_read_from_files_of_all_kinds(tmp_path, archives):
    mean = np.array([1.5, -2, 1e10])
    np.save(tmp_path / "mean.npy", mean.astype(np.float32).reshape(1, 3, 1, 1))
    assert feedline.read_numbers(tmp_path / "mean.npy") == mean.astype(np.float32).tolist()
    np.savez(tmp_path / "both.npz", mean=mean, std=280.25)
    assert feedline.read_numbers(tmp_path / "both.npz", "mean") == mean.tolist()
    assert feedline.read_numbers(tmp_path / "both.npz", "std") == [280.25]
    (tmp_path / "stats.json").write_text(json.dumps({"t": {"mean": mean.tolist(), "std": 2}}))
    assert feedline.read_numbers(tmp_path / "stats.json", "t/mean") == mean.tolist()
    assert feedline.read_numbers(tmp_path / "stats.json", "t/std") == [2]
    with pytest.raises(feedline.DatasetError, match="there is no key 'min'"):
        feedline.read_numbers(tmp_path / "stats.json", "t/min")


def test_numbers_are_read_from_netcdf(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "stats.nc", "w") as made:
        made["mean"], made["single"] = [1.0, 2.0], np.float32(3)
        made["packed"] = np.array([10, 20], np.int16)
        made["packed"].attrs["scale_factor"] = 0.5
    assert feedline.read_numbers(tmp_path / "stats.nc", "mean") == [1, 2]
    assert feedline.read_numbers(tmp_path / "stats.nc", "single") == [3]
    assert feedline.read_numbers(tmp_path / "stats.nc", "packed") == [5, 10]


def test_numbers_are_read_from_zarr(tmp_path):
    zarr = pytest.importorskip("zarr")
    for version in (2, 3):
        group = zarr.open_group(tmp_path / f"{version}.zarr", mode="w", zarr_format=version)
        group.create_array("mean", data=np.arange(3.0))
        assert feedline.read_numbers(tmp_path / f"{version}.zarr", "mean") == [0, 1, 2]


def test_dates_of_numpy_are_counts(tmp_path, archives):
    dates = np.array(["2020-01-01", "2021-07-01"], "datetime64[h]")
    np.savez(tmp_path / "a.npz", dates=dates, spans=dates - dates[0])
    found = feedline.open(tmp_path / "a.npz").read(range(2))
    assert (found["dates"] == dates.view(np.int64)).all()
    assert (found["spans"] == (dates - dates[0]).view(np.int64)).all()
    np.save(tmp_path / "dates.npy", dates)
    assert (feedline.open(tmp_path / "dates.npy").read([1])["dates"] == dates.view("i8")[1]).all()


def test_open_makes_dense_rows_of_a_matrix_of_scipy(tmp_path, archives):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(20, 7, 0.3, "csr", dtype=np.float32, random_state=1)
    for compressed in (False, True):
        sparse.save_npz(tmp_path / "cells.npz", matrix, compressed=compressed)
        found = feedline.open(tmp_path / "cells.npz")
        assert (found.read(range(20))["cells"] == matrix.toarray()).all()
        listed = feedline.list_fields(tmp_path / "cells.npz")
        assert (listed[0].name, listed[0].samples) == ("cells", 20)
        assert all("sparse matrix" in each.left_out for each in listed[1:])
    sparse.save_npz(tmp_path / "other.npz", matrix.tocoo())
    with pytest.raises(feedline.DatasetError, match="save matrix.tocsr"):
        feedline.open(tmp_path / "other.npz")


def test_a_listing_tells_how_arrays_are_stored(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as made:
        made.create_dataset("x", data=np.zeros((20, 6)), chunks=(5, 6), compression="gzip")
        made.create_dataset("cut", data=np.zeros((20, 6)), chunks=(5, 3), compression="gzip")
        made.create_dataset("raw", data=np.zeros((20, 6)))
        made["raw"].dims[0].label, made["raw"].dims[1].label = "time", "x"
        made.create_dataset("packed", data=np.zeros(20, np.int16))
        made["packed"].attrs["add_offset"] = 3.0
    found = {each.name: each for each in feedline.list_fields(tmp_path / "a.h5")}
    assert found["/x"].decoding == "readers or devices"
    assert found["/x"].access == "chunks of 5 samples, deflate"
    assert found["/cut"].decoding == "readers alone: chunks split rows"
    assert found["/raw"].decoding == "" and found["/raw"].dimensions == ["time", "x"]
    assert found["/packed"].is_packed and not found["/raw"].is_packed
