"""Datasets give the content of their files and arrays."""

import struct
import tarfile

import numpy as np
import pytest

import feedline


def images(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 3, 5), dtype=np.uint8)


def expect(dataset, **fields):
    """All samples at once, in another order, and one by one."""
    order = np.random.default_rng(1).permutation(len(dataset))
    read = dataset.read(order)
    assert list(read) == list(fields)
    for name, values in fields.items():
        assert read[name].dtype == values.dtype
        assert (read[name] == values[order]).all()
        assert (dataset[3][name] == values[3]).all()
        assert (dataset[-1][name] == values[-1]).all()


@pytest.mark.parametrize(
    "name",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    + ["float16", "float32", "float64"],
)
def test_arrays_of_every_type_are_read(name):
    values = np.arange(60).reshape(10, 6).astype(name)
    dataset = feedline.make_memory_dataset({"x": values})
    assert [(f.name, f.dtype, f.shape) for f in dataset.fields] == [("x", name, (6,))]
    expect(dataset, x=values)


def test_dense_arrays_are_held_without_a_copy():
    values = np.zeros((10, 4), dtype=np.float32)
    dataset = feedline.make_memory_dataset({"x": values})
    values[7] = 7  # memory that is not copied shows it
    assert dataset[7]["x"].tolist() == [7] * 4


def test_a_dataset_keeps_its_arrays():
    dataset = feedline.make_memory_dataset({"x": np.arange(100_000)})
    np.ones(100_000, dtype=np.int64)  # would take memory that was given back
    assert dataset.read(range(100_000))["x"].tolist() == list(range(100_000))


def test_arrays_that_are_not_dense_or_not_writable_are_read():
    values = np.arange(60, dtype=np.int32).reshape(6, 10).T
    expect(feedline.make_memory_dataset({"x": values}), x=values)
    fixed = np.arange(10)
    fixed.flags.writeable = False
    expect(feedline.make_memory_dataset({"x": fixed}), x=fixed)


def test_arrays_that_are_no_fields_are_refused():
    with pytest.raises(feedline.UsageError, match="single number"):
        feedline.make_memory_dataset({"x": 3})
    with pytest.raises(feedline.UsageError, match="element type 'complex128'"):
        feedline.make_memory_dataset({"x": np.zeros(3, complex)})
    with pytest.raises(feedline.UsageError, match="other byte order"):
        feedline.make_memory_dataset({"x": np.zeros(3, ">i4")})
    with pytest.raises(feedline.DatasetError, match="3.*4|4.*3"):
        feedline.make_memory_dataset({"x": np.zeros(3), "y": np.zeros(4)})


def test_files_of_numpy_are_read(tmp_path):
    values = images(20)
    np.save(tmp_path / "x.npy", values)
    expect(feedline.open_npy(tmp_path / "x.npy", "x"), x=values)
    expect(feedline.open(tmp_path / "x.npy", fields=["image"]), image=values)
    expect(feedline.open(tmp_path / "x.npy", format="npy"), x=values)
    with pytest.raises(feedline.UsageError, match="'numpy', which is not a format; known are"):
        feedline.open(tmp_path / "x.npy", format="numpy")


def test_archives_of_numpy_are_read(tmp_path):
    values, labels = images(20), np.arange(20)
    np.savez(tmp_path / "all.npz", image=values, label=labels)
    try:
        opened = feedline.open_npz(tmp_path / "all.npz", ["label", "image"])
    except feedline.DatasetError as error:
        if "this feedline was built without" in str(error):
            pytest.skip(str(error))
        raise
    expect(opened, label=labels, image=values)
    found = feedline.list_fields(tmp_path / "all.npz")
    assert sorted((each.name, each.samples) for each in found) == [("image", 20), ("label", 20)]


def test_several_files_and_patterns_are_one_sequence(tmp_path):
    for part in range(3):
        np.save(tmp_path / f"part-{part}.npy", np.arange(part * 10, part * 10 + 10))
    whole = np.arange(30)
    expect(feedline.open(str(tmp_path / "part-{0..2}.npy"), fields=["x"]), x=whole)
    parts = [tmp_path / f"part-{part}.npy" for part in range(3)]
    expect(feedline.open(parts, fields=["x"]), x=whole)


def test_idx_files_are_read(tmp_path):
    values, labels = images(20), np.arange(20, dtype=np.uint8)
    (tmp_path / "i").write_bytes(struct.pack(">IIII", 0x803, 20, 3, 5) + values.tobytes())
    (tmp_path / "l").write_bytes(struct.pack(">II", 0x801, 20) + labels.tobytes())
    expect(feedline.open_idx(tmp_path / "i", tmp_path / "l"), image=values, label=labels)
    expect(feedline.open_idx_file(tmp_path / "i", "pixels"), pixels=values)


