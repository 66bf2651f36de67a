"""Samples that Python makes in worker processes."""

import random

import numpy as np
import pytest

import feedline

METHODS = ["spawn", "forkserver", "fork"]


class Augmented:
    """Values that spell their sample, and random numbers of each generator."""

    def __init__(self, size=300):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        own = np.random.default_rng(feedline.sample_info().seed)
        return {
            "row": np.full((5, 3), index, np.int32),
            "label": index,
            "drawn": np.array([random.random(), np.random.rand(), own.random()]),
        }


class Rows:
    def __init__(self, size=60):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return {"y": index}


def delivered(loader, epoch=0, first=None):
    """Everything that the epoch delivers, as bytes."""
    parts = []
    for batch in loader.epoch(epoch) if first is None else loader:
        assert (batch["row"].numpy() == batch.samples().astype(np.int32)[:, None, None]).all()
        parts.append(b"".join(batch[name].numpy().tobytes() for name in batch))
    return b"".join(parts)


def loader_of(epochs=1, size=300, **arguments):
    dataset = feedline.sequence_dataset(Augmented(size), **arguments)
    options = {"batch_size": 16, "seed": 5, "epochs": epochs}
    return feedline.Loader(dataset, feedline.shuffle(seed=7), **options)


def test_bytes_are_the_same_for_threads_and_any_workers_and_start_method():
    expected = delivered(loader_of(seeded=True), 3)
    assert expected != delivered(loader_of(seeded=True), 4)
    for method in METHODS:
        assert delivered(loader_of(workers=2, start_method=method), 3) == expected
    for workers in [1, 4]:
        assert delivered(loader_of(workers=workers, start_method="fork"), 3) == expected


def test_a_resumed_epoch_has_the_bytes_that_were_left_for_any_workers():
    loader = loader_of(workers=3, start_method="fork")
    steps = loader.epoch(2)
    for _ in range(7):
        next(steps)
    state = loader.state().to_json()
    rest = b"".join(batch["drawn"].numpy().tobytes() for batch in steps)
    for arguments in [{"workers": 1, "start_method": "fork"}, {"seeded": True}]:
        again = loader_of(**arguments)
        again.seek(feedline.State.from_json(state))
        assert b"".join(batch["drawn"].numpy().tobytes() for batch in again) == rest


@pytest.mark.parametrize("readers", [0, 1, 5])
def test_any_number_of_readers_takes_samples_from_workers(readers):
    dataset = feedline.sequence_dataset(Rows(), workers=2, start_method="fork")
    loader = feedline.Loader(dataset, batch_size=7, readers=readers)
    assert [y for batch in loader.epoch(0) for y in batch["y"].numpy()] == list(range(60))


def test_an_automatic_number_of_readers_keeps_all_workers_busy_in_composed_datasets():
    dataset = feedline.sequence_dataset(Rows(), workers=3, start_method="fork")
    other = feedline.make_memory_dataset({"z": np.zeros(60)})
    composed = [
        dataset,
        feedline.subset(dataset, range(0, 60, 2)),
        feedline.zip([other, dataset]),
        feedline.concatenate([dataset, dataset]),
        feedline.select(dataset, [("y", "label")]),
    ]
    for each in composed:
        assert feedline.Loader(each, batch_size=4).plan().readers == 6


def test_values_that_no_worker_can_map_are_right():
    dataset = feedline.sequence_dataset(Rows(3000), workers=2, start_method="fork")
    assert dataset.read(range(2999, -1, -1))["y"].tolist() == list(range(2999, -1, -1))
    # Readers convert on the host device, from memory of their own.
    image = feedline.FieldTransform("y", to="float32", scale=0.5)
    loader = feedline.Loader(dataset, batch_size=8, transforms=[image])
    seen = [y for batch in loader.epoch(0) for y in batch["y"].numpy()]
    assert seen == [i * 0.5 for i in range(3000)]


def test_loaders_made_one_after_the_other_share_the_workers(workers):
    dataset = feedline.sequence_dataset(Rows(), workers=2, start_method="fork")
    for _ in range(20):
        loader = feedline.Loader(dataset, batch_size=7)
        assert [y for batch in loader.epoch(0) for y in batch["y"].numpy()] == list(range(60))
        loader.close()
    assert workers() == 2


