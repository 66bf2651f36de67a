"""JSON lines, CSV and files of arrays as json, csv, pandas and numpy write them."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feedline
from feedline import TableColumn, PadOptions


def rows(count: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    return [
        {
            "id": i - 3,
            "score": float(random.standard_normal()),
            "name": f'Zoë "{i}", line\nbreak' if i % 5 == 0 else f"n{i}",
            "ok": bool(i % 3),
            "kind": ["cat", "dog", "owl"][i % 3],
        }
        for i in range(count)
    ]


def text_of(sample: dict[str, np.ndarray], name: str) -> str:
    return sample[name][: sample[f"{name}_length"]].tobytes().decode()


def write_json(path: Path, values: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values))


def write_csv(path: Path, values: list[dict[str, Any]], **how: Any) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(values[0]), **how)
        writer.writeheader()
        writer.writerows(values)


def check_rows(data: feedline.Dataset, wanted: list[dict[str, Any]]) -> None:
    assert len(data) == len(wanted)
    for i, row in enumerate(wanted):
        got = data[i]
        assert got["id"] == row["id"]
        assert got["score"] == row["score"]
        assert got["ok"] == row["ok"]
        assert text_of(got, "name") == row["name"]
        assert text_of(got, "kind") == row["kind"]


def test_json_lines_are_as_json_reads_them(tmp_path: Path) -> None:
    wanted = rows(57)
    write_json(tmp_path / "a.jsonl", wanted[:30])
    write_json(tmp_path / "b.jsonl", wanted[30:])
    check_rows(feedline.open(tmp_path / "*.jsonl"), wanted)


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_csv_is_as_csv_reads_it(tmp_path: Path, separator: str) -> None:
    wanted = rows(57)
    write_csv(tmp_path / "a.csv", wanted, delimiter=separator)
    check_rows(feedline.open(tmp_path / "a.csv"), wanted)
    told = feedline.open_csv(tmp_path / "a.csv", separator=separator, header=True)
    check_rows(told, wanted)


def test_csv_is_as_pandas_reads_it(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(2)
    frame = pandas.DataFrame(random.standard_normal((200, 3)), columns=["x", "y", "z"])
    frame["n"] = random.integers(-(2**62), 2**62, 200)
    frame.to_csv(tmp_path / "a.csv")  # its index is a column without a name
    # Its usual parser rounds some numbers to a neighbour.
    back = pandas.read_csv(tmp_path / "a.csv", index_col=0, float_precision="round_trip")
    loader = feedline.Loader(feedline.open(tmp_path / "a.csv"), batch_size=64, device="cpu")
    for name in ("x", "y", "z", "n"):
        got = np.concatenate([batch[name].numpy() for batch in loader.epoch(0)])
        assert np.array_equal(got, back[name].to_numpy())


def test_labels_are_given_learnt_or_in_a_file(tmp_path: Path) -> None:
    wanted = rows(9)
    write_json(tmp_path / "a.jsonl", wanted)
    write_csv(tmp_path / "a.csv", wanted)
    (tmp_path / "names.txt").write_text("owl\ndog\ncat\n")
    for path in ("a.jsonl", "a.csv"):
        for labels, names in (
            (True, ["cat", "dog", "owl"]),
            (["owl", "cat", "dog"], ["owl", "cat", "dog"]),
            (tmp_path / "names.txt", ["owl", "dog", "cat"]),
        ):
            columns = {"kind": TableColumn(labels=labels, label_dtype=np.int64)}
            data = feedline.open(tmp_path / path, fields=["kind"], columns=columns)
            assert data.fields[0].classes == names
            assert [names[int(data[i]["kind"])] for i in range(9)] == [r["kind"] for r in wanted]


def test_labels_that_are_numbers_count_the_names(tmp_path: Path) -> None:
    wanted = [{"id": i, "label": i % 3} for i in range(9)]
    write_json(tmp_path / "a.jsonl", wanted)
    write_csv(tmp_path / "a.csv", wanted)
    for path in ("a.jsonl", "a.csv"):
        columns = {"label": TableColumn(labels=["owl", "cat", "dog"], label_dtype=np.int64)}
        data = feedline.open(tmp_path / path, fields=["label"], columns=columns)
        assert data.fields[0].classes == ["owl", "cat", "dog"]
        assert [int(data[i]["label"]) for i in range(9)] == [row["label"] for row in wanted]
        few = feedline.open(tmp_path / path, columns={"label": TableColumn(labels=["owl", "cat"])})
        with pytest.raises(feedline.DatasetError, match=r"is 2, which counts none of 2 classes"):
            few[2]


def test_a_state_refuses_labels_of_another_mapping(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", rows(40))

    def loader(names: list[str]) -> feedline.Loader:
        columns = {"kind": TableColumn(labels=names)}
        data = feedline.open(tmp_path / "a.csv", fields=["kind", "id"], columns=columns)
        return feedline.Loader(data, feedline.shuffle(seed=3), batch_size=8, readers=2)

    first = loader(["cat", "dog", "owl"])
    epoch = iter(first.epoch(0))
    next(epoch)
    state = first.state()
    rest = [batch["id"].numpy().tolist() for batch in epoch]
    with pytest.raises(feedline.UsageError, match="the dataset's fields"):
        loader(["dog", "cat", "owl"]).seek(state)
    again = loader(["cat", "dog", "owl"])
    again.seek(state)
    assert [batch["id"].numpy().tolist() for batch in again.epoch(0)] == rest


def test_shards_read_each_record_once(tmp_path: Path) -> None:
    write_json(tmp_path / "a.jsonl", rows(60))
    data = feedline.open(tmp_path / "a.jsonl", fields=["id"])
    ids: list[int] = []
    for rank in range(3):
        shard = feedline.Shard(rank=rank, world=3)
        loader = feedline.Loader(data, feedline.shuffle(seed=1), batch_size=5, shard=shard)
        ids += [int(x) for batch in loader.epoch(0) for x in batch["id"].numpy()]
    assert sorted(ids) == list(range(-3, 57))


def test_bad_records_are_replaced(tmp_path: Path) -> None:
    lines = [json.dumps({"x": i}) for i in range(40)]
    lines[33] = '{"x": 1.5}'
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    data = feedline.open_json_lines(tmp_path / "a.jsonl", looked_at=1)
    with pytest.raises(feedline.DatasetError, match="line 34: is 1.5, which int64 cannot hold"):
        data[33]
    policy = feedline.ErrorPolicy(action="skip", max_share=0.5)
    loader = feedline.Loader(data, batch_size=8, readers=2, errors=policy)
    xs = [int(x) for batch in loader.epoch(0) for x in batch["x"].numpy()]
    assert sorted(xs) == [i for i in range(40) if i != 33]


def test_columns_are_merged_and_texts_are_packed(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [{"label": i, "p0": i, "p1": 2 * i, "p2": 0} for i in range(5)])
    data = feedline.open_csv(
        tmp_path / "a.csv",
        merge={"pixels": ["p*"]},
        columns={"pixels": TableColumn(dtype=np.float32)},
    )
    assert data[3]["pixels"].tolist() == [3.0, 6.0, 0.0]
    write_json(tmp_path / "a.jsonl", rows(20))
    texts = feedline.open_json_lines_ragged(tmp_path / "a.jsonl", "name")
    assert len(texts) == 20
    assert len(feedline.pack(texts, capacity=64)) < 20


def test_ragged_texts_of_gzip_files_take_a_limit_of_memory(tmp_path: Path) -> None:
    write_json(tmp_path / "a.jsonl", rows(20))
    write_csv(tmp_path / "a.csv", rows(20))
    for name, reader in (
        ("a.jsonl", feedline.open_json_lines_ragged),
        ("a.csv", feedline.open_csv_ragged),
    ):
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        want = feedline.pad(reader(tmp_path / name, "name"), length=64).read(list(range(20)))
        texts = reader(packed, "name", max_host_cache_bytes=1)
        got = feedline.pad(texts, length=64).read(list(range(20)))
        assert all(np.array_equal(got[field], want[field]) for field in want)


@pytest.mark.usefixtures("archives")
def test_npz_and_safetensors_are_a_sample_each(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    samples = [
        {
            "x": random.random((1, 3 + i % 2, 4, 5 + i), dtype=np.float32),
            "points": np.asfortranarray(random.integers(0, 9, (2 + i, 3))),
            "y": np.int64(i),
        }
        for i in range(6)
    ]
    for save, folder in ((np.savez, "plain"), (np.savez_compressed, "compressed")):
        (tmp_path / folder).mkdir()
        for i, sample in enumerate(samples):
            save(tmp_path / folder / f"{i}.npz", **sample)
        check_arrays(feedline.open(tmp_path / folder), samples)
    safetensors = pytest.importorskip("safetensors.numpy")
    (tmp_path / "safe").mkdir()
    for i, sample in enumerate(samples):
        arrays = {name: np.ascontiguousarray(value) for name, value in sample.items()}
        arrays["y"] = arrays["y"].reshape(())
        safetensors.save_file(arrays, tmp_path / "safe" / f"{i}.safetensors")
    check_arrays(feedline.open(tmp_path / "safe"), samples)


def check_arrays(data: feedline.Dataset, samples: list[dict[str, Any]]) -> None:
    assert len(data) == len(samples)
    for i, sample in enumerate(samples):
        got = data[i]
        assert got["y"] == sample["y"]
        assert got["x_shape"].tolist() == list(sample["x"].shape)
        assert np.array_equal(got["x"][: got["x_length"]], sample["x"].ravel())
        assert got["points"][: got["points_length"]].tolist() == sample["points"].tolist()


def test_options_that_say_nothing_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    with pytest.raises(feedline.UsageError, match="columns is for tables"):
        feedline.open(tmp_path / "a.npy", columns={"a": TableColumn()})
    write_csv(tmp_path / "a.csv", rows(3))
    with pytest.raises(feedline.UsageError, match="takes one byte"):
        feedline.open_csv(tmp_path / "a.csv", separator="::")
    padded = feedline.open(tmp_path / "a.csv", fields=["name"], pad={"name": PadOptions(length=64)})
    assert padded.fields[0].shape == (64,)


def test_lists_of_files_have_labels(tmp_path: Path) -> None:
    for i in range(3):
        np.save(tmp_path / f"{i}.npy", np.arange(4) + i)
    (tmp_path / "train.txt").write_text("0.npy cat\n2.npy dog\n1.npy cat\n")
    data = feedline.open(tmp_path / "train.txt")
    assert data.fields[-1].classes == ["cat", "dog"]
    assert [int(data[i]["label"]) for i in range(3)] == [0, 1, 0]
    assert data[1]["array"].tolist() == [2, 3, 4, 5]


def test_gzip_tables_are_read_in_any_order(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"id": i, "text": "x" * (i % 9)}) + "\n" for i in range(300))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    data = feedline.open(tmp_path / "a.jsonl.gz", fields=["id"])
    assert len(data) == 300
    loader = feedline.Loader(data, feedline.shuffle(seed=1), batch_size=8, readers=3)
    seen = [i for batch in loader.epoch(0) for i in batch["id"].numpy().tolist()]
    assert sorted(seen) == list(range(300))
    again = feedline.open_json_lines(tmp_path / "a.jsonl.gz", max_host_cache_bytes=1)
    assert again[299]["id"] == 299


def test_indexes_of_tables_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "a.jsonl").write_text('{"x": 1, "t": "ab"}\n{"x": 2, "t": "c"}\n')
    (tmp_path / "a.csv").write_text('x,t\n1,"a\nb"\n2,c\n')
    for _ in range(2):
        lines = feedline.open_json_lines(tmp_path / "a.jsonl", index_folder=kept)
        cells = feedline.open_csv(tmp_path / "a.csv", index_folder=kept)
        assert [lines[1]["x"], cells[1]["x"]] == [2, 2]
        assert len(list(kept.iterdir())) == 2
    written = {path: path.read_bytes() for path in kept.iterdir()}
    ragged = feedline.open_json_lines_ragged(
        tmp_path / "a.jsonl", "t", index_folder=kept, max_host_cache_bytes=1 << 20
    )
    assert len(ragged) == 2
    assert len(feedline.open_csv_ragged(tmp_path / "a.csv", "t", index_folder=kept)) == 2
    assert written == {path: path.read_bytes() for path in kept.iterdir()}
