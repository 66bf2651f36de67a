"""Zarr stores: feedline reads what zarr-python and numcodecs write, bytes equal, over random
grids, codecs and orders. Skipped where zarr-python 3 is not installed, which needs Python 3.11."""

import json
import random

import numpy as np
import pytest

import feedline

zarr = pytest.importorskip("zarr", "3.0", reason="needs zarr-python 3 (pip install zarr)")
numcodecs = pytest.importorskip("numcodecs")

TYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def read_all(dataset, name):
    """All rows, read in a random order, put back in order."""
    order = np.random.default_rng(1).permutation(len(dataset))
    rows = dataset.read(order)[name]
    ordered = np.empty_like(rows)
    ordered[order] = rows
    return ordered


def expected(array):
    """The array as feedline delivers it: complex numbers as pairs, little-endian."""
    values = array[...]
    values = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    if values.dtype.kind == "c":
        values = values.view("f4" if values.dtype.itemsize == 8 else "f8")
        values = values.reshape(*array.shape, 2)
    return values


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def draw_values(draw, shape, kind):
    random_values = np.random.default_rng(draw.randrange(1 << 30))
    values = random_values.integers(0, 2 if kind == "bool" else 50, shape)
    return (values + 1j * values[::-1] if kind[0] == "c" else values).astype(kind)


def write_v2(path, draw, shape, chunks, kind, big):
    dtype = np.dtype(kind).newbyteorder(">" if big else "<")
    bloscs = [
        numcodecs.Blosc(cname=name, clevel=draw.randint(0, 9), shuffle=shuffle, blocksize=size)
        for name in ("lz4", "lz4hc", "zstd", "zlib", "blosclz")
        for shuffle in (0, 1, 2)
        for size in (0, 256)
    ]
    plain = [None, numcodecs.Zstd(level=0), numcodecs.Zstd(3, checksum=True), numcodecs.LZ4()]
    plain += [numcodecs.Zlib(1), numcodecs.GZip(1), numcodecs.BZ2(1)]
    filters = []
    if draw.random() < 0.3:
        filters.append(numcodecs.Shuffle(dtype.itemsize))
    if kind[0] in "iu" and not big and draw.random() < 0.3:
        filters.insert(0, numcodecs.Delta(dtype=dtype.str))
    if kind in ("f4", "f8") and not big and draw.random() < 0.5:
        filters.insert(
            0, numcodecs.FixedScaleOffset(offset=3.5, scale=10, dtype=dtype.str, astype="<i4")
        )
    return zarr.create_array(
        path,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        fill_value=1,
        order=draw.choice("CF"),
        zarr_format=2,
        filters=filters or None,
        compressors=draw.choice(plain + draw.sample(bloscs, 4)),
        chunk_key_encoding={"name": "v2", "separator": draw.choice("./")},
    )


