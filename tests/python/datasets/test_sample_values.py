"""The values of samples that Python makes: structures, types, text, padding."""

import array
import collections

import numpy as np
import pytest

import feedline


def fields(dataset):
    return {field.name: (field.dtype, field.shape) for field in dataset.fields}


def both_ways(read, size=4, **arguments):
    """A dataset on threads, and the same with a worker: they have the same values."""
    threads = feedline.sequence_dataset(read, size=size, **arguments)
    worker = feedline.sequence_dataset(
        read, size=size, workers=1, start_method="fork", **arguments
    )
    assert fields(threads) == fields(worker)
    ours, theirs = threads.read(range(size)), worker.read(range(size))
    for name in ours:
        assert ours[name].tobytes() == theirs[name].tobytes(), name
    return threads, ours


def test_structures_become_fields_with_dotted_names():
    Point = collections.namedtuple("Point", "x y")

    def read(index):
        return {
            "image": {"left": np.full((2, 2), index, np.uint8), "right": np.float32(index)},
            "boxes": (np.arange(3) + index, {"score": index * 0.5}),
            "at": Point(np.int16(index), np.int16(-index)),
            "numbers": (index, 2, 3),
        }

    dataset, values = both_ways(read)
    assert fields(dataset) == {
        "image.left": ("uint8", (2, 2)),
        "image.right": ("float32", ()),
        "boxes.0": ("int64", (3,)),
        "boxes.1.score": ("float64", ()),
        "at.x": ("int16", ()),
        "at.y": ("int16", ()),
        "numbers": ("int64", (3,)),
    }
    assert values["boxes.1.score"].tolist() == [0, 0.5, 1, 1.5]
    assert values["at.y"].tolist() == [0, -1, -2, -3]
    assert values["numbers"].tolist() == [[i, 2, 3] for i in range(4)]


def test_every_kind_of_value_keeps_its_bits():
    kinds = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d"]
    for kind in kinds:
        made = np.arange(24).reshape(4, 2, 3).astype(kind)
        for view in [made, np.asfortranarray(made), made[:, ::-1], made[:, :, 1:]]:
            _, values = both_ways(lambda i, view=view: {"x": view[i]})
            assert values["x"].dtype == made.dtype
            assert (values["x"] == view).all()
    plain = {
        "whole": lambda i: i - 2,
        "real": lambda i: i / 4,
        "truth": lambda i: i % 2 == 0,
        "scalar": lambda i: np.float32(i),
        "large": lambda i: 2**63 + i,
        "list": lambda i: [i, 1],
        "array": lambda i: array.array("h", [i, 1]),
        "view": lambda i: memoryview(np.array([i, 1], np.uint16)),
    }
    for name, read in plain.items():
        _, values = both_ways(lambda i, read=read: {"x": read(i)})
        assert (values["x"] == np.array([np.asarray(read(i)) for i in range(4)])).all(), name
        assert values["x"].dtype == np.asarray(read(0)).dtype, name


def test_tensors_and_images_are_values():
    torch = pytest.importorskip("torch")
    image = pytest.importorskip("PIL.Image")

    def read(index):
        return {
            "tensor": torch.full((2, 3), index, dtype=torch.float16),
            "turned": torch.arange(6).reshape(2, 3).t() + index,
            "image": image.new("RGB", (4, 5), (index, 2, 3)),
        }

    dataset, values = both_ways(read)
    assert fields(dataset) == {
        "tensor": ("float16", (2, 3)),
        "turned": ("int64", (3, 2)),
        "image": ("uint8", (5, 4, 3)),
    }
    assert (values["turned"][1] == np.arange(6).reshape(2, 3).T + 1).all()
    assert (values["image"][3, :, :, 0] == 3).all()

    def halves(index):
        return torch.full((2,), index + 0.5, dtype=torch.bfloat16)

    dataset = feedline.sequence_dataset(halves, size=4, names=["half"])
    (batch,) = feedline.Loader(dataset, batch_size=4).epoch(0)
    assert batch["half"].torch().equal(torch.stack([halves(i) for i in range(4)]))


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "LA", "I", "F", "I;16"])
def test_images_of_pillow_have_numpys_values_without_numpy(mode, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(1).integers(0, 256, (4, 5, 7, 3), dtype=np.uint8)
    images = [image.fromarray(each) for each in pixels]
    if mode == "I;16":
        images = [image.fromarray(each[..., 0].astype(np.uint16) * 257) for each in pixels]
    elif mode != "RGB":
        images = [each.convert(mode) for each in images]
    expected = np.array([np.asarray(each) for each in images])
    usual, taken = np.asarray, []

    def asarray(value, *arguments, **options):
        taken.append(value)
        return usual(value, *arguments, **options)

    monkeypatch.setattr(np, "asarray", asarray)
    dataset, values = both_ways(lambda i: {"image": images[i]})
    assert fields(dataset) == {"image": (str(expected.dtype), expected.shape[1:])}
    assert (values["image"] == expected).all()
    by_numpy = any(isinstance(value, image.Image) for value in taken)
    assert by_numpy == (expected.dtype != np.uint8)


def test_bytes_that_are_shown_otherwise_are_numpys():
    class Property:
        def __init__(self, **members):
            self.members = members

        @property
        def __array_interface__(self):
            return {"version": 3, "typestr": "|u1", "data": bytes(range(6))} | self.members

    for members in (
        {"shape": (2, 3)}, {"shape": (6,)}, {"shape": (2, 2)}, {"shape": (3,), "strides": (2,)},
        {"shape": (2, 2), "offset": 1}, {"shape": (3,), "typestr": "<i2"},
    ):  # fmt: skip
        shown = Property(**members)
        expected = np.asarray(shown)
        _, values = both_ways(lambda i, shown=shown: {"x": shown}, size=2)
        assert values["x"].dtype == expected.dtype
        assert (values["x"] == expected).all() and values["x"].shape[1:] == expected.shape
    for members in ({"shape": (2**40, 2**40)}, {"shape": (-1,)}, {}):
        with pytest.raises(Exception, match=".") as refused:
            np.asarray(Property(**members))
        with pytest.raises(refused.type):
            feedline.sequence_dataset(lambda i, m=members: {"x": Property(**m)}, size=2)


def test_text_bytes_and_arrays_of_any_length_are_padded():
    words = ["", "né", "three", "x"]

    def read(index):
        return {
            "text": words[index],
            "data": words[index].encode(),
            "tokens": np.arange(index, dtype=np.int32),
            "rows": np.ones((index, 2), np.float32),
        }

    pad = {"text": 6, "data": 5, "tokens": 3, "rows": 4}
    dataset, values = both_ways(read, pad=pad)
    assert fields(dataset) == {
        "text": ("uint8", (6,)),
        "text_length": ("int32", ()),
        "data": ("uint8", (5,)),
        "data_length": ("int32", ()),
        "tokens": ("int32", (3,)),
        "tokens_length": ("int32", ()),
        "rows": ("float32", (4, 2)),
        "rows_length": ("int32", ()),
    }
    lengths = values["text_length"]
    texts = [bytes(row[:n]).decode() for row, n in zip(values["text"], lengths)]
    assert texts == words
    assert values["tokens"].tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 2]]
    assert values["rows"].sum(axis=(1, 2)).tolist() == [0, 2, 4, 6]


