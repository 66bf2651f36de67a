"""Samples that lie each in a group of an HDF5 file, and single values: against h5py."""

import numpy as np
import pytest

import feedline

h5py = pytest.importorskip("h5py")


@pytest.fixture
def demos(tmp_path):
    """20 demonstrations of different lengths, in several layouts."""
    random = np.random.default_rng(1)
    path = tmp_path / "demos.h5"
    with h5py.File(path, "w") as made:
        for number in random.permutation(20):
            group = made.create_group(f"data/demo_{number}")
            steps = int(random.integers(0, 9))
            actions = random.normal(size=(steps, 3)).astype(np.float32)
            how = {"chunks": (2, 3), "compression": "gzip"} if number % 2 else {}
            most = (None, 3) if how else None
            group.create_dataset("actions", data=actions, maxshape=most, **how)
            group.create_dataset("obs/image", data=random.integers(0, 255, (4, 5), np.uint8), **how)
            group["goal"] = float(number)
    return path


def test_each_sample_is_a_group(demos):
    names = feedline.list_hdf5_groups(demos, "data/demo_*")
    assert names == [f"demo_{number}" for number in range(20)]
    dataset = feedline.open_hdf5_groups(demos, "data/*", ["obs/image", ("goal", "target")])
    rows = dataset.read(range(20))
    with h5py.File(demos) as file:
        for number, name in enumerate(names):
            assert (rows["image"][number] == file["data"][name]["obs/image"][:]).all()
            assert rows["target"][number] == file["data"][name]["goal"][()]
    order = feedline.shuffle(seed=2)
    with feedline.Loader(dataset, order, batch_size=5, epochs=1, device="cpu") as loader:
        seen = sorted(float(x) for batch in loader.epoch(0) for x in batch["target"].numpy())
    assert seen == list(range(20))


def test_datasets_of_different_lengths_are_ragged(demos):
    ragged = feedline.open_hdf5_groups_ragged(demos, "data/demo_*", "actions")
    padded = feedline.pad(ragged, length=8)
    rows = padded.read(range(20))
    with h5py.File(demos) as file:
        for number in range(20):
            wanted = file[f"data/demo_{number}/actions"][:]
            assert rows["actions_length"][number] == len(wanted)
            assert (rows["actions"][number][: len(wanted)] == wanted).all()
            assert (rows["actions"][number][len(wanted) :] == 0).all()
    with pytest.raises(feedline.DatasetError, match="open_hdf5_groups_ragged"):
        feedline.open_hdf5_groups(demos, "data/*", ["actions"])
    with pytest.raises(feedline.DatasetError, match="no members that match"):
        feedline.open_hdf5_groups(demos, "data/x*", ["actions"])


def test_single_values_references_and_dates_are_read(tmp_path):
    path = tmp_path / "x.h5"
    dates = np.array(["2026-01-01", "NaT", "1969-07-20"], "M8[ns]")
    with h5py.File(path, "w") as made:
        made["epoch"] = np.int32(7)
        made["text"] = "a text"
        made["none"] = np.zeros((0, 4), np.float32)
        made.create_group("a")
        made["to"] = np.array([made["a"].ref, made.ref, made["a"].ref], h5py.ref_dtype)
        made["dates"] = dates.astype(h5py.opaque_dtype(dates.dtype))
        made["label"] = np.arange(3)
    assert feedline.open_hdf5(path, ["epoch"]).read([0])["epoch"].tolist() == [7]
    assert feedline.open_hdf5_array(path, "epoch").numpy() == 7
    assert len(feedline.open_hdf5(path, ["none"])) == 0
    to = feedline.open_hdf5(path, ["to"]).read(range(3))["to"]
    assert to.dtype == np.uint64 and to[0] == to[2] != to[1]
    found = feedline.open_hdf5(path, ["dates"]).read(range(3))["dates"]
    assert found.dtype == np.int64 and (found.view("M8[ns]")[[0, 2]] == dates[[0, 2]]).all()
    assert np.isnat(found.view("M8[ns]")[1])
    text = feedline.pad(feedline.open_hdf5_ragged(path, "text")).read([0])["text"]
    assert bytes(text[0]) == b"a text"
    opened = feedline.open(path)
    assert [field.name for field in opened.fields] == ["dates", "label"]
    left_out = {each.name: each.left_out for each in feedline.list_fields(path)}
    assert left_out["/epoch"] == "a single value"
    assert left_out["/to"] == "references"
    assert left_out["/none"] == "no samples"
