"""On a GPU: batches stay as they are until the work of other libraries on them is done."""

import numpy as np
import pytest

import feedline

pytestmark = pytest.mark.skipif(feedline.cuda_device_count() == 0, reason="there is no GPU")

SAMPLES = 4000
COLUMNS = 4096
CYCLES = 2_000_000  # a millisecond; the copy of a batch takes a tenth of it


@pytest.fixture
def loader():
    """Reads a batch in a fraction of the time that the loop's kernels take for one, so that it
    would overwrite batches in use if it did not wait."""
    rows = np.repeat(np.arange(SAMPLES, dtype=np.int32), COLUMNS).reshape(SAMPLES, COLUMNS)
    dataset = feedline.make_memory_dataset({"row": rows})
    with feedline.Loader(dataset, feedline.shuffle(seed=1), "cuda", batch_size=64) as made:
        yield made


def check(sums):
    """Each batch's largest and smallest values are the samples that it has."""
    assert len(sums) == -(-SAMPLES // 64)
    for samples, least, largest in sums:
        assert np.asarray(least).tolist() == samples
        assert np.asarray(largest).tolist() == samples


def test_a_slow_loop_of_pytorch_gets_whole_batches(loader):
    torch = pytest.importorskip("torch")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        found = []
        with torch.cuda.stream(stream):
            for batch in loader:
                row = batch["row"].torch()
                samples = batch.samples().tolist()
                del batch
                torch.cuda._sleep(CYCLES)
                found.append((samples, row.amin(1), row.amax(1)))
                del row
        stream.synchronize()
        check([(samples, least.cpu(), most.cpu()) for samples, least, most in found])


def test_a_slow_loop_of_cupy_gets_whole_batches(loader):
    cupy = pytest.importorskip("cupy")
    spin = cupy.RawKernel(
        'extern "C" __global__ void spin(long long cycles) {'
        " const long long began = clock64(); while (clock64() - began < cycles) {} }",
        "spin",
    )
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null):
        found = []
        with stream:
            for batch in loader.epoch(loader.next_epoch, stream):
                row = cupy.from_dlpack(batch["row"])
                samples = batch.samples().tolist()
                del batch
                spin((1,), (1,), (np.int64(CYCLES),))
                found.append((samples, row.min(axis=1), row.max(axis=1)))
                del row
        stream.synchronize()
        check([(samples, least.get(), most.get()) for samples, least, most in found])


def test_a_slow_loop_of_jax_gets_whole_batches(loader, monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")

    @jax.jit
    def extremes(row, matrix):
        # The products come first, and what they give, 0, is added to the rows.
        for _ in range(8):
            matrix = matrix @ matrix
        zero = matrix[0, 0].astype(row.dtype)
        return (row + zero).min(axis=1), (row + zero).max(axis=1)

    zeros = jax.numpy.zeros((4096, 4096), jax.numpy.float32)
    found = []
    for batch in loader:
        row = jax.dlpack.from_dlpack(batch["row"])
        samples = batch.samples().tolist()
        del batch
        found.append((samples, *extremes(row, zeros)))
        del row
    check(found)