def test_cifar_and_records_are_read(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (10, 3, 32, 32), dtype=np.uint8)
    labels = np.arange(10, dtype=np.uint8)
    records = np.concatenate([labels[:, None], pixels.reshape(10, -1)], axis=1)
    (tmp_path / "batch.bin").write_bytes(records.tobytes())
    expect(feedline.open_cifar10(tmp_path / "batch.bin"), label=labels, image=pixels)
    fields = [feedline.Field("a", "uint8"), feedline.Field("b", np.uint8, [3, 32, 32])]
    expect(feedline.open_records(tmp_path / "batch.bin", fields), a=labels, b=pixels)


def test_token_shards_are_read(tmp_path):
    tokens = np.arange(101, dtype=np.uint16)
    tokens.tofile(tmp_path / "tokens.bin")
    windows = tokens[:100].reshape(10, 10)
    dataset = feedline.open_tokens(tmp_path / "tokens.bin", tokens_per_sample=10, dtype="uint16")
    expect(dataset, input=windows, target=windows + np.uint16(1))


def test_tar_shards_are_read(tmp_path):
    with tarfile.open(tmp_path / "shard.tar", "w") as shard:
        for i in range(5):
            for suffix, data in (("bin", bytes([i] * 4)), ("cls", str(i * 11).encode())):
                path = tmp_path / f"{i:03}.{suffix}"
                path.write_bytes(data)
                shard.add(path, path.name)
    fields = [
        ("x", ["bin"], feedline.decode_raw("uint8", [4])),
        ("y", ["cls"], feedline.decode_decimal("int64")),
    ]
    expected = np.repeat(np.arange(5, dtype=np.uint8), 4).reshape(5, 4)
    dataset = feedline.open_tar(tmp_path / "shard.tar", fields)
    expect(dataset, x=expected, y=np.arange(0, 55, 11))


def test_hdf5_files_are_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    values, labels = images(50), np.arange(50)
    with h5py.File(tmp_path / "train.h5", "w") as file:
        file.create_dataset("train/images", data=values, chunks=(7, 3, 5), compression="gzip")
        file.create_dataset("train/labels", data=labels)
    path = tmp_path / "train.h5"
    named = feedline.open_hdf5(path, ["train/images", ("train/labels", "label")])
    expect(named, images=values, label=labels)
    assert {each.name for each in feedline.open(path).fields} == {"images", "labels"}
    with pytest.raises(feedline.Hdf5Error, match="no_such") as refusal:
        feedline.open_hdf5(path, ["train/no_such"])
    assert refusal.value.path == str(path)


