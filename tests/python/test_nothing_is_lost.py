"""Names and values that Python or NumPy could cut short on the way."""

import numpy as np
import pytest

import feedline

NAMES = ["a", "a\0b", "a\0", "\0", "ä\0ö"]


def fields():
    return {name: np.full(6, place) for place, name in enumerate(NAMES)}


MAKERS = {
    "memory": lambda: feedline.make_memory_dataset(fields()),
    "dicts": lambda: feedline.sequence_dataset(
        lambda _: {name: place for place, name in enumerate(NAMES)}, size=6
    ),
    "lists": lambda: feedline.sequence_dataset(lambda _: list(range(5)), size=6, names=NAMES),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_fields_whose_names_have_a_null_are_all_there(maker):
    dataset = MAKERS[maker]()
    assert [field.name for field in dataset.fields] == NAMES
    assert {name: value.tolist() for name, value in dataset.read([1, 2]).items()} == {
        name: [place] * 2 for place, name in enumerate(NAMES)
    }
    assert list(dataset[3]) == NAMES
    batch = next(feedline.Loader(dataset, batch_size=2).epoch(0))
    assert list(batch) == list(batch.keys()) == NAMES
    assert len(batch.items()) == len(batch.values()) == len(NAMES)
    assert [name for name, _ in batch.items()] == NAMES
    for place, name in enumerate(NAMES):
        assert name in batch
        assert batch[name].name == name
        assert batch.numpy()[name].tolist() == [place] * 2
    chosen = feedline.select(dataset, [("a\0b", "b\0c"), "a"])
    assert [field.name for field in chosen.fields] == ["b\0c", "a"]


REFUSED = r"masked elements.*array\.filled\(value\).*getmaskarray"


def masked(mask):
    return np.ma.masked_array(np.arange(4), mask)


@pytest.mark.parametrize(
    "values",
    [
        masked([0, 0, 1, 0]),
        [masked([0, 0, 1, 0])] * 2,
        [[masked([1, 1, 1, 1])], (masked([0, 0, 0, 0]),)],
        [1, np.ma.masked],
    ],
    ids=["array", "list", "nested", "constant"],
)
def test_masked_elements_are_refused(values):
    with pytest.raises(feedline.UsageError, match=REFUSED):
        feedline.make_memory_dataset({"y": values})
    with pytest.raises(feedline.UsageError, match=REFUSED):
        feedline.sequence_dataset(lambda i: {"y": values}, size=4)
    with pytest.raises(feedline.UsageError, match=REFUSED):
        feedline.weighted(values)
    with pytest.raises(feedline.UsageError, match=REFUSED):
        feedline.subset(feedline.make_memory_dataset({"y": np.arange(9)}), values)


def test_a_sample_with_masked_elements_is_named():
    data = feedline.sequence_dataset(lambda i: {"y": masked([0, 0, i == 3, 0])}, size=9)
    with pytest.raises(feedline.StageError, match=REFUSED) as failure:
        list(feedline.Loader(data, batch_size=2).epoch(0))
    assert failure.value.batch == 1


def test_an_array_that_could_have_a_mask_and_has_none_is_an_array():
    data = feedline.make_memory_dataset({"y": masked(np.ma.nomask), "z": masked([0, 0, 0, 0])})
    assert data.read(range(4))["y"].tolist() == data.read(range(4))["z"].tolist() == [0, 1, 2, 3]


def test_what_the_refusal_recommends_works():
    array = masked([0, 0, 1, 0])
    data = feedline.make_memory_dataset(
        {"y": array.filled(-1), "is_masked": np.ma.getmaskarray(array)}
    )
    assert data.read(range(4))["y"].tolist() == [0, 1, -1, 3]
    assert data.read(range(4))["is_masked"].tolist() == [False, False, True, False]
