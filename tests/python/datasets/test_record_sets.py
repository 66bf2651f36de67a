"""MDS, LitData and LMDB as their own writers write them, through feedline.

The sets of tests/fixtures are read without their packages; the others skip without them.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feedline

FIXTURES = Path(__file__).parents[2] / "fixtures"


def seen(data: Any, field: str, **options: Any) -> list[int]:
    loader = feedline.Loader(data, feedline.shuffle(seed=1), batch_size=4, readers=3, **options)
    return sorted(int(x) for batch in loader.epoch(0) for x in batch[field].numpy())


needs_fixtures = pytest.mark.skipif(
    not FIXTURES.is_dir(), reason="tests/fixtures is not beside these tests"
)


@needs_fixtures
@pytest.mark.parametrize("name", ["mds", "mds_zstd", "mds_gz"])
def test_a_set_of_mds(name: str) -> None:
    data = feedline.open_mds(FIXTURES / name, image=feedline.ImageOptions(height=2, width=2))
    assert len(data) == 11
    assert data[4]["tokens"].tolist() == [-4, -3, 0]
    assert data[4]["tokens_length"] == 2
    assert data[7]["digits"] == -7 * 10**12
    assert data[7]["png"].tolist() == (np.arange(12).reshape(2, 2, 3) + 7).tolist()
    assert seen(data, "n") == list(range(-2, 9))
    words = feedline.open_mds(
        FIXTURES / name,
        fields=["raw"],
        columns={"raw": feedline.ColumnOptions(dtype="uint16")},
    )
    assert words[1]["raw"].tolist() == [1 + 254 * 256]


@needs_fixtures
@pytest.mark.parametrize("name", ["litdata", "litdata_batch", "litdata_chunk"])
def test_a_set_of_litdata(name: str) -> None:
    data = feedline.open(FIXTURES / name)
    assert len(data) == 11
    assert data[3]["square"].tolist() == [[1.5, 1.5], [1.5, 1.5]]
    assert data[3]["box.of.1"] == -3
    assert seen(feedline.open_litdata(FIXTURES / name, fields=["n"]), "n") == list(range(-2, 9))


@needs_fixtures
def test_ragged_fields_of_sets_are_padded() -> None:
    documents = feedline.pad(feedline.open_litdata_ragged(FIXTURES / "litdata_tokens"), length=5)
    assert documents[3]["value"].tolist() == [30, 31, 32, 33, 0]
    words = feedline.pad(feedline.open_mds_ragged(FIXTURES / "mds", "tokens"), length=3)
    assert (len(words), words[4]["tokens"].tolist()) == (11, [-4, -3, 0])
    labels = feedline.pad(feedline.open_lmdb_ragged(FIXTURES / "lmdb" / "pairs.mdb", "label"))
    assert labels[2]["label"].tobytes().rstrip(b"\0") == b"www"


@needs_fixtures
def test_an_environment_of_lmdb() -> None:
    data = feedline.open_lmdb(
        FIXTURES / "lmdb" / "pairs.mdb",
        columns={"image": feedline.ColumnOptions(shape=[2, 2])},
    )
    assert data[2]["image"].tolist() == [[3, 3], [3, 3]]
    assert data[2]["label"][: data[2]["label_length"]].tobytes() == b"www"
    with pytest.raises(feedline.DatasetError, match="never unpickles"):
        feedline.open(FIXTURES / "lmdb" / "pickles.mdb")


def test_mds_as_its_package_reads_it(tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming", reason="mosaicml-streaming writes the shards")
    random = np.random.default_rng(3)
    columns = {"x": "ndarray", "y": "ndarray:float32:3", "s": "str", "i": "int16", "b": "bytes"}
    wanted = [
        {
            "x": random.integers(-9, 9, (i % 5 + 1, 3)).astype(np.int64),
            "y": random.random(3).astype(np.float32),
            "s": "é" * (i % 4),
            "i": np.int16(i - 100),
            "b": random.bytes(8),
        }
        for i in range(200)
    ]
    for compression in (None, "zstd:3", "bz2"):
        folder = tmp_path / str(compression)
        with streaming.MDSWriter(
            out=str(folder), columns=columns, compression=compression, size_limit=4000
        ) as writer:
            for sample in wanted:
                writer.write(sample)
        data = feedline.open(
            folder, pad={"x": feedline.PadOptions(length=5), "s": feedline.PadOptions(length=8)}
        )
        for i, sample in enumerate(wanted):
            got = data[i]
            assert np.array_equal(got["x"][: got["x_length"]], sample["x"])
            assert np.array_equal(got["y"], sample["y"])
            assert got["s"][: got["s_length"]].tobytes().decode() == sample["s"]
            assert got["i"] == sample["i"]
            assert got["b"].tobytes() == sample["b"]
        assert seen(feedline.open_mds(folder, fields=["i"]), "i") == list(range(-100, 100))


def test_lmdb_as_its_package_writes_it(tmp_path: Path) -> None:
    lmdb = pytest.importorskip("lmdb", reason="the package lmdb writes the environment")
    random = np.random.default_rng(4)
    wanted = {b"%06d" % i: random.bytes(int(random.integers(1, 9000))) for i in range(3000)}
    with lmdb.open(str(tmp_path), map_size=1 << 27) as environment:
        for part in range(3):  # pages are used again
            with environment.begin(write=True) as transaction:
                for key, value in wanted.items():
                    transaction.put(key, value[part:] if part < 2 else value)
                transaction.put(b"__keys__", pickle.dumps(list(wanted)))
    data = feedline.open(tmp_path)
    assert len(data) == len(wanted)
    for i, key in enumerate(sorted(wanted)):
        got = data[i]
        assert got["value"][: got["value_length"]].tobytes() == wanted[key]


def test_litdata_as_its_package_writes_it(tmp_path: Path) -> None:
    pytest.importorskip("litdata", reason="the package litdata writes the chunks")
    torch = pytest.importorskip("torch")
    from litdata.streaming.writer import BinaryWriter

    for level in (None, "batch", "chunk"):
        folder = tmp_path / str(level)
        how = {} if level is None else {"compression": "zstd", "compression_level": level}
        writer = BinaryWriter(str(folder), chunk_bytes=3000, **how)
        for i in range(150):
            writer[i] = {"t": torch.arange(i % 9 + 1) * i, "h": torch.full((2, 3), i).half()}
        writer.done()
        writer.merge()
        data = feedline.open(folder)
        assert len(data) == 150
        for i in range(150):
            got = data[i]
            assert got["t"][: got["t_length"]].tolist() == (np.arange(i % 9 + 1) * i).tolist()
            assert np.array_equal(got["h"], np.full((2, 3), i, np.float16))


def test_a_function_decodes_records_of_any_kind(tmp_path: Path) -> None:
    lmdb = pytest.importorskip("lmdb", reason="the package lmdb writes the environment")
    samples = [
        {"id": i, "text": "é" * (i % 4), "box": np.float32([i, -i]), "words": list(range(i % 3))}
        for i in range(1, 41)
    ]
    with lmdb.open(str(tmp_path / "set"), map_size=1 << 22) as env, env.begin(write=True) as of:
        for i, sample in enumerate(samples):
            of.put(b"%04d" % i, pickle.dumps(sample))
    with pytest.raises(feedline.DatasetError, match="never unpickles"):
        feedline.open_lmdb(tmp_path / "set")
    unpickle = feedline.RecordDecoder(pickle.loads, ragged={"words"})
    data = feedline.open_lmdb(tmp_path / "set", record=unpickle)
    assert [field.name for field in data.fields] == [
        "id", "text", "text_length", "box", "words", "words_length"
    ]  # fmt: skip
    loader = feedline.Loader(data, feedline.shuffle(seed=1), batch_size=8, readers=3)
    seen = {}
    for batch in loader.epoch(0):
        for i in range(len(batch["id"].numpy())):
            seen[int(batch["id"].numpy()[i])] = (
                bytes(batch["text"].numpy()[i][: batch["text_length"].numpy()[i]]).decode(),
                batch["box"].numpy()[i].tolist(),
                batch["words"].numpy()[i][: batch["words_length"].numpy()[i]].tolist(),
            )
    assert len(seen) == 40
    for sample in samples:
        expected = (sample["text"], sample["box"].tolist(), sample["words"])
        assert seen[sample["id"]] == expected


def test_a_function_of_records_that_fails_names_the_sample(tmp_path: Path) -> None:
    lmdb = pytest.importorskip("lmdb", reason="the package lmdb writes the environment")
    with lmdb.open(str(tmp_path / "set"), map_size=1 << 22) as env, env.begin(write=True) as of:
        for i in range(9):
            of.put(b"%d" % i, b"%d" % i)

    def decode(record: bytes) -> dict[str, object]:
        if record == b"3":
            raise feedline.DatasetError("is a three")
        if record == b"4":
            return {"x": 4.5}
        if record == b"5":
            return {}
        if record == b"6":
            raise KeyError("six")
        if record == b"8":
            return {"x": 8, "y": 5}
        return {"x": int(record)}

    data = feedline.open_lmdb(tmp_path / "set", record=feedline.RecordDecoder(decode))
    assert data[7]["x"] == 7
    with pytest.raises(feedline.DatasetError, match="sample 3.*is a three"):
        data[3]
    with pytest.raises(feedline.DatasetError, match="sample 4.*is float64.*first record has x"):
        data[4]
    with pytest.raises(feedline.DatasetError, match="sample 5.*no value of this field"):
        data[5]
    with pytest.raises(KeyError, match="six"):
        data[6]
    with pytest.raises(feedline.DatasetError, match="sample 8.*gives 'y', which it does not give"):
        data[8]
    with pytest.raises(feedline.DatasetError, match="no dict of fields, but int"):
        feedline.open_lmdb(tmp_path / "set", record=feedline.RecordDecoder(int))
