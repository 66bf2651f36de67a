"""Batches are mappings of tensors that hold their memory."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Mapping

import numpy as np
import pytest

import feedline


def test_a_batch_is_a_mapping(numbered):
    batch = next(feedline.Loader(numbered, batch_size=4).epoch(0))
    assert isinstance(batch, Mapping)
    assert list(batch) == ["row", "label"] == list(batch.keys())
    assert len(batch) == 2
    assert "row" in batch and "no" not in batch and 3 not in batch
    assert {**batch}.keys() == {"row", "label"}
    assert [tensor.name for tensor in batch.values()] == ["row", "label"]
    assert dict(batch.items())["label"].shape == (4,)
    assert batch.numpy()["label"].tolist() == [0, 1, 2, 3]
    with pytest.raises(KeyError, match="row"):
        batch["no"]
    assert (batch.size, batch.index, batch.epoch, batch.repeats) == (4, 0, 0, 0)


def test_a_field_of_many_is_found_by_its_name():
    values = {f"f{i}": np.full(4, i) for i in range(500)}
    loader = feedline.Loader(feedline.make_memory_dataset(values), batch_size=2)
    first, second = loader.epoch(0)
    assert list(first) == list(second) == list(values)
    for batch in (first, second):
        assert all(batch[name].numpy()[0] == i for i, name in enumerate(values))
    assert first.get("f499").name == "f499"
    assert first.get("f500", "none") == "none"
    # Every batch of an epoch has the same string objects, which the epoch makes once.
    assert all(a is b for a, b in zip(first, second))
    for wrong in (3, None, "f"):
        assert wrong not in first
        with pytest.raises(KeyError):
            first[wrong]
    with pytest.raises(TypeError, match="unhashable"):
        first[["f0"]]


def test_a_tensor_tells_its_shape_and_type(numbered):
    tensor = next(feedline.Loader(numbered, batch_size=4).epoch(0))["row"]
    assert (tensor.name, tensor.shape, tensor.dtype, tensor.nbytes) == (
        "row",
        (4, 2, 4),
        "int64",
        256,
    )
    assert len(tensor) == 4
    assert tensor.__dlpack_device__() == (1, 0)
    assert not hasattr(tensor, "__cuda_array_interface__")
    assert "int64[4, 2, 4]" in repr(tensor)


@pytest.mark.parametrize(
    "name",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    + ["float16", "float32", "float64"],
)
def test_every_type_becomes_an_array(name):
    values = np.arange(6).reshape(3, 2).astype(name)
    loader = feedline.Loader(feedline.make_memory_dataset({"x": values}), batch_size=3)
    tensor = next(loader.epoch(0))["x"]
    for array in (tensor.numpy(), np.asarray(tensor), np.from_dlpack(tensor)):
        assert array.dtype == name
        assert (array == values).all()
    assert np.asarray(tensor, dtype="float64").dtype == "float64"


def test_arrays_are_views_that_may_be_written(numbered):
    batch = next(feedline.Loader(numbered, batch_size=4).epoch(0))
    view = batch["label"].numpy()
    view[2] = 99
    assert batch["label"].numpy().tolist() == [0, 1, 99, 3]
    copied = np.array(batch["label"])
    copied[:] = 0
    assert batch["label"].numpy()[2] == 99


def test_what_dlpack_asks_for_is_answered(numbered):
    tensor = next(feedline.Loader(numbered, batch_size=4).epoch(0))["row"]
    assert '"dltensor"' in repr(tensor.__dlpack__())
    assert '"dltensor_versioned"' in repr(tensor.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(tensor.__dlpack__(max_version=(0, 8)))
    tensor.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="another device"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="no copy"):
        tensor.__dlpack__(copy=True)
    with pytest.raises(feedline.UsageError):
        tensor.__dlpack__(stream=3)


def hold_two_slots(numbered):
    """A loader of two slots of a batch each, which gets no others, so that what is held shows."""
    two = feedline.ExpertOptions(staging_slots=2, batches_per_slot=1, on_held="error")
    return feedline.Loader(numbered, batch_size=10, expert=two)


def test_a_loop_needs_two_slots_and_nothing_else(numbered, check_batch):
    for number in range(3):
        seen = 0
        for batch in hold_two_slots(numbered).epoch(number):
            check_batch(batch)
            seen += 1
        assert seen == 100


@pytest.mark.parametrize("hold", ["batch", "tensor", "array", "capsule", "versioned"])
def test_memory_is_kept_as_long_as_anything_holds_it(numbered, hold):
    epoch = hold_two_slots(numbered).epoch(0)
    kept = []
    for _ in range(2):
        batch = next(epoch)
        tensor = batch["label"]
        kept.append(
            {
                "batch": lambda b=batch: b,
                "tensor": lambda t=tensor: t,
                "array": tensor.numpy,
                "capsule": tensor.__dlpack__,
                "versioned": lambda t=tensor: t.__dlpack__(max_version=(1, 0)),
            }[hold]()
        )
        del batch, tensor
    with pytest.raises(feedline.DeadlineError, match="2 batches are held"):
        epoch.next(timeout=0.01)
    with pytest.raises(feedline.UsageError, match="staging_slots") as refusal:
        next(epoch)  # does not wait for ever
    assert "End batches" in str(refusal.value)
    if hold == "array":
        assert [each.tolist() for each in kept] == [list(range(10)), list(range(10, 20))]
    del refusal
    kept.pop(0)
    gc.collect()
    assert next(epoch)["label"].numpy().tolist() == list(range(20, 30))


def test_tensors_keep_their_content_past_their_batch_epoch_and_loader(numbered):
    eight = feedline.ExpertOptions(staging_slots=8)
    loader = feedline.Loader(numbered, feedline.shuffle(seed=5), batch_size=50, expert=eight)
    kept = []
    for batch in loader.epoch(0):
        if batch.index in (0, 7, 19):
            kept.append((batch.samples().tolist(), batch["label"].numpy(), batch["row"]))
    del batch
    for _ in range(2):
        for _ in loader:
            pass
    del loader, _
    gc.collect()
    for samples, labels, row in kept:
        assert labels.tolist() == samples
        assert row.numpy()[:, 0, 0].tolist() == samples


def test_a_slow_consumer_sees_no_batch_change(numbered, check_batch):
    last = None
    three = feedline.ExpertOptions(staging_slots=3)
    for batch in feedline.Loader(numbered, batch_size=10, expert=three).epoch(0):
        check_batch(batch)
        if last is not None:
            check_batch(last)  # the one before is held until here, with readers at work
        last = batch


def test_batches_go_as_their_last_reference_goes(numbered):
    epoch = feedline.Loader(numbered, batch_size=10).epoch(0)
    batch = next(epoch)
    gone = weakref.ref(batch)
    array = batch["label"].numpy()
    del batch
    assert gone() is None  # the array holds the memory, not the object
    assert array.tolist() == list(range(10))


def test_batches_become_tensors_of_pytorch(numbered):
    torch = pytest.importorskip("torch")
    loader = hold_two_slots(numbered)
    epoch = loader.epoch(0)
    batch = next(epoch)
    tensors = batch.torch()
    assert tensors["row"].shape == (10, 2, 4)
    assert tensors["row"].dtype == torch.int64
    assert tensors["label"].data_ptr() == batch["label"].numpy().ctypes.data
    slices = tensors["label"][3:5]
    del batch, tensors
    for _ in range(3):
        next(epoch)
    assert slices.tolist() == [3, 4]


def test_every_type_of_pytorch_is_taken_and_given():
    torch = pytest.importorskip("torch")
    for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float64"):
        values = torch.arange(6).reshape(3, 2).to(getattr(torch, name))
        dataset = feedline.make_memory_dataset({"x": values})
        batch = next(feedline.Loader(dataset, batch_size=3).epoch(0))
        assert torch.equal(batch["x"].torch(), values)
    transform = feedline.FieldTransform("x", to="bfloat16")
    tensor = next(feedline.Loader(dataset, batch_size=3, transforms=[transform]).epoch(0))["x"]
    assert tensor.torch().dtype == torch.bfloat16
    assert tensor.torch().tolist() == [[0, 1], [2, 3], [4, 5]]


def test_memory_does_not_grow_with_loaders(numbered, open_files):
    def run():
        for _ in range(20):
            loader = feedline.Loader(numbered, batch_size=10)
            next(loader.epoch(0))["label"].numpy()

    run()
    before = open_files()
    threads = feedline_threads()
    run()
    gc.collect()
    assert open_files() == before
    assert feedline_threads() == threads


def feedline_threads():
    """Names of this process's threads that are feedline's."""
    import os

    names = []
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/comm") as comm:
            names.append(comm.read().strip())
    return [name for name in names if name.startswith("fl-")]


def test_arrays_can_be_written_before_numpy_2_1():
    code = (
        "import numpy, feedline\n"
        "numpy.__version__ = '1.26.4'\n"
        "numpy.from_dlpack = None  # its arrays cannot be written there\n"
        "data = feedline.make_memory_dataset({'x': numpy.arange(3)})\n"
        "batch = next(feedline.Loader(data, batch_size=3).epoch(0))\n"
        "array = batch['x'].numpy()\n"
        "array[0] = 9\n"
        "print(batch['x'].numpy(), array.base is not None)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout, ran.stderr) == ("[9 1 2] True\n", "")


def test_fields_are_kept_on_the_host(numbered):
    names = [each.name for each in numbered.fields]
    kept = {names[0]: "host", names[1]: "both"}
    loader = feedline.Loader(numbered, batch_size=32, keep_on_host=kept)
    plain = feedline.Loader(numbered, batch_size=32)
    for batch, other in zip(loader.epoch(0), plain.epoch(0)):
        for name in names[:2]:
            found = batch.on_host(name)
            assert isinstance(found, np.ndarray)
            assert (found == other[name].numpy()).all()
            assert (batch[name].numpy() == found).all()
    held = batch.on_host(names[0])
    copied = held.copy()
    del batch
    assert (held == copied).all()  # the array holds the batch
    for _ in loader.epoch(1):
        pass
    assert (held == copied).all()


def test_what_cannot_be_kept_on_the_host_is_refused(numbered):
    name = numbered.fields[0].name
    with pytest.raises(feedline.UsageError, match="names 'missing'"):
        feedline.Loader(numbered, keep_on_host=["missing"])
    with pytest.raises(feedline.UsageError, match="can say 'host' or 'both'"):
        feedline.Loader(numbered, keep_on_host={name: "cpu"})
    with pytest.raises(feedline.UsageError, match="give a list of names"):
        feedline.Loader(numbered, keep_on_host=name)
    loader = feedline.Loader(numbered, batch_size=4)
    batch = next(iter(loader.epoch(0)))
    with pytest.raises(feedline.UsageError, match="is not kept on the host"):
        batch.on_host(name)
    with pytest.raises(KeyError, match="no field"):
        batch.on_host("missing")
