"""`map`: a Python function of another dataset's samples, on threads and in worker processes."""

import pickle

import numpy as np
import pytest

import feedline


def doubled(sample):
    return {"twice": sample["row"] * 2, "label": sample["label"]}


def drawn(index):
    return {"x": np.random.random()}


@pytest.fixture
def labels_of():
    """The labels that a loader delivers, with a check of what belongs to them."""

    def take(dataset, **options):
        found = []
        for batch in feedline.Loader(dataset, feedline.shuffle(seed=3), batch_size=64, **options):
            label = batch["label"].numpy()
            assert (batch["twice"].numpy() == 2 * label[:, None, None]).all()
            found += label.tolist()
        return found

    return take


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gets_what_the_function_makes(numbered, labels_of, workers):
    mapped = feedline.map(numbered, doubled, workers=workers, start_method="fork")
    assert len(mapped) == len(numbered)
    assert labels_of(mapped) == labels_of(feedline.map(numbered, doubled), readers=1)
    assert sorted(labels_of(mapped)) == list(range(1000))


def test_a_map_of_a_map_and_options_of_sequence_dataset(numbered):
    once = feedline.map(numbered, doubled)
    twice = feedline.map(once, lambda sample: sample["twice"][0, 0], names=["first"])
    assert twice[21]["first"] == 42


def test_what_the_function_raises_names_the_sample(numbered):
    def refuse(sample):
        if sample["label"] == 7:
            raise feedline.DatasetError("the seventh")
        return sample

    with pytest.raises(feedline.StageError) as caught:
        list(feedline.Loader(feedline.map(numbered, refuse), batch_size=4))
    assert caught.value.sample == 7 and "the seventh" in str(caught.value.__cause__)


def test_it_is_pickled_with_its_dataset(numbered):
    again = pickle.loads(pickle.dumps(feedline.map(numbered, doubled)))
    assert (again[5]["twice"] == 10).all()


def test_samples_that_are_drawn_anew_in_each_epoch_are_refused():
    varying = feedline.sequence_dataset(drawn, size=9, seeded=True)
    assert varying.varies_by_epoch
    with pytest.raises(feedline.UsageError, match="let one function do both"):
        feedline.map(varying, dict)


def test_another_sequence_is_refused_by_name():
    with pytest.raises(TypeError, match="dataset is 'list'.*sequence_dataset takes"):
        feedline.map([1, 2], dict)