def refusal_of(read, words, **arguments):
    with pytest.raises((feedline.UsageError, feedline.DatasetError), match=words):
        feedline.sequence_dataset(read, size=4, **arguments).read(range(4))


def test_what_is_no_value_is_refused_with_what_to_do():
    refusal_of(lambda i: {"x": "text"}, "'x' is a str.*pad={'x': 64}")
    refusal_of(lambda i: {"x": b"text"}, "'x' is a bytes.*pad={'x': 64}")
    refusal_of(lambda i: {"x": {"y": 1}, "x.y": 2}, "named 'x.y': rename one")
    refusal_of(lambda i: {"x": np.zeros(i + 1)}, "pad={'x': …}")
    refusal_of(lambda i: {"x": "abc"[:i]}, "length of the longest sample", pad={"x": 2})
    refusal_of(lambda i: {"x": 1}, "single number: only what has a length", pad={"x": 2})
    refusal_of(lambda i: {"x": 1}, "pad names 'y', but the values are 'x'", pad={"y": 2})
    refusal_of(lambda i: {"x": 1} if i < 2 else {"z": 1}, "it has no 'x'")
    refusal_of(lambda i: {"x": 1} if i < 2 else (1,), "a tuple instead of a dict")
    refusal_of(lambda i: (1, 2)[: 2 - i % 2], "1 values instead of 2", names=["a", "b"])
    refusal_of(lambda i: {"x": np.zeros(2, ">i4")}, "other byte order")
    refusal_of(lambda i: {"x": None}, "no element type 'object'")
    refusal_of(lambda i: {"x": np.datetime64("2020-01-01")}, "no element type")


def test_a_user_s_mapping_is_a_dict():
    class Sample(collections.UserDict):
        pass

    _, values = both_ways(lambda i: Sample(x=i, y={"z": Sample(w=i * 2)}))
    assert values["y.z.w"].tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("size", [65535, 65536, 65537, 65599, 65600, 150_528, 1_000_003])
def test_large_values_are_whole_wherever_their_rows_begin(workers, size):
    rows = np.random.default_rng(size).integers(0, 256, (7, size), np.uint8)
    arguments = {"size": 7, "workers": workers, "start_method": "fork", "seeded": False}
    whole = feedline.sequence_dataset(lambda i: {"x": rows[i]}, **arguments)
    for batch in feedline.Loader(whole, batch_size=7).epoch(0):
        assert (batch["x"].numpy() == rows).all()
    assert (whole.read([5, 0, 3])["x"] == rows[[5, 0, 3]]).all()
    lengths = [size, 0, 65536, 64, 65537 % size, 1, size]
    padded = feedline.sequence_dataset(
        lambda i: {"x": rows[i, : lengths[i]]}, pad={"x": size}, **arguments
    )
    for batch in feedline.Loader(padded, batch_size=7).epoch(0):
        for row, value, length in zip(batch["x"].numpy(), rows, batch["x_length"].numpy()):
            assert (row[:length] == value[:length]).all()
            assert not row[length:].any()