class Together(Rows):
    """Makes samples of a list, and fails if that list has sample 7."""

    def __getitem__(self, index):
        if index in (7, 8):
            raise feedline.DatasetError("not made")
        return {"y": index, "together": 0}

    def __getitems__(self, indices):
        if 7 in indices:
            raise ValueError("one of them")
        return [{"y": index, "together": len(indices)} for index in indices]


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_are_made_together_and_a_failure_names_its_sample(workers):
    arguments = {"workers": workers, "start_method": "fork"}
    dataset = feedline.sequence_dataset(Together(), seeded=False, **arguments)
    made = dataset.read(range(8, 60))
    assert made["y"].tolist() == list(range(8, 60))
    assert (made["together"] == 52).all()
    with pytest.raises(feedline.DatasetError) as failure:
        dataset.read(range(5, 20))
    assert failure.value.sample == 7
    assert dataset.read(range(7))["y"].tolist() == list(range(7))
    # Numbers of seeded samples do not depend on which are made together.
    seeded = feedline.sequence_dataset(Together(), seeded=True, **arguments)
    assert (seeded.read(range(7))["together"] == 0).all()


def fail_at_seven(index):
    if index == 7:
        raise KeyError("seven")
    return {"y": index}


@pytest.mark.parametrize("method", METHODS)
def test_what_a_worker_raises_is_the_cause_with_its_traceback_as_text(method):
    dataset = feedline.sequence_dataset(fail_at_seven, size=20, workers=2, start_method=method)
    taken = []
    with pytest.raises(feedline.StageError, match="KeyError: 'seven'") as failure:
        for batch in feedline.Loader(dataset, batch_size=2).epoch(0):
            taken += batch["y"].numpy().tolist()
    assert taken == [0, 1, 2, 3, 4, 5]  # all good batches come first
    causes = [failure.value]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    assert isinstance(causes[-2], KeyError)
    assert "in fail_at_seven" in str(causes[-1])
    assert dataset[8]["y"] == 8  # the worker goes on


class Unpicklable(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def test_an_exception_that_cannot_be_pickled_is_told_in_words():
    def read(index):
        if index == 3:
            raise Unpicklable("this", "that")
        return {"y": index}

    dataset = feedline.sequence_dataset(read, size=9, workers=1, start_method="fork")
    with pytest.raises(RuntimeError, match="Unpicklable: this and that") as failure:
        dataset.read(range(9))
    assert "in read" in str(failure.value.__cause__)


def test_a_worker_s_dataset_error_falls_under_the_policy():
    def read(index):
        if index % 5 == 3:
            raise feedline.DatasetError("damaged", path="file")
        return {"y": index}

    dataset = feedline.sequence_dataset(read, size=20, workers=2, start_method="fork")
    policy = feedline.ErrorPolicy(action="skip", max_share=0.5)
    loader = feedline.Loader(dataset, batch_size=2, errors=policy)
    seen = [y for batch in loader.epoch(0) for y in batch["y"].numpy()]
    assert sorted(seen) == [i for i in range(20) if i % 5 != 3]
    report = loader.failures()
    assert {each.sample for each in report.first} == {3, 8, 13, 18}
    assert report.first[0].path == "file"


def test_a_sample_of_another_shape_is_named_once():
    dataset = feedline.sequence_dataset(
        lambda i: {"y": np.zeros(3 if i == 5 else 2)}, size=10, workers=1, start_method="fork"
    )
    with pytest.raises(feedline.DatasetError, match="sample 0 was y: float64\\[2\\]") as refusal:
        dataset.read(range(10))
    assert refusal.value.sample == 5
    assert str(refusal.value).count("sample 5") <= 1


def test_what_no_worker_can_do_is_refused(tmp_path):
    with pytest.raises(feedline.UsageError, match="at the top of a module"):
        feedline.sequence_dataset(lambda i: {"y": i}, size=9, workers=1)
    with pytest.raises(feedline.UsageError, match="'forkserver'"):
        feedline.sequence_dataset(Rows(), workers=1, start_method="thread")
    with pytest.raises(feedline.UsageError, match="say 0 to 512"):
        feedline.sequence_dataset(Rows(), workers=1000)
    with pytest.raises(feedline.UsageError, match="timeout"):
        feedline.sequence_dataset(Rows(), workers=1, timeout=0)
    with pytest.raises(feedline.UsageError, match="concurrency='serialized'"):
        feedline.sequence_dataset(Rows(), seeded=True, concurrency="parallel")
    with pytest.raises(feedline.UsageError, match="no sample is being made"):
        feedline.sample_info()


def test_samples_that_vary_by_epoch_are_not_held_unless_the_user_says_so():
    varying = feedline.sequence_dataset(Rows(), workers=1, start_method="fork")
    with pytest.raises(feedline.UsageError, match="from epoch to epoch"):
        feedline.load_into_memory(varying)
    fixed = feedline.sequence_dataset(Rows(), workers=1, start_method="fork", seeded=False)
    assert feedline.load_into_memory(fixed)[7]["y"] == 7
    asking = feedline.sequence_dataset(Augmented(), seeded=True)
    assert asking[0]["label"] == 0
    with pytest.raises(feedline.UsageError, match="seeded=True"):
        feedline.sequence_dataset(Augmented())
