"""Samples of varying length that Python makes: packed, padded, in order of length."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import feedline

LENGTHS = [3, 0, 5, 1, 4, 2, 6, 0, 1]
WORKERS = [{}, {"workers": 2, "start_method": "fork"}]


class Texts:
    """Sample i has LENGTHS[i] elements that spell it."""

    def __len__(self):
        return len(LENGTHS)

    def __getitem__(self, index):
        return {"token": np.arange(LENGTHS[index], dtype=np.int32) + 10 * index, "label": index}


def elements(sample):
    return [10 * sample + place for place in range(LENGTHS[sample])]


@pytest.mark.parametrize("options", WORKERS)
@pytest.mark.parametrize("lengths", [LENGTHS, np.array(LENGTHS), None])
def test_samples_of_a_sequence_are_packed(options, lengths):
    texts = feedline.ragged_sequence_dataset(Texts(), lengths, names=["token"], **options)
    assert [texts.length(i) for i in range(len(texts))] == LENGTHS
    assert (texts.element.name, str(texts.element.dtype)) == ("token", "int32")
    loader = feedline.Loader(feedline.pack(texts, capacity=6), batch_size=2)
    found = []
    for batch in loader:
        columns = [batch[name].numpy() for name in ("token", "token_count", "token_offsets")]
        for row, count, offsets in zip(*columns):
            found += [row[offsets[k] : offsets[k + 1]].tolist() for k in range(count)]
            assert not row[offsets[count] :].any()
    assert found == [elements(sample) for sample in range(len(LENGTHS))]


@pytest.mark.parametrize("options", WORKERS)
def test_samples_that_are_split_and_those_in_order_of_length_are_whole(options):
    texts = feedline.ragged_sequence_dataset(Texts(), LENGTHS, names=["token"], **options)
    rows = feedline.pack(texts, capacity=2, longer="split").read(range(12))
    filled = []
    for row, offsets in zip(rows["token"], rows["token_offsets"]):
        filled += row[: offsets[-1]].tolist()
    assert filled == sum(map(elements, range(len(LENGTHS))), [])

    order = feedline.bucket_by_length(texts, seed=1, buckets=3)
    padded = feedline.zip(
        [feedline.pad(texts, length=6, value=-1), feedline.sequence_dataset(range(9), names=["y"])]
    )
    seen = []
    for batch in feedline.Loader(padded, order, batch_size=3):
        columns = [batch[name].numpy() for name in ("token", "token_length", "y")]
        for row, length, y in zip(*columns):
            assert row.tolist() == elements(y) + [-1] * (6 - length)
            seen.append(y)
    assert sorted(seen) == list(range(9))


def test_text_is_its_bytes_and_arrays_have_rows():
    words = ["one", "", "drei €"]
    texts = feedline.ragged_sequence_dataset(words, names=["word"])
    assert [texts.length(i) for i in range(3)] == [3, 0, 8]
    rows = feedline.pad(texts).read([2, 0])
    assert bytes(rows["word"][0]) == "drei €".encode() and bytes(rows["word"][1][:3]) == b"one"
    boxes = feedline.ragged_sequence_dataset(
        lambda i: np.full((i, 4), i, np.float32), range(5), names=["box"], size=5
    )
    assert boxes.element.shape == (4,)
    assert feedline.pad(boxes).read([3])["box"][0].tolist() == [[3] * 4] * 3 + [[0] * 4]


@pytest.mark.parametrize("workers", [0, 3])
def test_an_automatic_number_of_readers_follows_the_workers(workers):
    texts = feedline.ragged_sequence_dataset(
        Texts(), LENGTHS, names=["token"], workers=workers, start_method="fork"
    )
    for rows in (feedline.pad(texts), feedline.pack(texts, capacity=6)):
        assert feedline.Loader(rows).plan().readers == (2 * workers or 1)
    coded = feedline.ragged_sequence_dataset(
        lambda i: bytes([i] * 4), [4] * 9, names=["x"], size=9, workers=3, start_method="fork"
    )
    decoded = feedline.decode(coded, feedline.decode_raw("uint8", [4]))
    assert decoded.read([5])["x"].tolist() == [[5] * 4]
    assert feedline.Loader(decoded).plan().readers == 6


@pytest.mark.parametrize("options", WORKERS)
@pytest.mark.parametrize(("told", "words"), [(4, "has 5 elements.* says 4"), (7, "says 7")])
def test_a_sample_of_another_length_is_named(options, told, words):
    lengths = LENGTHS[:2] + [told] + LENGTHS[3:]
    texts = feedline.ragged_sequence_dataset(Texts(), lengths, names=["token"], **options)
    with pytest.raises(feedline.DatasetError, match=words) as refusal:
        feedline.pad(texts, length=8).read([1, 2])
    assert refusal.value.sample == 2
    short = feedline.ragged_sequence_dataset(Texts(), [2] * 9, names=["token"], **options)
    with pytest.raises(feedline.DatasetError, match="room for token: int32.2.*longest sample"):
        feedline.pad(short).read([6])


@pytest.mark.parametrize("action", ["skip", "substitute"])
def test_an_error_policy_applies_to_a_packed_sample(action):
    def read(index):
        if index == 4:
            raise feedline.DatasetError("damaged")
        return {"token": np.full(3, index)}

    texts = feedline.ragged_sequence_dataset(read, [3] * 8, size=8)
    policy = feedline.ErrorPolicy(action=action, max_share=0.5)
    loader = feedline.Loader(feedline.pack(texts, capacity=6), batch_size=1, errors=policy)
    rows = [batch["token"].numpy()[0].tolist() for batch in loader]
    assert [4, 4, 4, 5, 5, 5] not in rows and len(rows) == (3 if action == "skip" else 4)
    assert loader.failures().first[0].sample == 2  # the row


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"names": None}, "values 'token', 'label': choose one by names="),
        ({"names": ["label"]}, "'label' of sample 0 is a int, which has no length"),
        ({"lengths": LENGTHS[1:]}, "lengths has 8 numbers for 9 samples"),
        ({"lengths": [-1] * 9}, "whole numbers, 0 or more"),
        ({"lengths": [1.5] * 9}, "whole numbers, 0 or more"),
        ({"seeded": True}, "seeded is for sequence_dataset"),
        ({"pad": {"token": 4}}, "pad is for sequence_dataset"),
    ],
)
def test_what_is_no_ragged_dataset_is_refused(arguments, words):
    with pytest.raises(feedline.UsageError, match=words):
        feedline.ragged_sequence_dataset(Texts(), **{"names": ["token"], **arguments})


def test_what_has_no_samples_is_refused():
    with pytest.raises(feedline.UsageError, match="no sample"):
        feedline.ragged_sequence_dataset([], names=["x"])
    with pytest.raises(feedline.UsageError, match="say size="):
        feedline.ragged_sequence_dataset(lambda index: "a", names=["x"])


def test_it_can_be_pickled():
    texts = feedline.ragged_sequence_dataset(Texts(), LENGTHS, names=["token"])
    rows = pickle.loads(pickle.dumps(feedline.pack(texts, capacity=6)))
    assert rows.read([0])["token"][0].tolist() == [0, 1, 2, 0, 0, 0]


def test_an_object_that_holds_a_ragged_dataset_of_itself_is_collected():
    class Own(Texts):
        def __init__(self):
            self.ragged = feedline.ragged_sequence_dataset(self, LENGTHS, names=["token"])
            self.loader = feedline.Loader(feedline.pad(self.ragged), batch_size=2)

    alive = weakref.ref(Own())
    gc.collect()
    assert alive() is None


def test_the_sampler_of_a_rank_has_the_order_of_all_ranks():
    lengths = np.arange(40) % 7
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    texts = feedline.make_ragged_dataset(
        feedline.make_memory_dataset({"text": np.zeros(offsets[-1], np.int32)}),
        feedline.make_memory_dataset({"offset": offsets}),
    )
    rows = feedline.pad(texts, length=8)
    order = feedline.bucket_by_length(texts, seed=3, buckets=2)
    ranks = [
        feedline.Loader(rows, order, batch_size=4, shard=feedline.Shard(rank=rank, world=2))
        for rank in range(2)
    ]
    batches = [batch.samples().tolist() for pair in zip(*ranks) for batch in pair]
    assert sum(batches, []) == list(ranks[0].sampler.order.indices(40, 0))


def test_a_plan_packs_several_fields_into_full_rows():
    lengths = [1 + i * i % 37 for i in range(500)]
    tokens, labels = (
        feedline.make_ragged_dataset(
            feedline.make_memory_dataset({name: np.arange(sum(lengths), dtype=np.int32)}),
            feedline.make_memory_dataset({"offset": np.concatenate([[0], np.cumsum(lengths)])}),
        )
        for name in ("token", "label")
    )
    rows = feedline.pack_together(
        [tokens, labels], capacity=128, seed=1, value=[-1, -2], positions=True, documents=True,
        mask="followed",
    )  # fmt: skip
    assert sum(lengths) > 0.98 * 128 * len(rows)
    seen = []
    loader = feedline.Loader(rows, feedline.shuffle(seed=2), batch_size=8)
    assert loader.plan().made_on_device == []  # the host's readers make them
    assert "reads staging memory" in loader.plan().made_note
    for batch in loader.epoch(0):
        each = {name: tensor.numpy() for name, tensor in batch.items()}
        for row in range(batch.size):
            token, document = each["token"][row], each["token_document"][row]
            at = each["token_offsets"][row]
            assert (each["label"][row][document >= 0] == token[document >= 0]).all()
            assert (token[document < 0] == -1).all()
            assert (each["label"][row][document < 0] == -2).all()
            for k in range(each["token_count"][row]):
                part = slice(at[k], at[k + 1])
                seen += token[part].tolist()
                assert (document[part] == k).all()
                count = at[k + 1] - at[k]
                assert each["token_position"][row][part].tolist() == list(range(count))
                assert each["token_mask"][row][part].tolist() == [1] * (count - 1) + [0]
    assert sorted(seen) == list(range(sum(lengths)))
    costs = feedline.packing_costs(rows)
    assert sum(costs) == sum(length**2 for length in lengths)
    order = feedline.bucket_by_length(costs, seed=1, buckets=4).bind(rows, 8)
    assert sorted(order.indices(len(rows), 0)) == list(range(len(rows)))
    with pytest.raises(feedline.UsageError, match="capacity has 3 values for 2 fields"):
        feedline.pack_together([tokens, labels], capacity=[1, 2, 3])
    with pytest.raises(feedline.UsageError, match="not the result of pack"):
        feedline.packing_costs(feedline.pad(tokens))
