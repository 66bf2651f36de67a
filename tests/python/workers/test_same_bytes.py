"""Random samples are the same bytes for any number of threads, of processes, and after resuming.

FEEDLINE_SAMPLES=1000000 makes so many; the default takes some seconds.
"""

import hashlib
import os
import random

import numpy as np
import pytest

import feedline

SAMPLES = int(os.environ.get("FEEDLINE_SAMPLES", "5000"))
BATCH = 100
HOW = [{"readers": readers} for readers in (1, 4, 16)]
HOW += [{"workers": workers} for workers in (1, 4, 16)]


class Drawn:
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        own = np.random.default_rng(feedline.sample_info().seed) if index % 100 == 0 else random
        drawn = np.array([random.random(), np.random.rand(), own.random()])
        return {"index": index, "drawn": drawn, "cut": drawn[: index % 4]}


def loader_of(readers=feedline.automatic_readers, workers=0):
    dataset = feedline.sequence_dataset(
        Drawn(), workers=workers, start_method="fork", seeded=True, pad={"cut": 3}
    )
    return feedline.Loader(
        dataset, batch_size=BATCH, shuffle=True, seed=7, readers=readers, epochs=2
    )


def digests(batches, every):
    """A digest of all that was delivered, after each `every` batches."""
    digest, found = hashlib.blake2b(digest_size=16), []
    for number, batch in enumerate(batches, 1):
        for name in batch:
            digest.update(batch[name].numpy())
        if number % every == 0:
            found.append(digest.hexdigest())
            digest = hashlib.blake2b(digest_size=16)
    return found


@pytest.fixture(scope="module")
def expected():
    """Digests of an epoch's fifths."""
    found = digests(loader_of(readers=0).epoch(1), SAMPLES // BATCH // 5)
    assert len(set(found)) == 5
    return found


@pytest.mark.parametrize("how", HOW, ids=str)
def test_an_epoch_has_the_same_bytes(expected, how):
    assert digests(loader_of(**how).epoch(1), SAMPLES // BATCH // 5) == expected


@pytest.mark.parametrize("how", HOW, ids=str)
def test_an_epoch_that_is_resumed_twice_has_the_same_bytes(expected, how):
    fifth = SAMPLES // BATCH // 5
    found = []
    others = iter([how, HOW[(HOW.index(how) + 1) % 6], HOW[(HOW.index(how) + 3) % 6]])
    state = None
    for batches in (2 * fifth, fifth, 2 * fifth):
        loader = loader_of(**next(others))
        if state is None:
            loader.set_epoch(1)
        else:
            loader.load_state_dict(state)
        loop = iter(loader)
        found += digests((next(loop) for _ in range(batches)), fifth)
        state = loader.state_dict()
        loader.close()  # its threads would share the generators with those of the next one
    assert found == expected