def test_other_files_that_an_hdf5_file_names_are_read_by_leave(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "near").mkdir()
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.arange(5)
    with h5py.File(tmp_path / "near" / "link.h5", "w") as file:
        file["x"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/x")
    path = tmp_path / "near" / "link.h5"
    for rule in ["refuse", "same_folder"]:
        with pytest.raises(feedline.Hdf5Error, match="other.h5"):
            feedline.open_hdf5(path, ["x"], external=rule)
    expect(feedline.open_hdf5(path, ["x"], external="allow"), x=np.arange(5))
    expect(feedline.open(path, external="allow"), x=np.arange(5))
    assert feedline.list_fields(path)[0].refusal
    assert not feedline.list_fields(path, external="allow")[0].refusal
    with pytest.raises(feedline.UsageError, match="'same_folder'"):
        feedline.open_hdf5(path, ["x"], external="all")


def test_packed_hdf5_values_are_refused_or_read_as_stored(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "packed.nc", "w") as file:
        file["x"] = np.arange(5)
        file["x"].attrs["scale_factor"] = 0.1
    with pytest.raises(feedline.Hdf5Error, match="scale_factor"):
        feedline.open_hdf5(tmp_path / "packed.nc", ["x"])
    stored = feedline.open_hdf5(tmp_path / "packed.nc", ["x"], conventions="ignore")
    expect(stored, x=np.arange(5))


def test_tokens_in_a_numpy_file_are_read_without_its_header(tmp_path):
    tokens = np.arange(101, dtype=np.int32)
    np.save(tmp_path / "tokens.npy", tokens)
    windows = tokens[:100].reshape(10, 10)
    for dataset in [
        feedline.open_tokens(tmp_path / "tokens.npy", tokens_per_sample=10),
        feedline.open(tmp_path / "tokens.npy", tokens_per_sample=10),
    ]:
        expect(dataset, input=windows, target=windows + np.int32(1))
    np.savez(tmp_path / "tokens.npz", tokens=tokens)
    with pytest.raises(feedline.DatasetError, match="no shard of tokens but a zip archive"):
        feedline.open_tokens(tmp_path / "tokens.npz", tokens_per_sample=10, dtype="uint16")


def test_what_open_leaves_out_of_a_shard_is_listed(tmp_path):
    with tarfile.open(tmp_path / "shard.tar", "w") as shard:
        for name, data in (("0.cls", b"1"), ("0.txt", b"one")):
            (tmp_path / name).write_bytes(data)
            shard.add(tmp_path / name, name)
    listed = feedline.list_fields(tmp_path / "shard.tar")
    assert [(each.name, bool(each.left_out)) for each in listed] == [
        ("label", False),
        (".txt", True),
    ]


def test_datasets_compose(numbered):
    assert feedline.subset(numbered, range(10, 20))[0]["label"] == 10
    assert len(feedline.subset(numbered, np.array([5, 5]))) == 2
    assert len(feedline.concatenate([numbered, numbered])) == 2000
    renamed = feedline.select(numbered, ["row", ("label", "y")])
    assert [each.name for each in renamed.fields] == ["row", "y"]
    other = feedline.make_memory_dataset({"weight": np.ones(1000)})
    assert [each.name for each in feedline.zip([numbered, other]).fields] == [
        "row",
        "label",
        "weight",
    ]
    parts = feedline.random_split(numbered, [0.9, 0.1], 42)
    assert [len(each) for each in parts] == [900, 100]
    both = [each.read(range(len(each)))["label"] for each in parts]
    assert sorted(np.concatenate(both)) == list(range(1000))
    assert [len(each) for each in feedline.random_split(numbered, [1, 999], 1)] == [1, 999]
    assert feedline.load_into_memory(renamed, threads=2)[9]["y"] == 9


def test_load_into_memory_leaves_out_what_cannot_be_read():
    def read(index):
        if index in (3, 70):
            raise feedline.DatasetError(f"no sample {index}")
        return {"x": index}

    damaged = feedline.sequence_dataset(read, size=100)
    with pytest.raises(feedline.DatasetError, match="no sample 3"):
        feedline.load_into_memory(damaged)
    reports = []
    policy = feedline.ErrorPolicy(action="skip")
    held = feedline.load_into_memory(damaged, errors=policy, failures=reports.append)
    assert held.read(range(98))["x"].tolist() == [i for i in range(100) if i not in (3, 70)]
    assert [each.sample for each in reports[0].first] == [3, 70]


def test_indices_that_are_none_are_refused(numbered):
    with pytest.raises(feedline.UsageError, match="no sample 1000"):
        numbered.read([0, 1000])
    with pytest.raises(IndexError):
        numbered[1000]
    with pytest.raises(TypeError):
        feedline.subset(numbered, [0.5])


def test_ragged_samples_are_padded_and_packed():
    values = feedline.make_memory_dataset({"token": np.arange(1, 7, dtype=np.int32)})
    offsets = feedline.make_memory_dataset({"offset": np.array([0, 1, 3, 6])})
    ragged = feedline.make_ragged_dataset(values, offsets)
    assert [ragged.length(i) for i in range(len(ragged))] == [1, 2, 3]
    padded = feedline.pad(ragged, length=3, value=-1)
    assert padded.read(range(3))["token"].tolist() == [[1, -1, -1], [2, 3, -1], [4, 5, 6]]
    assert padded.read(range(3))["token_length"].tolist() == [1, 2, 3]
    packed = feedline.pack(ragged, capacity=3)
    assert packed.read([0, 1])["token"].tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(feedline.UsageError, match="'error', 'truncate'"):
        feedline.pad(ragged, longer="cut")


def test_an_error_of_a_file_names_it(tmp_path):
    path = tmp_path / "no.npy"
    with pytest.raises(feedline.DatasetError) as refusal:
        feedline.open_npy(path, "x")
    assert refusal.value.path == str(path)
    assert refusal.value.sample is None
    assert refusal.value.message in str(refusal.value)
    assert isinstance(refusal.value, feedline.Error)


def test_files_are_closed_with_their_datasets(tmp_path, open_files):
    np.save(tmp_path / "x.npy", images(20))
    before = open_files()
    for _ in range(20):
        dataset = feedline.open_npy(tmp_path / "x.npy", "x")
        loader = feedline.Loader(dataset, batch_size=4)
        for batch in loader.epoch(0):
            batch["x"].numpy()
        del dataset, loader, batch
    assert open_files() == before


