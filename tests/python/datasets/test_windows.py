"""Windows of arrays against NumPy's slices, and unpacked values against xarray's."""

import feedline
import numpy as np
import pytest


def numbered(*shape, dtype=np.int32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def window_of(values, axis, at, size, step, edges, pad):
    """numpy's slice, with numpy.pad where the window extends beyond the array."""
    index = at + step * np.arange(size)
    before = max(0, -index.min())
    after = max(0, index.max() - values.shape[axis] + 1)
    if before or after:
        widths = [(0, 0)] * values.ndim
        widths[axis] = (before, after)
        how = {"mode": "reflect"} if edges == "reflect" else {"constant_values": pad}
        values = np.pad(values, widths, **how)
    return np.take(values, index + before, axis)


def open_as(kind, values, folder):
    if kind == "memory":
        return feedline.make_memory_array(values.astype(values.dtype.newbyteorder("=")), "x")
    if kind in ("npy", "fortran"):
        np.save(folder / "x.npy", np.asfortranarray(values) if kind == "fortran" else values)
        return feedline.open_npy_array(folder / "x.npy", "x")
    if kind in ("npz", "compressed"):
        (np.savez if kind == "npz" else np.savez_compressed)(folder / "x.npz", x=values)
        return feedline.open_npz_array(folder / "x.npz", "x")
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "x.h5", "w") as made:
        chunks = tuple(max(1, extent // 3) for extent in values.shape)
        options = {} if kind == "contiguous" else {"chunks": chunks, "compression": "gzip"}
        made.create_dataset("x", data=values, **options)
    return feedline.open_hdf5_array(folder / "x.h5", "x")


KINDS = ["memory", "npy", "fortran", "npz", "compressed", "contiguous", "chunked"]


@pytest.mark.parametrize("kind", KINDS)
def test_windows_are_numpy_slices(kind, tmp_path):
    random = np.random.default_rng(KINDS.index(kind))
    for _ in range(30):
        shape = random.integers(2, 12, random.integers(1, 4))
        values = numbered(*shape, dtype=random.choice([np.int16, np.float64, ">i4", np.uint8]))
        try:
            array = open_as(kind, values, tmp_path)
        except feedline.DatasetError as error:
            if "built without libzip" in str(error):
                pytest.skip(str(error))
            raise
        axis = int(random.integers(len(shape)))
        extent = int(shape[axis])
        edges = str(random.choice(["drop", "pad", "reflect"]))
        step = int(random.integers(1, 3))
        size = int(random.integers(1, (extent - 1) // step + 2))
        stride = int(random.integers(1, 4))
        dataset = feedline.make_windows(
            [feedline.Window(axis - len(shape), size, stride, step, edges=edges)],
            [feedline.WindowField("x", [array], pad=7)],
        )
        last = extent - (size - 1) * step if edges == "drop" else extent
        positions = range(0, last, stride)
        assert len(dataset) == len(positions)
        read = dataset.read(range(len(dataset)))["x"]
        for i, at in enumerate(positions):
            wanted = window_of(values, axis, at, size, step, edges, 7)
            assert (read[i] == wanted).all(), (shape, axis, at, size, step, edges)


def test_inputs_and_targets_are_windows_at_offsets():
    t = feedline.make_memory_array(numbered(20, 3), "t", ["time", "x"])
    dataset = feedline.make_windows(
        [feedline.Window("time", excluded=[(10, 11)])],
        [
            feedline.WindowField("input", [t], windows=[feedline.FieldWindow("time", -6, 2, 6)]),
            feedline.WindowField("target", [t], windows=[feedline.FieldWindow("time", 1)]),
        ],
    )
    values = numbered(20, 3)
    positions = [at for at in range(6, 19) if not (at - 6 <= 10 <= at + 1)]
    assert len(dataset) == len(positions)
    for i, at in enumerate(positions):
        assert (dataset[i]["input"] == values[[at - 6, at]]).all()
        assert (dataset[i]["target"] == values[[at + 1]]).all()


def batches(readers, seek=None, take=None, **options):
    values = feedline.make_memory_array(numbered(6, 30, 30), "v", ["scan", "y", "x"])
    dataset = feedline.make_windows(
        [feedline.Window("scan"), *(feedline.Window(a, 4, position="random") for a in "yx")],
        [feedline.WindowField("v", [values])],
        draws=5,
    )
    assert dataset.varies_by_epoch
    loader = feedline.Loader(
        dataset, feedline.shuffle(seed=1), batch_size=3, seed=2, readers=readers, device="cpu",
        **options,
    )
    if seek is not None:
        loader.seek(seek)
    found = []
    for batch in loader.epoch(0):
        found.append(np.array(batch["v"].numpy()))
        if len(found) == take:
            break
    return found, loader.state()


def test_random_windows_are_the_same_for_any_readers_and_after_resuming():
    whole, _ = batches(4)
    assert len(whole) == 10
    assert all((a == b).all() for a, b in zip(whole, batches(0)[0]))
    begun, state = batches(1, take=4)
    rest, _ = batches(8, seek=state)
    assert len(begun) + len(rest) == 10
    assert all((a == b).all() for a, b in zip(whole, begun + rest))
    corners = {tuple(np.unravel_index(v[0, 0, 0], (6, 30, 30))) for b in whole for v in b}
    assert len(corners) > 25  # of 30: positions differ


def test_samples_of_a_region_have_their_positions_in_it():
    array = feedline.make_memory_array(numbered(40, 24), "x")
    window = feedline.Window(0, 4, position="random", region=10)
    assert window.region == 10
    across = feedline.Window(1, 4, position="random")
    field = feedline.WindowField("x", [array])
    samples = feedline.make_windows([window, across], [field], draws=4 * 8)  # 37 positions
    rows = samples.read(range(32))["x"][:, 0, 0] // 24
    for region, begin in enumerate(range(0, 32, 8)):
        assert rows[begin : begin + 8].min() >= region * 37 // 4
        assert rows[begin : begin + 8].max() <= ((region + 1) * 37 - 1) // 4
    with pytest.raises(feedline.UsageError, match="there are 4 regions, 4 along axis 0, and draws"):
        feedline.make_windows([window, across], [field], draws=30)


def test_windows_refuse_what_cannot_be():
    t = feedline.make_memory_array(numbered(4), "t", ["time"])
    field = feedline.WindowField("t", [t])
    for window, words in {
        feedline.Window("time", 5): "span 5 elements along axis 'time' of array t",
        feedline.Window("time", 1, 0): "the stride along axis 'time'",
        feedline.Window("time", 1, 1, 0): "the step of field 't'",
        feedline.Window("y"): "no array has axis 'y'",
        feedline.Window(3): "has no axis 3",
    }.items():
        with pytest.raises(feedline.UsageError, match=words):
            feedline.make_windows([window], [field])


@pytest.mark.parametrize("stored", ["i1", "u1", "i2", "i4", "i8", "f4", "f8"])
def test_unpacked_values_are_those_of_xarray(stored, tmp_path):
    xarray = pytest.importorskip("xarray")
    netcdf = pytest.importorskip("netCDF4")
    random = np.random.default_rng(3)
    packings = [
        {},
        {"scale_factor": np.float32(0.01), "add_offset": np.float32(273.15)},
        {"scale_factor": np.float64(0.01), "add_offset": np.float64(273.15)},
        {"scale_factor": np.float32(0.1), "add_offset": np.float64(5.1)},
        {"scale_factor": np.float32(0.017)},
        {"scale_factor": np.float64(0.017)},
        {"add_offset": np.float32(0.3)},
    ]
    for number, packing in enumerate(packings):
        for missing in [False, True]:
            path = tmp_path / f"{number}{missing}.nc"
            values = (random.random((40, 5)) * 120).astype(stored)
            with netcdf.Dataset(path, "w") as made:
                made.set_auto_maskandscale(False)
                made.createDimension("time", 40)
                made.createDimension("x", 5)
                fill = values[3, 3] if missing else False
                v = made.createVariable("v", stored, ("time", "x"), fill_value=fill, zlib=True)
                v.setncatts(packing)
                if missing:
                    v.missing_value = values[7, 1]
                v.set_auto_maskandscale(False)
                v[:] = values
            array = feedline.open_hdf5_array(path, "v")
            assert array.dimensions == ["time", "x"]
            with xarray.open_dataset(path, engine="netcdf4") as opened:
                wanted = opened["v"].to_numpy()
            found = feedline.unpack(array).numpy()
            if wanted.dtype.kind == "f":
                assert found.dtype == wanted.dtype, (packing, missing)
            assert np.array_equal(found, wanted.astype(found.dtype), equal_nan=True), packing


def test_files_packed_differently_are_one_array_once_unpacked(tmp_path):
    h5py = pytest.importorskip("h5py")
    parts = []
    for number, (factor, offset) in enumerate([(0.1, 0.0), (0.1, 180.0)]):
        with h5py.File(tmp_path / f"{number}.nc", "w") as made:
            kelvin = 280.0 + np.arange(4) + 4 * number
            made["t"] = np.round((kelvin - offset) / factor).astype(np.int16)
            made["t"].attrs.update(scale_factor=factor, add_offset=offset)
        parts.append(feedline.open_hdf5_array(tmp_path / f"{number}.nc", "t"))
    with pytest.raises(feedline.UsageError, match="packed differently"):
        feedline.concatenate_arrays(parts, 0)
    whole = feedline.concatenate_arrays([feedline.unpack(part) for part in parts], 0)
    assert np.allclose(whole.numpy(), 280 + np.arange(8))


def test_rows_of_sparse_matrices_are_those_of_scipy(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(4)
    for dtype in (np.float32, np.float64, np.int32):
        matrix = sparse.random(60, 33, 0.2, "csr", dtype=np.float64, random_state=random)
        matrix = (matrix * 100).astype(dtype)
        sparse.save_npz(tmp_path / "m.npz", matrix)
        try:
            dataset = feedline.open_npz_csr(tmp_path / "m.npz", "X")
        except feedline.DatasetError as error:
            if "built without libzip" in str(error):
                pytest.skip(str(error))
            raise
        samples = random.integers(0, 60, 200)
        assert (dataset.read(samples)["X"] == matrix.toarray()[samples]).all()
    sparse.save_npz(tmp_path / "c.npz", matrix.tocsc())
    with pytest.raises(feedline.DatasetError, match="format 'csc'.*tocsr"):
        feedline.open_npz_csr(tmp_path / "c.npz", "X")


def test_an_array_that_was_given_stays_alive():
    import gc

    array = feedline.make_memory_array(numbered(100), "x")
    dataset = feedline.make_windows([feedline.Window(0, 3)], [feedline.WindowField("x", [array])])
    del array
    gc.collect()
    assert (dataset[97]["x"] == [97, 98, 99]).all()
