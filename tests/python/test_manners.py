"""What people see: signatures, help, reprs, errors that name the argument, tables, pickles."""

import copy
import datetime
import inspect
import pickle
import pydoc
import tarfile
from pathlib import Path

import numpy as np
import pytest

import feedline


@pytest.fixture
def loader(numbered):
    kept = feedline.ExpertOptions(trace_events=100)
    return feedline.Loader(numbered, feedline.shuffle(seed=3), batch_size=64, expert=kept)


def public():
    for name, value in vars(feedline).items():
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("feedline"):
            yield name, value


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: feedline.ErrorPolicy(retires=1), "ErrorPolicy: there is no option 'retires'; "),
        (lambda: feedline.ErrorPolicy(x=1), "ErrorPolicy: there is no option 'x'. There are"),
        (lambda: feedline.ErrorPolicy(retries="two"), "ErrorPolicy: retries is 'two', of type str"),
        (lambda: feedline.ErrorPolicy(action=1), "ErrorPolicy: action is 1, of type int; it "),
        (lambda: feedline.Shard(1), "Shard: too many positional arguments"),
        (lambda: feedline.Shard(rank=2**40), f"Shard: rank is {2**40}, which is out of its range"),
        (lambda: feedline.weighted([1.0], sed=1), "weighted: there is no option 'sed'; did you"),
        (lambda: feedline.weighted(), "weighted: missing a required argument: 'weights'"),
        (lambda: feedline.open("a", fields="b"), "open: fields is 'b', of type str; it takes "),
        (lambda: feedline.shuffle(seed=-1), "shuffle: seed is -1, which is out of its range"),
        (lambda: feedline.FieldTransform("a", crop=3), "FieldTransform: crop is 3, of type int"),
        (lambda: feedline.Loader([1]), "Loader: dataset is a list: make a feedline.Dataset of it"),
        (lambda: feedline.Loader(None, batchsize=1), "Loader: there is no option 'batchsize'"),
    ],
)
def test_a_type_error_names_the_wrong_argument_first(call, text):
    with pytest.raises(TypeError) as refused:
        call()
    assert str(refused.value).startswith(text)


def test_an_error_of_the_programs_own_stays_what_it_is():
    def read(index):
        raise TypeError("my own")

    with pytest.raises(TypeError, match="^my own$"):
        feedline.sequence_dataset(read, size=3)


def test_all_functions_and_classes_of_options_have_signatures():
    seen = 0
    for name, value in public():
        is_options = isinstance(value, type) and hasattr(value, "__signature__")
        if is_options or inspect.isfunction(value):
            signature = inspect.signature(value)
            assert "unknown" not in signature.parameters
            seen += len(signature.parameters)
    assert seen > 100
    options = inspect.signature(feedline.ErrorPolicy).parameters
    assert options["max_share"].default == 0.05
    assert options["max_pause"].default == datetime.timedelta(seconds=10)
    assert inspect.signature(feedline.Loader.epoch).parameters["stream"].default is None


@pytest.mark.parametrize(
    "name",
    ["Loader", "ErrorPolicy", "FieldTransform", "MemoryLimits", "ExpertOptions", "Mixing"]
    + ["ImageCrop", "RandomResizedCrop", "ColorJitter", "ImageOptions", "CropRanges"]
    + ["TuningBudget", "RandomAffine", "TrivialAugmentWide", "RandAugment", "RandomErasing"]
    + ["AutoAugment", "AugMix", "RandomPerspective", "GaussianBlur"]
    + ["RandomGrayscale", "RandomInvert", "RandomPosterize", "RandomSolarize"]
    + ["RandomAutocontrast", "RandomEqualize", "RandomAdjustSharpness"],
)
def test_help_explains_every_option(name):
    kind = getattr(feedline, name)
    text = pydoc.render_doc(kind, renderer=pydoc.plaintext)
    for option in inspect.signature(kind).parameters:
        assert f"{option}: " in inspect.getdoc(kind), option
        assert f"{option}: " in text, option


