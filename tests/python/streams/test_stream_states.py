"""Streams that save their position go on from there; others are iterated again."""

import gc
import json
import logging
import os
import signal

import numpy as np
import pytest

import feedline


class Walk:
    """An iterable with a position. Notes each sample that it makes."""

    def __init__(self, stream, note):
        self.stream, self.note = stream, note
        self.epoch = self.number = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def sample(self):
        with open(f"{self.note}-{os.getpid()}", "a") as file:
            file.write(f"{self.stream} {self.epoch} {self.number}\n")
        return {"y": [self.stream, self.epoch, self.number], "drawn": np.random.rand()}

    def __iter__(self):
        while self.number < 1000:
            self.number += 1
            yield self.sample()
        self.number = 0

    def state_dict(self):
        return {"number": self.number}

    def load_state_dict(self, state):
        self.number = state["number"]


class Walker(Walk):
    """An iterator with a position."""

    def __next__(self):
        self.number += 1
        return self.sample()

    def __iter__(self):
        return self


class OfIterator:
    def __init__(self, stream, note):
        self.of, self.epoch = (stream, note), 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        walker = Walker(*self.of)
        walker.set_epoch(self.epoch)
        return walker


class Plain(Walk):
    """Has no state, and so begins again."""

    state_dict = property()

    def __iter__(self):
        self.number = 0
        return super().__iter__()


def loader_of(kind, note, streams=2, workers=0, length=1000, **options):
    def of_stream(stream, streams):
        return kind(stream, note)

    dataset = feedline.stream_dataset(
        of_stream, length, streams=streams, workers=workers, start_method="fork", **options
    )
    return feedline.Loader(dataset, batch_size=10, seed=3)


def content(batches):
    return [
        (*y, drawn)
        for batch in batches
        for y, drawn in zip(batch["y"].numpy().tolist(), batch["drawn"].numpy().tolist())
    ]


def stopped(loader, batches, epoch=1):
    """A loader's state after some batches of an epoch, and what it would still give."""
    loader.set_epoch(epoch)
    loop = iter(loader)
    for _ in range(batches):
        next(loop)
    state = json.loads(json.dumps(loader.state_dict()))
    return state, content(loop)


def made(folder, name):
    """Samples that were noted: how many."""
    files = [each for each in folder.iterdir() if each.name.startswith(name)]
    return sum(len(each.read_text().splitlines()) for each in files)


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("kind", [Walk, OfIterator])
def test_a_run_goes_on_from_states_of_its_streams_with_the_same_samples(tmp_path, kind, workers):
    state, rest = stopped(loader_of(kind, tmp_path / "a", workers=workers), 60)
    assert {name: each[2] for name, each in state["streams"].items()} == {"0": 256, "1": 256}
    for again in (0, 1, 2):
        second = loader_of(kind, tmp_path / f"b{again}", workers=again)
        second.load_state_dict(state)
        assert content(second) == rest
        assert made(tmp_path, f"b{again}") == 1 + 1000 - 2 * 256  # with sample 0
        assert content(second)[0][:3] == (0, 2, 1)


def test_a_run_without_states_passes_over_samples_and_says_so_once(tmp_path, caplog):
    state, rest = stopped(loader_of(Plain, tmp_path / "a"), 60)
    assert "streams" not in state
    check_told_once(tmp_path, caplog, state, rest)


def test_states_that_the_streams_cannot_load_are_passed_over_and_that_is_said(tmp_path, caplog):
    state, rest = stopped(loader_of(Walk, tmp_path / "a"), 60)
    assert state["streams"]
    check_told_once(tmp_path, caplog, state, rest)


def check_told_once(tmp_path, caplog, state, rest):
    second = loader_of(Plain, tmp_path / "b")
    with caplog.at_level(logging.INFO, logger="feedline"):
        for _ in range(2):
            second.load_state_dict(state)
            assert content(second) == rest
    told = [each.getMessage() for each in caplog.records if "iterated from" in each.getMessage()]
    assert len(told) == 1 and "beginning of epoch 1 to sample 600" in told[0]
    assert "state_dict and load_state_dict" in told[0]


def test_a_buffer_s_samples_are_in_no_state_so_they_are_made_again(tmp_path):
    state, rest = stopped(loader_of(Walk, tmp_path / "a", shuffle_buffer=20), 60)
    assert "streams" not in state
    second = loader_of(Walk, tmp_path / "b", shuffle_buffer=20)
    second.load_state_dict(state)
    assert content(second) == rest


def test_an_endless_stream_goes_on_from_a_state_of_an_earlier_epoch(tmp_path):
    class Endless(Walk):
        def __iter__(self):
            while True:
                self.number += 1
                yield self.sample()

    options = {"endless": True, "length": 600}
    state, rest = stopped(loader_of(Endless, tmp_path / "a", **options), 1, epoch=2)
    second = loader_of(Endless, tmp_path / "b", **options)
    second.load_state_dict(state)
    assert content(second) == rest and rest[0][:3] == (1, 0, 603)
    assert made(tmp_path, "b") <= 1 + 600 + 2 * 64


def test_a_worker_that_is_started_again_goes_on_from_the_last_state(tmp_path):
    class Dying(Walk):
        def sample(self):
            if self.number == 300 and not (tmp_path / "died").exists():
                (tmp_path / "died").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().sample()

    expected = content(loader_of(Walk, tmp_path / "a", streams=1).epoch(0))
    loader = loader_of(Dying, tmp_path / "b", streams=1, workers=1)
    policy = feedline.ErrorPolicy(retries=1)
    loader = feedline.Loader(loader.dataset, batch_size=10, seed=3, errors=policy)
    assert content(loader) == expected
    assert (tmp_path / "died").exists()
    assert made(tmp_path, "b") <= 1 + 1000 + 64


def test_an_epoch_that_was_left_does_not_change_the_next_one(tmp_path):
    loader = loader_of(Walk, tmp_path / "a")
    expected = content(loader.epoch(1))
    left = loader_of(Walk, tmp_path / "b")
    for _ in zip(range(20), left.epoch(0)):
        pass
    assert content(left.epoch(1)) == expected


def test_states_are_kept_in_a_folder_that_goes_with_the_dataset(tmp_path, fork, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "states"))
    (tmp_path / "states").mkdir()
    loader = loader_of(Walk, tmp_path / "a", streams=1, length=900, workers=1)
    for epoch in range(4):
        assert len(content(loader.epoch(epoch))) == 900
    (folder,) = (tmp_path / "states").iterdir()
    assert {each.name.split(".")[1] for each in folder.iterdir()} <= {"2", "3"}

    def in_child():
        nonlocal loader
        del loader
        gc.collect()

    assert fork(in_child) == 0
    assert folder.exists()
    del loader
    gc.collect()
    assert not folder.exists()
