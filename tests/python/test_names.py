"""Names and paths that are not UTF-8: Python has them with surrogate escapes, as its own paths."""

import os
import pickle

import numpy as np
import pytest

import feedline

LATIN = os.fsdecode("caf\xe9".encode("latin-1"))  # 'caf\udce9'


def test_fields_may_have_any_name():
    values = np.arange(6, dtype=np.uint8)
    dataset = feedline.make_memory_dataset({LATIN: values, "a": values, "a\0b": values + 1})
    assert [field.name for field in dataset.fields] == [LATIN, "a", "a\0b"]
    assert dataset.read([4])[LATIN] == [4] and dataset.read([4])["a\0b"] == [5]
    shown = r"caf\xe9"  # the library escapes what cannot be printed
    assert shown in repr(dataset) and shown in repr(dataset.fields[0])
    chosen = feedline.select(dataset, [LATIN, ("a\0b", "b")])
    scaled = feedline.FieldTransform(LATIN, to="float32", scale=2)
    assert scaled.field == LATIN and pickle.loads(pickle.dumps(scaled)) == scaled
    batch = next(feedline.Loader(chosen, batch_size=6, transforms=[scaled]).epoch(0))
    assert list(batch) == [LATIN, "b"] and LATIN in batch and shown in repr(batch)
    assert batch[LATIN].name == LATIN and shown in repr(batch[LATIN])
    assert batch.numpy()[LATIN].tolist() == [0, 2, 4, 6, 8, 10]
    assert batch.get(LATIN).shape == (6,)
    again = pickle.loads(pickle.dumps(dataset))
    assert (again.read(range(6))[LATIN] == values).all()


def test_classes_of_folders_may_have_any_name(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name in (LATIN, "tea"):
        (tmp_path / name).mkdir()
        image.new("RGB", (4, 4)).save(tmp_path / name / f"{LATIN}.png")
    how = feedline.ImageOptions(height=4, width=4)
    dataset, classes = feedline.open_image_folder(tmp_path, image=how)
    assert sorted(classes) == sorted([LATIN, "tea"]) and len(dataset) == 2
    assert feedline.expand_paths([tmp_path / LATIN]) == [str(tmp_path / LATIN)]


def test_errors_and_failures_name_any_path(tmp_path):
    (tmp_path / LATIN).mkdir()
    broken = tmp_path / LATIN / "x.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    good = pytest.importorskip("PIL.Image").new("RGB", (4, 4))
    good.save(tmp_path / LATIN / "a.png")
    how = feedline.ImageOptions(height=4, width=4)
    dataset, _ = feedline.open_image_folder(tmp_path, image=how)
    skipping = feedline.ErrorPolicy(action="skip", max_share=1)
    loader = feedline.Loader(dataset, batch_size=2, errors=skipping)
    assert sum(batch.size for batch in loader) == 1
    (failure,) = loader.failures().first
    assert failure.path == str(broken) and r"caf\xe9" in failure.message
    with pytest.raises(feedline.StageError) as raised:
        list(feedline.Loader(dataset, batch_size=2))
    assert raised.value.__cause__.path == str(broken)