def test_every_object_has_a_repr(loader, numbered):
    batch = next(loader.epoch(0))
    assert repr(batch) == (
        "<feedline.Batch 0 of epoch 0: 64 samples, row: int64[64, 2, 4], label: int32[64]>"
    )
    shown = [loader, loader.plan(), loader.statistics(), loader.statistics().reader, loader.state()]
    shown += [loader.failures(), loader.trace(), loader.sampler, numbered, numbered.fields[0]]
    shown += [batch, batch["row"], feedline.shuffle(seed=1), feedline.decode_raw("int8")]
    shown += [loader.epoch(1), feedline.Shard(), feedline.ImageOptions()]
    shown += [feedline.make_host_device()]
    for each in shown:
        assert "feedline." in repr(each) and " object at 0x" not in repr(each), type(each)


def test_the_repr_of_options_makes_them_again():
    crop = feedline.ImageCrop(height=3, width=4, random=False)
    for options in (
        feedline.Shard(rank=1, world=2),
        feedline.FieldTransform("x", to="float16", mean=[0.5], layout="hwc", crop=crop),
        feedline.FieldTransform("x", resized_crop=feedline.RandomResizedCrop(height=1, width=2)),
        feedline.ErrorPolicy(action="skip", max_pause=datetime.timedelta(seconds=2)),
        feedline.Mixing(image="x", label="y", mixup_alpha=0.5),
        feedline.ExpertOptions(staging_slots=7, tuning=feedline.TuningBudget(max_readers=3)),
        feedline.MemoryLimits(pinned=1 << 30),
        feedline.ImageOptions(height=3, width=4, layout="chw"),
    ):
        again = eval(repr(options), {"feedline": feedline, "datetime": datetime})
        assert again == options and repr(again) == repr(options)
        sent = pickle.loads(pickle.dumps(options))
        assert sent == options and hash(sent) == hash(options)
    assert feedline.Shard(rank=1, world=2) != feedline.Shard(rank=0, world=2)
    assert repr(feedline.FieldTransform("x", crop=crop)) == (
        "feedline.FieldTransform(field='x', "
        "crop=feedline.ImageCrop(height=3, width=4, random=False))"
    )


def test_notebooks_show_tables(loader):
    for batch in loader:
        pass
    plan = loader.plan()._repr_html_()
    assert "<td>batch_size</td><td>64</td>" in plan and "&lt;feedline.Field" in plan
    table = loader.statistics()._repr_html_()
    assert "<th>reader</th><th>transfer</th><th>consumer</th>" in table
    assert loader.statistics().judge().limit in table


def test_notebooks_complete_names_of_fields(loader):
    batch = next(loader.epoch(0))
    assert batch._ipython_key_completions_() == ["row", "label"]
    assert batch.get("row").name == "row"
    assert batch.get("no") is None and batch.get("no", 3) == 3 and batch.get(4, 5) == 5


def test_what_a_build_has_is_told():
    told = feedline.build_info()
    assert told["version"] == feedline.__version__
    assert isinstance(told["cuda"], bool) and isinstance(told["hdf5"], bool)
    assert told["compiler"] and told["build_type"]


# Pickling: DataLoader's workers, and processes that are spawned, can hold datasets


def content(dataset):
    return {name: values.tolist() for name, values in dataset.read(range(len(dataset))).items()}


class Squares:
    def __len__(self):
        return 7

    def __getitem__(self, index):
        return {"y": index * index}


@pytest.mark.usefixtures("archives")
def test_datasets_can_be_pickled(numbered, tmp_path, monkeypatch):
    np.savez(tmp_path / "digits.npz", x=np.arange(30).reshape(10, 3))
    monkeypatch.chdir(tmp_path)
    opened = feedline.open("digits.npz")
    part = feedline.subset(numbered, np.array([3, 1, 2]))
    made = [numbered, opened, part, feedline.concatenate([part, part])]
    made += feedline.random_split(numbered, [0.9, 0.1], seed=1)
    made += [feedline.select(numbered, [("row", "r")]), feedline.sequence_dataset(Squares())]
    made += [feedline.load_into_memory(opened)]
    raw = feedline.decode_raw("uint8", [4])
    with tarfile.open("shard.tar", "w") as shard:
        shard.add(__file__, "0.py")
    text = feedline.decode_raw("uint8", [Path(__file__).stat().st_size])
    made += [feedline.open_tar("shard.tar", [("text", ["py"], text)])]
    assert "feedline.decode_raw('uint8', [4])" in repr(raw)
    sent = pickle.dumps(made)
    monkeypatch.chdir("/")  # paths are absolute
    for again, dataset in zip(pickle.loads(sent), made):
        assert content(again) == content(dataset)
    assert copy.deepcopy(numbered) is numbered


