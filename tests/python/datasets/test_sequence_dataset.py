"""Samples that Python makes."""

import threading
import traceback

import numpy as np
import pytest

import feedline


class Squares:
    """A map-style dataset, as PyTorch's."""

    def __len__(self):
        return 100

    def __getitem__(self, index):
        if index >= 100:
            raise IndexError(index)
        return np.full((2, 3), index, np.float32), index * index


def labels(loader, epoch=0):
    return [label for batch in loader.epoch(epoch) for label in batch["y"].numpy().tolist()]


@pytest.mark.parametrize("readers", [0, 1, 3])
@pytest.mark.parametrize("concurrency", ["serialized", "parallel"])
def test_a_sequence_is_a_dataset(readers, concurrency):
    dataset = feedline.sequence_dataset(Squares(), names=["x", "y"], concurrency=concurrency)
    assert len(dataset) == 100
    loader = feedline.Loader(dataset, batch_size=7, readers=readers)
    assert labels(loader) == [i * i for i in range(100)]


def test_the_values_of_a_tuple_without_names_are_numbered():
    dataset = feedline.sequence_dataset(Squares())
    assert [field.name for field in dataset.fields] == ["0", "1"]
    assert dataset[9]["1"] == 81


def test_a_function_is_a_dataset():
    dataset = feedline.sequence_dataset(lambda i: {"y": i, "z": [i] * 3}, size=10)
    assert [(f.name, f.dtype, f.shape) for f in dataset.fields] == [
        ("y", "int64", ()),
        ("z", "int64", (3,)),
    ]
    assert dataset[4]["z"].tolist() == [4, 4, 4]


def test_what_is_no_dataset_is_refused():
    with pytest.raises(feedline.UsageError, match="sample 0 is a ndarray.*names="):
        feedline.sequence_dataset([np.zeros(2)])
    with pytest.raises(feedline.UsageError, match="2 values for 1 names"):
        feedline.sequence_dataset(Squares(), names=["x"])
    with pytest.raises(feedline.UsageError, match="size="):
        feedline.sequence_dataset(lambda i: {"y": i})
    with pytest.raises(feedline.UsageError, match="no sample"):
        feedline.sequence_dataset([])


def test_samples_of_another_shape_are_named():
    dataset = feedline.sequence_dataset(lambda i: {"y": np.zeros(3 if i == 5 else 2)}, size=10)
    with pytest.raises(feedline.DatasetError, match="sample 0 was y: float64\\[2\\]") as refusal:
        dataset.read(range(10))
    assert refusal.value.sample == 5


def fail_at_seven(index):
    if index == 7:
        raise KeyError("seven")
    return {"y": index}


@pytest.mark.parametrize("readers", [0, 1, 3])
def test_what_a_function_raises_is_the_cause_with_its_traceback(readers):
    dataset = feedline.sequence_dataset(fail_at_seven, size=20, concurrency="parallel")
    loader = feedline.Loader(dataset, batch_size=2, readers=readers)
    taken = []
    epoch = loader.epoch(0)
    with pytest.raises(feedline.StageError, match="KeyError: 'seven'") as failure:
        for batch in epoch:
            taken += batch["y"].numpy().tolist()
    assert taken == [0, 1, 2, 3, 4, 5]  # all good batches come first
    error = failure.value
    assert (error.stage, error.epoch, error.batch) == ("reader", 0, 3)
    causes = []
    while error is not None:
        causes.append(error)
        error = error.__cause__
    assert isinstance(causes[-1], KeyError)
    frames = traceback.extract_tb(causes[-1].__traceback__)
    assert frames[-1].name == "fail_at_seven"
    with pytest.raises(feedline.StageError):
        next(epoch)  # so does every later step


