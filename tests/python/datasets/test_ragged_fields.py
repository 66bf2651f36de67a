"""Samples that Python makes with several fields of varying length: padded, packed, one by one."""

import copy
import pickle

import numpy as np
import pytest

import feedline

TOKENS = [3, 0, 5, 1, 4, 2, 6, 0, 1]
BOXES = [1, 2, 0, 0, 3, 1, 0, 0, 2]
LENGTHS = {"token": TOKENS, "box": BOXES}
WORKERS = [{}, {"workers": 2, "start_method": "fork"}]


class Scenes:
    """Sample i has TOKENS[i] tokens and BOXES[i] boxes that spell it, and a label."""

    def __init__(self):
        self.made = 0

    def __len__(self):
        return len(TOKENS)

    def __getitem__(self, index):
        self.made += 1
        return {
            "token": np.arange(TOKENS[index], dtype=np.int32) + 10 * index,
            "label": np.array([index, -index], np.int16),
            "box": np.full((BOXES[index], 4), index, np.float32),
        }


def tokens(sample):
    return [10 * sample + place for place in range(TOKENS[sample])]


@pytest.mark.parametrize("options", WORKERS)
def test_each_field_is_padded_to_its_own_length(options):
    scenes = feedline.ragged_sequence_dataset(Scenes(), LENGTHS, **options)
    rows = scenes.pad({"token": 8}, value={"token": -1})
    assert [(each.name, list(each.shape)) for each in rows.fields] == [
        ("token", [8]), ("token_length", []), ("label", [2]), ("box", [3, 4]), ("box_length", []),
    ]  # fmt: skip
    loader = feedline.Loader(rows, feedline.shuffle(seed=1), batch_size=4)
    seen = []
    for batch in loader.epoch(0):
        for row, sample in enumerate(batch["label"].numpy()[:, 0].tolist()):
            seen.append(sample)
            expected = tokens(sample) + [-1] * (8 - TOKENS[sample])
            assert batch["token"].numpy()[row].tolist() == expected
            assert batch["token_length"].numpy()[row] == TOKENS[sample]
            boxes = batch["box"].numpy()[row]
            assert batch["box_length"].numpy()[row] == BOXES[sample]
            assert (boxes[: BOXES[sample]] == sample).all() and not boxes[BOXES[sample] :].any()
    assert sorted(seen) == list(range(9))


def unpacked(batch):
    """The samples of a packed batch: label, tokens, boxes."""
    found = []
    for row in range(batch.size):
        count = batch["token_count"].numpy()[row]
        assert batch["box_count"].numpy()[row] == count
        at = {name: batch[f"{name}_offsets"].numpy()[row] for name in ("token", "box")}
        for k in range(count):
            token = batch["token"].numpy()[row][at["token"][k] : at["token"][k + 1]]
            box = batch["box"].numpy()[row][at["box"][k] : at["box"][k + 1]]
            label = batch["label"].numpy()[row][k]
            assert label[1] == -label[0] and (box == label[0]).all()
            found.append((int(label[0]), token.tolist(), len(box)))
        for name, ends in at.items():
            assert (ends[count:] == ends[count]).all()
            assert (batch[name].numpy()[row][ends[count] :] == 7).all()
        assert not batch["label"].numpy()[row][count:].any()
    return found


EVERY = [(sample, tokens(sample), BOXES[sample]) for sample in range(9)]


@pytest.mark.parametrize("options", WORKERS)
@pytest.mark.parametrize(
    ("capacity", "max_samples", "rows"),
    [({"token": 8, "box": 3}, 0, 4), ({"token": 100, "box": 3}, 0, 3), (9, 0, 3), (9, 2, 5)],
)
def test_a_sample_is_packed_where_all_its_fields_have_room(options, capacity, max_samples, rows):
    scenes = feedline.ragged_sequence_dataset(Scenes(), LENGTHS, **options)
    packed = scenes.pack(capacity, max_samples=max_samples, value=7)
    assert len(packed) == rows
    found = []
    for batch in feedline.Loader(packed, batch_size=3):
        found += unpacked(batch)
    assert found == EVERY
    shuffled = feedline.Loader(packed, feedline.shuffle(seed=3), batch_size=2)
    assert sorted(sum((unpacked(batch) for batch in shuffled.epoch(1)), [])) == EVERY


def test_a_sample_is_made_once_for_all_its_fields():
    scenes = Scenes()
    packed = feedline.ragged_sequence_dataset(scenes, LENGTHS).pack(9)
    scenes.made = 0
    packed.read(range(len(packed)))
    assert scenes.made == 9
    scenes.made = 0
    told = feedline.ragged_sequence_dataset(scenes, {"token": None, "box": BOXES})
    assert scenes.made == 9 + 2  # sample 0 tells the fields, here and in sequence_dataset
    assert [told["token"].length(i) for i in range(9)] == TOKENS


def test_one_field_is_a_ragged_dataset_for_orders_and_rows():
    scenes = feedline.ragged_sequence_dataset(Scenes(), LENGTHS)
    assert list(scenes) == ["token", "box"] and "label" not in scenes and len(scenes) == 9
    assert (scenes["box"].element.name, scenes["box"].element.shape) == ("box", (4,))
    alone = feedline.pack(scenes["token"], capacity=6, longer="split").read([0])
    assert alone["token"][0].tolist() == [0, 1, 2, 0, 0, 0]
    order = feedline.bucket_by_length(scenes["token"], seed=1, buckets=3)
    loader = feedline.Loader(scenes.pad(), order, batch_size=3)
    labels = [label for batch in loader for label in batch["label"].numpy()[:, 0].tolist()]
    assert sorted(labels) == list(range(9))


