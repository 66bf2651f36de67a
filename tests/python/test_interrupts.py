"""KeyboardInterrupt, SystemExit and their like stay what they are on their way through C++."""

import asyncio

import pytest

import feedline

ENDING = [KeyboardInterrupt, SystemExit, asyncio.CancelledError]


class Raising:
    """Raises an exception at a sample."""

    def __init__(self, kind):
        self.kind, self.raises, self.calls = kind, True, 0

    def __call__(self, index):
        if index == 5:
            self.calls += 1
            if self.raises:
                raise self.kind("at 5")
        return {"y": index}


def raised_at(error):
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return frames[-1]


@pytest.mark.parametrize("kind", ENDING)
@pytest.mark.parametrize("readers", [0, 1, 3])
@pytest.mark.parametrize("batch_size", [1, 2, 20])
def test_a_loop_gets_what_a_read_raised_and_loses_nothing(kind, readers, batch_size):
    read = Raising(kind)
    data = feedline.sequence_dataset(read, size=20)
    loader = feedline.Loader(data, batch_size=batch_size, readers=readers, epochs=2)
    epoch = loader.epoch(0)
    taken = []
    with pytest.raises(kind, match="at 5") as failure:
        for batch in epoch:
            taken += batch["y"].numpy().tolist()
    read.raises = False
    assert type(failure.value) is kind
    assert raised_at(failure.value) == "__call__"
    assert loader.state().batch == 5 // batch_size
    while len(taken) < 20:  # that batch is read again, perhaps before `raises` was false
        try:
            for batch in epoch:
                taken += batch["y"].numpy().tolist()
        except kind:
            pass
    assert taken == list(range(20))
    assert [batch["y"].numpy().tolist()[0] for batch in loader.epoch(1)] == list(
        range(0, 20, batch_size)
    )


@pytest.mark.parametrize("readers", [0, 1])
def test_a_read_that_always_exits_does_so_at_every_step(readers):
    data = feedline.sequence_dataset(Raising(SystemExit), size=20)
    epoch = feedline.Loader(data, batch_size=4, readers=readers).epoch(0)
    next(epoch)
    for _ in range(3):
        with pytest.raises(SystemExit):
            next(epoch)


@pytest.mark.parametrize("kind", ENDING)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("errors", ["fail", "skip"])
def test_load_into_memory_raises_what_a_read_raised(kind, threads, errors):
    read = Raising(kind)
    data = feedline.sequence_dataset(read, size=20, concurrency="parallel")
    policy = feedline.ErrorPolicy(action=errors, max_share=1.0)
    with pytest.raises(kind, match="at 5"):
        feedline.load_into_memory(data, threads=threads, errors=policy)
    assert read.calls == 1


@pytest.mark.parametrize("kind", ENDING)
def test_a_dataset_raises_what_a_read_raised(kind):
    data = feedline.sequence_dataset(Raising(kind), size=20)
    with pytest.raises(kind):
        feedline.concatenate([data, data]).read([1, 5])
    with pytest.raises(kind):
        feedline.subset(data, [5])[0]


@pytest.mark.parametrize("readers", [0, 1])
def test_a_lack_of_memory_is_an_error_of_the_sample(readers):
    data = feedline.sequence_dataset(Raising(MemoryError), size=20)
    with pytest.raises(feedline.StageError) as failure:
        list(feedline.Loader(data, batch_size=2, readers=readers).epoch(0))
    cause = failure.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    assert isinstance(cause, MemoryError)


def test_an_exception_whose_text_fails_is_the_cause_all_the_same():
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    def read(index):
        if index == 1:
            raise Silent
        return {"y": index}

    with pytest.raises(feedline.StageError, match="Silent") as failure:
        list(feedline.Loader(feedline.sequence_dataset(read, size=4), batch_size=2).epoch(0))
    cause = failure.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    assert isinstance(cause, Silent)


CTRL_C = """
import os, signal, sys
import feedline

signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests' parent may ignore it
calls = 0

def read(index):
    global calls
    calls += index == 5
    if index == 5 and calls == 1:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    return {"y": index}

data = feedline.sequence_dataset(read, size=9)
what = sys.argv[1]
try:
    if what == "load_into_memory":
        feedline.load_into_memory(data)
    else:
        loader = feedline.Loader(data, batch_size=int(what), readers=0)
        epoch = loader.epoch(0)
        taken = []
        for batch in epoch:
            taken += batch["y"].numpy().tolist()
except Exception as error:
    print("swallowed", error)
except KeyboardInterrupt:
    print("interrupted")
    if what != "load_into_memory":
        for batch in epoch:
            taken += batch["y"].numpy().tolist()
        print(taken)
"""


@pytest.mark.parametrize("batch_size", [1, 3, 9])
def test_ctrl_c_in_a_read_of_the_loops_own_thread(run_python, batch_size):
    ran = run_python(CTRL_C, batch_size)
    assert ran.stdout == "interrupted\n[0, 1, 2, 3, 4, 5, 6, 7, 8]\n", ran.stderr


def test_ctrl_c_in_a_read_of_load_into_memory(run_python):
    ran = run_python(CTRL_C, "load_into_memory")
    assert ran.stdout == "interrupted\n", ran.stderr


def test_an_interrupt_in_one_call_is_none_in_another():
    """A read that a read makes ends on its own."""
    inner = feedline.sequence_dataset(Raising(SystemExit), size=9)

    def read(index):
        if index == 2:
            with pytest.raises(SystemExit):
                list(feedline.Loader(inner, batch_size=9, readers=0).epoch(0))
        return {"y": index}

    loader = feedline.Loader(feedline.sequence_dataset(read, size=4), batch_size=4, readers=0)
    assert [batch["y"].numpy().tolist() for batch in loader.epoch(0)] == [[0, 1, 2, 3]]
