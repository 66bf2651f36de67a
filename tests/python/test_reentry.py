"""What Python code may ask of a loader while the same thread takes a batch from it."""

import pytest

# Each program may hang, so it runs in a process of its own. `ask(loader)` is called by a read, by
# a signal's handler that runs in a read, or by a finalizer.
PROGRAM = """
import gc, os, signal, sys
import feedline

asked, readers, question = sys.argv[1], int(sys.argv[2]), sys.argv[3]
answers = []

def ask():
    try:
        answers.append(eval(question))
    except feedline.UsageError as refusal:
        answers.append(str(refusal))

class Finalizer:
    def __del__(self):
        ask()

def read(index):
    if index == 3 and loader is not None and not answers:
        if asked == "read":
            ask()
        elif asked == "handler":
            os.kill(os.getpid(), signal.SIGUSR1)
            while not answers:
                pass
        else:
            one = [Finalizer()]
            one.append(one)
            del one
            gc.collect()
    return {"y": index}

signal.signal(signal.SIGUSR1, lambda *_: ask())
loader = None
loader = feedline.Loader(feedline.sequence_dataset(read, size=8), batch_size=2, readers=readers)
epoch = loader.epoch(0)
try:
    count = sum(1 for _ in epoch)
except feedline.UsageError as refusal:
    count = str(refusal)
while not answers:
    pass  # a reader's answer may come later than the loop's end
print(answers[0])
print(count)
"""


@pytest.mark.parametrize("asked", ["read", "handler", "finalizer"])
@pytest.mark.parametrize(
    "question, answer",
    [
        ("len(loader)", "4"),
        ("loader.plan().batch_size", "2"),
        ("loader.state().batch", "1"),
        ("loader.failures().count", "0"),
        ("loader.statistics().consumer.batches", "1"),
        ("loader.order_digest() != 0", "True"),
        ("epoch.number", "0"),
    ],
)
def test_questions_are_answered(run_python, asked, question, answer):
    ran = run_python(PROGRAM, asked, 0, question)
    assert (ran.stdout.split(), ran.returncode) == ([answer, "4"], 0), ran.stderr


@pytest.mark.parametrize("asked", ["read", "handler", "finalizer"])
@pytest.mark.parametrize(
    "question, call",
    [
        ("next(epoch)", "Epoch.next"),
        ("epoch.next(timeout=0)", "Epoch.next"),
        ("loader.epoch(0)", "Loader.epoch"),
        ("next(iter(loader))", "Loader.epoch"),
        ("loader.seek(loader.state())", "Loader.seek"),
    ],
)
def test_what_would_take_from_the_middle_of_a_step_is_refused(run_python, asked, question, call):
    ran = run_python(PROGRAM, asked, 0, question)
    words, count = ran.stdout.splitlines()
    assert words.startswith(
        f"{call} was called while this thread takes a batch from the same loader: by a dataset's "
        "function, a signal's handler or a finalizer. Call it after the batch has come"
    )
    assert (count, ran.returncode) == ("4", 0), ran.stderr


@pytest.mark.parametrize("question", ["len(loader)", "loader.state().epoch + 4"])
def test_a_reader_of_its_own_thread_is_answered(run_python, question):
    ran = run_python(PROGRAM, "read", 1, question)  # while the loop waits for this very read
    assert (ran.stdout.split(), ran.returncode) == (["4", "4"], 0), ran.stderr


@pytest.mark.parametrize("asked", ["read", "finalizer"])
@pytest.mark.parametrize("readers", [0, 1])
def test_a_read_may_close_its_loader(run_python, asked, readers):
    ran = run_python(PROGRAM, asked, readers, "loader.close()")
    assert ran.stdout.splitlines() == [
        "None",
        "the loader is closed, and epoch 0 had not ended: take all batches that you need before "
        "Loader.close()",
    ], ran.stderr
    assert (ran.stderr, ran.returncode) == ("", 0)


@pytest.mark.parametrize("asked", ["read", "handler", "finalizer"])
def test_a_read_may_stop_its_loader(run_python, asked):
    ran = run_python(PROGRAM, asked, 0, "loader.stop()")
    assert (ran.stdout.split(), ran.returncode) == (["None", "1"], 0), ran.stderr


KEPT_IN_A_CYCLE = """
import gc, sys
import feedline

collected = []

def read(index):
    if collecting:
        collected.append(gc.collect())
    return {"y": index}

def fail():
    epoch = loader.epoch(0)
    next(epoch)
    try:
        raise ValueError
    except ValueError as error:
        kept = error  # error -> traceback -> frame -> error: the frame has the epoch

gc.disable()
collecting = False
data = feedline.sequence_dataset(read, size=8)
loader = feedline.Loader(data, batch_size=2, readers=int(sys.argv[1]))
fail()
collecting = True
for epoch in range(2):
    print([batch["y"].numpy().tolist() for batch in loader.epoch(epoch)])
print(collected[0] > 0)
"""


@pytest.mark.parametrize("readers", [0, 1])
def test_an_epoch_is_collected_in_the_middle_of_another_ones_step(run_python, readers):
    ran = run_python(KEPT_IN_A_CYCLE, readers)
    batches = "[[0, 1], [2, 3], [4, 5], [6, 7]]\n"
    assert (ran.stdout, ran.returncode) == (2 * batches + "True\n", 0), ran.stderr


DROPPED = """
import gc, os, sys, threading
import feedline

how, readers = sys.argv[1], int(sys.argv[2])
inside, go_on, dropped = (threading.Event() for _ in range(3))

def read(index):
    if index > 0:
        inside.set()
        go_on.wait()
        if how == "collected":
            gc.collect()
        else:
            held.clear()
        dropped.set()
    return {"y": index}

gc.disable()
data = feedline.sequence_dataset(read, size=4)
before = len(os.listdir("/proc/self/task"))  # NumPy has some
held = [feedline.Loader(data, batch_size=1, readers=readers)]
held.append(held[0].epoch(0))
if how == "collected":
    held.append(held)
    del held
inside.wait()
go_on.set()
assert dropped.wait(20)  # the read ends
gc.collect()  # and the collector still works
threads = before + 1
while threads > before:  # so do the threads
    threads = len(os.listdir("/proc/self/task"))
print("ended")
"""


@pytest.mark.parametrize("how", ["collected", "cleared"])
@pytest.mark.parametrize("readers", [1, 3])
def test_the_last_reference_to_a_loader_goes_in_its_own_reader(run_python, how, readers):
    ran = run_python(DROPPED, how, readers)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("ended\n", "", 0)