def write_v3(path, draw, shape, chunks, kind, big):
    from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec
    from zarr.codecs import TransposeCodec, ZstdCodec

    size = np.dtype(kind).itemsize
    compressors = draw.choice(
        [
            "auto",
            None,
            [ZstdCodec(level=5, checksum=True), Crc32cCodec()],
            [GzipCodec(level=1)],
            [Crc32cCodec()],
        ]
        + [
            [BloscCodec(cname=name, shuffle=shuffle, typesize=size)]
            for name in ("lz4", "zstd", "zlib")
            for shuffle in ("noshuffle", "shuffle", "bitshuffle")
        ]
    )
    keywords = {"compressors": compressors}
    if len(shape) > 1 and draw.random() < 0.3:
        order = list(range(len(shape)))
        draw.shuffle(order)
        keywords["filters"] = [TransposeCodec(order=tuple(order))]
    if draw.random() < 0.5:
        shard = tuple(chunk * draw.randint(1, 3) for chunk in chunks)
        keywords["shards"] = {"shape": shard, "index_location": draw.choice(["start", "end"])}
    return zarr.create_array(
        path,
        shape=shape,
        chunks=chunks,
        dtype=kind,
        fill_value=1,
        zarr_format=3,
        serializer=BytesCodec(endian="big" if big else "little"),
        chunk_key_encoding={
            "name": draw.choice(["default", "v2"]),
            "separator": draw.choice("./"),
        },
        **keywords,
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("write", [write_v2, write_v3])
@pytest.mark.parametrize("seed", range(4))
def test_random_arrays_are_read_as_zarr_python_reads_them(tmp_path, write, seed):
    draw = random.Random(seed)
    for turn in range(25):
        rank = draw.choice([1, 1, 2, 2, 3, 4])
        shape = tuple(draw.randint(1, {1: 50, 2: 20, 3: 10, 4: 7}[rank]) for _ in range(rank))
        chunks = tuple(draw.choice([draw.randint(1, side + 2), side]) for side in shape)
        kind = draw.choice(TYPES)
        path = str(tmp_path / f"{turn}.zarr")
        store = zarr.storage.ZipStore(path, mode="w") if turn % 5 == 4 else path
        array = write(store, draw, shape, chunks, kind, draw.random() < 0.2)
        part = tuple(slice(draw.choice([0, side // 2]), None) for side in shape)
        array[part] = draw_values(draw, shape, kind)[part]
        if store is not path:
            store.close()
            array = zarr.open_array(zarr.storage.ZipStore(path, mode="r"))
        opened = feedline.open_zarr(
            path,
            [("", "x")],
            max_resident_bytes=draw.choice([0, 1 << 20]),
            max_host_cache_bytes=draw.choice([0, 2000]),
        )
        assert same(read_all(opened, "x"), expected(array)), (shape, chunks, array.metadata)


def test_arrays_as_zarr_python_writes_them_by_default_may_be_decoded_on_devices(tmp_path):
    values = np.arange(40 * 30, dtype="f4").reshape(40, 30)
    for version, shards in ((2, None), (3, None), (3, (16, 30))):
        path = str(tmp_path / f"{version}.{shards is None}.zarr")
        array = zarr.create_array(
            path, shape=values.shape, chunks=(8, 30), shards=shards, dtype="f4", zarr_format=version
        )
        array[...] = values
        opened = feedline.open_zarr(path, [("", "x")], max_resident_bytes=0)
        assert same(read_all(opened, "x"), values)
        loader = feedline.Loader(opened, feedline.shuffle(seed=1, within=2))
        assert loader.plan().decode_note == ""


def test_a_group_becomes_a_dataset_and_the_rest_is_told(tmp_path, caplog):
    path = tmp_path / "era5.zarr"
    root = zarr.open_group(str(path), mode="w")
    t2m = np.arange(24, dtype="f4").reshape(6, 4)
    for name, data in [("t2m", t2m), ("lat", np.arange(4.0)), ("time", np.arange(6))]:
        dims = {"t2m": ("time", "lat"), "lat": ("lat",), "time": ("time",)}[name]
        root.create_array(name, data=data, dimension_names=dims)
    zarr.consolidate_metadata(str(path))
    with caplog.at_level("WARNING", logger="feedline"):
        opened = feedline.open(path)
    assert [field.name for field in opened.fields] == ["t2m", "time"]
    assert "left out: lat (4 samples along 'lat')" in caplog.text
    assert same(read_all(opened, "t2m"), t2m)
    assert feedline.open(path, fields=["lat"]).fields[0].name == "lat"
    assert [field.name for field in feedline.list_fields(path)] == ["lat", "t2m", "time"]


def test_an_epoch_is_resumed_in_shards_and_windows_of_chunks(tmp_path):
    path = str(tmp_path / "x.zarr")
    array = zarr.create_array(path, shape=(96, 3), chunks=(8, 3), shards=(32, 3), dtype="i4")
    array[...] = np.arange(96 * 3).reshape(96, 3)

    def make(rank):
        return feedline.Loader(
            feedline.open_zarr(path, [("", "x")], max_resident_bytes=0),
            feedline.shuffle(seed=5, within=3),
            batch_size=4,
            shard=feedline.Shard(rank=rank, world=2),
        )

    seen = []
    for rank in (0, 1):
        whole = [batch["x"].numpy().tolist() for batch in make(rank)]
        first = make(rank)
        epoch = first.epoch(0)
        for _ in range(3):
            next(epoch)
        rest = make(rank)
        rest.seek(first.state())
        assert [batch["x"].numpy().tolist() for batch in rest] == whole[3:]
        seen += [row[0] // 3 for batch in whole for row in batch]
    assert sorted(seen) == list(range(96))


def test_samples_of_a_damaged_chunk_are_skipped_if_that_is_wanted(tmp_path):
    path = tmp_path / "x.zarr"
    zarr.create_array(str(path), shape=(8,), chunks=(2,), dtype="i4")[...] = np.arange(8)
    (path / "c" / "1").write_bytes(b"no frame")
    opened = feedline.open_zarr(path, [("", "x")], max_resident_bytes=0)
    policy = feedline.ErrorPolicy(action="skip", max_share=1.0)
    loader = feedline.Loader(opened, batch_size=2, errors=policy)
    read = [value for batch in loader for value in batch["x"].numpy().tolist()]
    assert sorted(set(read)) == [0, 1, 4, 5, 6, 7]


def test_errors_name_the_array_and_the_chunk(tmp_path):
    path = tmp_path / "x.zarr"
    array = zarr.create_array(str(path), shape=(8,), chunks=(2,), dtype="i4")
    array[...] = np.arange(8)
    (path / "c" / "1").write_bytes(b"no frame")
    opened = feedline.open_zarr(path, [("", "x")], max_resident_bytes=0)
    with pytest.raises(feedline.DatasetError, match=r"c/1.*chunk \(1\) of 8 bytes: does not"):
        read_all(opened, "x")
    document = json.loads((path / "zarr.json").read_text())
    document["codecs"].append({"name": "made_up"})
    (path / "zarr.json").write_text(json.dumps(document))
    with pytest.raises(feedline.DatasetError, match="'made_up' is not one that feedline decodes"):
        feedline.open_zarr(path, [""])


@pytest.mark.parametrize("version", [2, 3])
def test_packed_arrays_are_what_xarray_makes_of_them(tmp_path, version):
    """CF packing: exactly xarray's values and types."""
    xarray = pytest.importorskip("xarray")
    random = np.random.default_rng(version)
    packings = [
        {},
        {"scale_factor": 0.1},
        {"add_offset": 273.15},
        {"scale_factor": 0.01, "add_offset": 5.5},
        {"scale_factor": 0.5, "missing_value": 3},
        {"missing_value": [4]},
    ]
    for kind in ["i1", "u1", "i2", "i4", "f4", "f8"]:
        for number, packing in enumerate(packings):
            values = (random.random((30, 4)) * 40).astype(kind)
            path = tmp_path / f"{kind}{number}.zarr"
            group = zarr.create_group(path, zarr_format=version)
            fill = [None, 0, 7][number % 3] if version == 2 else 0
            names = {"dimension_names": ["time", "x"]} if version == 3 else {}
            made = group.create_array(
                "v", shape=values.shape, dtype=kind, chunks=(7, 4), fill_value=fill, **names
            )
            attributes = dict(packing)
            if version == 2:
                attributes["_ARRAY_DIMENSIONS"] = ["time", "x"]
            elif number % 2:
                coder = xarray.backends.zarr.FillValueCoder
                attributes["_FillValue"] = coder.encode(np.dtype(kind).type(7), np.dtype(kind))
            made.attrs.update(attributes)
            made[...] = values
            with xarray.open_zarr(path, consolidated=False, chunks=None) as opened:
                wanted = opened["v"].to_numpy()
            array = feedline.open_zarr_array(path, "v")
            assert array.dimensions == ["time", "x"]
            found = feedline.unpack(array).numpy()
            if wanted.dtype.kind == "f":
                assert found.dtype == wanted.dtype, (kind, packing)
            same = np.array_equal(found, wanted.astype(found.dtype), equal_nan=True)
            assert same, (kind, packing)


def test_arrays_of_a_call_share_the_cache_and_are_windows(tmp_path):
    store = zarr.create_group(tmp_path / "s.zarr")
    values = np.arange(60, dtype="i4").reshape(12, 5)
    for name in "ab":
        made = store.create_array(name, shape=values.shape, dtype="i4", chunks=(5, 2))
        made[...] = values
    a, b = feedline.open_zarr_arrays(tmp_path / "s.zarr", ["a", "b"])
    assert (a.numpy() == values).all()
    windows = feedline.make_windows(
        [feedline.Window(0, 3, 2)], [feedline.WindowField("x", [a, b])]
    )
    rows = windows.read(range(len(windows)))["x"]
    for number, row in enumerate(rows):
        wanted = values[2 * number : 2 * number + 3]
        assert (row[0] == wanted).all() and (row[1] == wanted).all()
    with pytest.raises(feedline.DatasetError, match="no array of this path"):
        feedline.open_zarr_array(tmp_path / "s.zarr", "c")