def test_a_dataset_error_falls_under_the_policy():
    def read(index):
        if index % 5 == 3:
            raise feedline.DatasetError("damaged", path="file")
        return {"y": index}

    dataset = feedline.sequence_dataset(read, size=20)
    policy = feedline.ErrorPolicy(action="skip", max_share=0.5)
    loader = feedline.Loader(dataset, batch_size=2, errors=policy)
    assert sorted(labels(loader)) == [i for i in range(20) if i % 5 != 3]
    report = loader.failures()
    assert report.count == 4
    assert {each.sample for each in report.first} == {3, 8, 13, 18}
    assert report.first[0].path == "file"

    loader = feedline.Loader(dataset, batch_size=2)
    with pytest.raises(feedline.StageError) as failure:
        labels(loader)
    assert failure.value.sample == 3
    assert failure.value.path == "file"
    assert isinstance(failure.value.__cause__, feedline.DatasetError)


def test_other_threads_go_on_while_a_batch_is_waited_for(await_waiting):
    asked, go_on = threading.Event(), threading.Event()

    def read(index):
        if index == 1:
            asked.set()
            assert go_on.wait(60)
        return {"y": index}

    loader = feedline.Loader(feedline.sequence_dataset(read, size=4), batch_size=1)
    epoch = loader.epoch(0)
    assert next(epoch)["y"].numpy() == 0

    def open_the_gate():  # runs while the main thread waits in next
        assert asked.wait(60)
        await_waiting(loader, 1)
        go_on.set()

    other = threading.Thread(target=open_the_gate)
    other.start()
    assert next(epoch)["y"].numpy() == 1
    other.join()


def test_a_deadline_is_kept_and_loses_nothing():
    go_on = threading.Event()

    def read(index):
        assert index == 0 or go_on.wait(60)
        return {"y": index}

    data = feedline.sequence_dataset(read, size=3)
    one = feedline.ExpertOptions(request_bytes=8)
    loader = feedline.Loader(data, batch_size=1, expert=one)
    epoch = loader.epoch(0)
    assert epoch.next(timeout=60)["y"].numpy() == 0
    with pytest.raises(feedline.DeadlineError) as late:
        epoch.next(timeout=0.01)
    assert isinstance(late.value, TimeoutError)
    assert (late.value.epoch, late.value.batch, late.value.sample) == (0, 1, 1)
    assert late.value.waited > 0
    go_on.set()
    assert epoch.next(timeout=60)["y"].numpy() == 1
    assert epoch.next()["y"].numpy() == 2
    assert epoch.next() is None


def test_an_abandoned_loader_lets_go_of_the_function():
    class Reader:
        def __call__(self, index):
            return {"y": index}

    import gc
    import weakref

    reader = Reader()
    alive = weakref.ref(reader)
    loader = feedline.Loader(feedline.sequence_dataset(reader, size=1000), batch_size=10)
    next(loader.epoch(0))
    del reader, loader
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("readers", [0, 1])
def test_what_a_sample_raises_names_that_sample_and_no_policy_applies(workers, readers):
    def read(index):
        if index == 7:
            raise KeyError("seven")
        return {"y": index}

    dataset = feedline.sequence_dataset(read, size=20, workers=workers, start_method="fork")
    backwards = feedline.subset(dataset, range(19, -1, -1))
    policy = feedline.ErrorPolicy(action="skip", retries=2, max_share=0.5)
    for each, sample in [(dataset, 7), (backwards, 12)]:
        for errors in [None, policy]:
            loader = feedline.Loader(each, batch_size=10, readers=readers, errors=errors)
            with pytest.raises(feedline.StageError, match=f"sample {sample}.*KeyError") as failure:
                list(loader.epoch(0))
            assert failure.value.sample == sample
        # Whoever asks for samples gets what the function raised.
        with pytest.raises(KeyError, match="seven"):
            each.read(range(20))
        with pytest.raises(KeyError, match="seven"):
            each[sample]
    if workers == 0:
        with pytest.raises(feedline.DatasetError, match="sample 7.*KeyError") as failure:
            feedline.load_into_memory(dataset)
        assert failure.value.sample == 7