def test_a_dataset_keeps_no_other_open_that_it_does_not_read(tmp_path, open_files):
    np.save(tmp_path / "x.npy", np.arange(30))
    before = open_files()
    loaded = feedline.load_into_memory(feedline.open_npy(tmp_path / "x.npy", "x"))
    assert open_files() == before
    (tmp_path / "x.npy").unlink()
    assert content(pickle.loads(pickle.dumps(loaded))) == {"x": list(range(30))}


def test_a_sampler_keeps_no_dataset_open(tmp_path, open_files):
    np.save(tmp_path / "x.npy", np.arange(30))
    before = open_files()
    parts = [feedline.open_npy(tmp_path / "x.npy", name) for name in "ab"]
    mixed = feedline.mixture([parts[0], parts[0]], [0.5, 0.5])
    del parts
    assert open_files() == before
    again = pickle.loads(pickle.dumps(mixed))
    assert (again.indices(60, 1) == mixed.indices(60, 1)).all()


def test_samplers_can_be_pickled_as_they_were_made(numbered):
    weights = np.arange(1, 1001, dtype=float)
    samplers = [feedline.shuffle(seed=3), feedline.sequential(), feedline.weighted(weights)]
    samplers += [feedline.take(samplers[0], 0.5), feedline.explicit_order([3, 1, 2])]
    sent = pickle.dumps(samplers)
    weights[:] = 1  # later changes do not reach it
    assert pickle.dumps(samplers[2]) == pickle.dumps(pickle.loads(sent)[2])
    for again, sampler in zip(pickle.loads(sent), samplers):
        assert (again.indices(1000, 2) == sampler.indices(1000, 2)).all()
    assert repr(pickle.loads(sent)[0]) == "<feedline.Sampler of feedline.shuffle(seed=3)>"


def test_what_belongs_to_a_process_refuses_to_be_pickled(loader):
    epoch = loader.epoch(0)
    batch = next(epoch)
    for held, advice in (
        (loader, "pickle its dataset and state_dict"),
        (epoch, "state_dict"),
        (batch, "numpy.array"),
        (batch["row"], "numpy.array"),
        (feedline.make_host_device(), "make it in the other process"),
    ):
        with pytest.raises(TypeError, match=f"cannot be pickled: .*{advice}"):
            pickle.dumps(held)
        with pytest.raises(TypeError, match="cannot be pickled"):
            copy.copy(held)


# bfloat16


def test_bfloat16_becomes_an_array_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.arange(12).reshape(4, 3).astype(ml_dtypes.bfloat16)
    dataset = feedline.make_memory_dataset({"x": values})
    assert dataset.read([1, 3])["x"].dtype == ml_dtypes.bfloat16
    batch = next(feedline.Loader(dataset, batch_size=4).epoch(0))
    array = batch["x"].numpy()
    assert array.dtype == ml_dtypes.bfloat16 and (array == values).all()
    assert (np.asarray(batch["x"]) == values).all()
    array[1, 1] = 100
    assert batch["x"].numpy()[1, 1] == 100
    del batch
    assert array[1, 1] == 100  # it holds the memory


def test_bfloat16_comes_from_pytorch_and_goes_to_it():
    torch = pytest.importorskip("torch")
    values = torch.arange(12, dtype=torch.bfloat16).reshape(3, 4).T
    dataset = feedline.make_memory_dataset({"x": values})
    assert str(dataset.fields[0].dtype) == "bfloat16"
    batch = next(feedline.Loader(dataset, batch_size=4).epoch(0))
    assert batch["x"].torch().dtype == torch.bfloat16
    assert torch.equal(batch["x"].torch(), values)
    made = feedline.sequence_dataset(lambda i: {"x": values[i]}, size=4)
    assert torch.equal(next(feedline.Loader(made, batch_size=4).epoch(0))["x"].torch(), values)


def test_types_of_pytorch_name_elements():
    torch = pytest.importorskip("torch")
    for spelled, name in ((torch.half, "float16"), (torch.long, "int64"), (torch.bool, "bool")):
        assert feedline.Field("x", spelled).dtype == name
    with pytest.raises(feedline.UsageError, match="no element type 'complex64'"):
        feedline.Field("x", torch.complex64)