def test_longer_samples_are_refused_or_cut():
    scenes = feedline.ragged_sequence_dataset(Scenes(), LENGTHS)
    cut = scenes.pad({"token": 2}, longer="truncate").read([2, 1])
    assert cut["token"].tolist() == [[20, 21], [0, 0]] and cut["token_length"].tolist() == [2, 0]
    with pytest.raises(feedline.DatasetError, match="has 3 elements, more than the 2") as refusal:
        scenes.pad({"token": 2})
    assert (refusal.value.sample, refusal.value.field) == (0, "token")
    with pytest.raises(feedline.DatasetError, match="6 elements.*of capacity: raise") as refusal:
        scenes.pack({"token": 5, "box": 3})
    assert refusal.value.sample == 6


@pytest.mark.parametrize("options", WORKERS)
def test_a_sample_of_another_length_is_named_with_its_row(options):
    wrong = feedline.ragged_sequence_dataset(
        Scenes(), {"token": [*TOKENS[:4], 3, *TOKENS[5:]], "box": BOXES}, **options
    )
    with pytest.raises(feedline.DatasetError, match="has 4 elements, and lengths says 3.*sample 4"):
        wrong.pack(9).read([0, 1])
    with pytest.raises(feedline.DatasetError, match="has 4 elements") as refusal:
        wrong.pad().read([3, 4])
    assert refusal.value.sample == 4


@pytest.mark.parametrize("action", ["skip", "substitute"])
def test_an_error_policy_applies_to_a_row(action):
    class Damaged(Scenes):
        def __getitem__(self, index):
            if index == 4:
                raise feedline.DatasetError("damaged")
            return super().__getitem__(index)

    packed = feedline.ragged_sequence_dataset(Damaged(), LENGTHS).pack(9, value=7)
    policy = feedline.ErrorPolicy(action=action, max_share=0.5)
    loader = feedline.Loader(packed, batch_size=1, errors=policy)
    found = sum((unpacked(batch) for batch in loader), [])
    assert 4 not in [sample for sample, _, _ in found]
    assert loader.failures().first[0].sample == 1  # the row


def test_a_run_with_packed_fields_resumes():
    def make():
        packed = feedline.ragged_sequence_dataset(Scenes(), LENGTHS).pack(6, value=7)
        return feedline.Loader(packed, feedline.shuffle(seed=5), batch_size=1)

    whole = make()
    rows = [unpacked(batch) for batch in whole.epoch(0)]
    first = make()
    loop = iter(first)
    assert [unpacked(next(loop)) for _ in range(2)] == rows[:2]
    second = make()
    second.load_state_dict(first.state_dict())
    assert [unpacked(batch) for batch in second] == rows[2:]


def test_they_can_be_pickled_and_composed():
    scenes = feedline.ragged_sequence_dataset(Scenes(), LENGTHS)
    for each in (pickle.loads(pickle.dumps(scenes)), copy.deepcopy(scenes)):
        assert each.pad().read([3])["token_length"].tolist() == [1]
    packed = pickle.loads(pickle.dumps(scenes.pack(9, value=7)))
    assert packed.read([0])["box_offsets"][0].tolist()[:4] == [0, 1, 3, 3]
    assert pickle.loads(pickle.dumps(scenes["box"])).length(4) == 3
    chosen = feedline.select(scenes.pad(), ["label", "box"])
    assert chosen.read([2])["label"].tolist() == [[2, -2]]
    rank = feedline.Loader(scenes.pack(9), batch_size=1, shard=feedline.Shard(rank=1, world=2))
    assert len(list(rank)) == 2


@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        ({}, "lengths is empty"),
        ({"tokens": TOKENS}, "lengths names 'tokens', but the values are 'token', 'label', 'box'"),
        ({"token": TOKENS[1:]}, "has 8 numbers for 9 samples"),
        ({"token": TOKENS}, "sample 0 was box"),
        ({"token": [-1] * 9}, "whole numbers"),
        (None, "choose one by names=.*or say which are ragged"),
    ],
)
def test_what_is_no_ragged_dataset_is_refused(lengths, words):
    with pytest.raises((feedline.UsageError, feedline.DatasetError), match=words):
        feedline.ragged_sequence_dataset(Scenes(), lengths).pad().read(range(9))


def test_wrong_options_are_refused():
    scenes = feedline.ragged_sequence_dataset(Scenes(), LENGTHS)
    for make, words in [
        (lambda: scenes.pack({"token": 9}), "capacity has no 'box'"),
        (lambda: scenes.pack(0), "capacity of 'token' is 0"),
        (lambda: scenes.pack({"token": 9, "label": 3}), "capacity names 'label'"),
        (lambda: scenes.pad(longer="split"), "longer is 'split'"),
        (lambda: scenes.pad(value={"token": 0.5}), "not a value|no int32|0.5"),
    ]:
        with pytest.raises(feedline.UsageError, match=words):
            make()
    with pytest.raises(KeyError, match="no ragged field"):
        scenes["label"]
