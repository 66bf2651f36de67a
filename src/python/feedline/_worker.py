"""Worker processes of sequence_dataset: how they are started, what they run, how they end."""

import atexit
import gc
import importlib
import multiprocessing
import multiprocessing.process
import multiprocessing.util  # its own hook at exit runs after this module's
import pickle
import signal
import sys
import threading
import traceback
from multiprocessing import reduction

from ._errors import DatasetError, UsageError
from ._feedline import _end_workers, _WorkerSide

#: Longer pickles of exceptions are not sent, and longer texts cut: a message has 128 KiB.
MOST_BYTES = 40_000
MOST_LETTERS = 10_000

#: A worker of 'fork' imports nothing. If it is not ready then, it waits for a lock of a thread that
#: it does not have.
SECONDS_TO_BE_READY = 10
#: After SIGKILL.
SECONDS_TO_DIE = 5

atexit.register(_end_workers)


class Socket:
    """A descriptor that the new process gets, however it is started."""

    def __init__(self, number):
        self.number = number

    def __getstate__(self):
        return reduction.DupFd(self.number)

    def __setstate__(self, given):
        self.number = given.detach()


class WorkerTraceback(Exception):  # noqa: N818: as the standard library's, it only shows text
    """The cause of an exception that a worker raised: its traceback there, as text."""

    def __str__(self):
        return self.args[0]


class Starter:
    """Starts workers of one dataset."""

    def __init__(self, method, *arguments):
        known = multiprocessing.get_all_start_methods()
        if method not in known:
            names = ", ".join(repr(each) for each in known)
            raise UsageError(f"no start_method is called {method!r}; there are {names}")
        self.context = multiprocessing.get_context(method)
        self.method = method
        # Sample 0 was made here, so what makes samples has imported its modules.
        generators = [each for each in ("numpy.random", "torch") if each in sys.modules]
        self.arguments = (generators, *arguments)

    def __call__(self, number, sockets):
        """The worker's process. The connections' ends in `sockets` are duplicated for it."""
        forks = self.method == "fork"
        # The collector would run finalizers of objects that are the parent's, in a process that
        # has none of its threads. `run` tells it to leave them alone.
        collects = forks and gc.isenabled()
        process = self.context.Process(
            target=run,
            args=([Socket(each) for each in sockets], collects, *self.arguments),
            name=f"feedline worker {number}",
            daemon=True,
        )
        # Ctrl-C goes to all processes of a terminal: it is this one that handles it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        if collects:
            gc.disable()
        try:
            process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as refusal:
            if forks:
                raise
            raise UsageError(
                f"the samples cannot be sent to a worker process ({refusal}): define their class, "
                "or the function, at the top of a module, or use start_method='fork'"
            ) from refusal
        finally:
            if collects:
                gc.enable()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return Worker(process, SECONDS_TO_BE_READY if forks else None)


class Worker:
    """A worker's process, as its parent sees it."""

    def __init__(self, process, ready_within):
        self.process = process
        self.pid = process.pid
        self.ready_within = ready_within
        # One thread takes the exit code. A finalizer may run meanwhile and end another worker, so
        # each has its own lock; a signal's handler may end this one, in the same thread.
        self.ending = threading.RLock()

    def end(self, patience):
        """Ends it if it does not end by itself in time. Its exit code, or -signal, if known."""
        with self.ending:
            self.process.join(patience)
            if self.process.exitcode is None:
                self.process.kill()
                self.process.join(SECONDS_TO_DIE)
            return self.process.exitcode


def run(sockets, collects, generators, samples, is_function, structure, leaves, seed):
    """A worker's life."""
    gc.freeze()
    if collects:
        gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for module in generators:  # to be seeded before the first sample
        importlib.import_module(module)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # the other workers use the other cores
    if hasattr(samples, "begin_worker"):
        samples.begin_worker()
    get = samples if is_function else samples.__getitem__
    get_all = getattr(samples, "__getitems__", None)
    numbers = [each.number for each in sockets]
    side = _WorkerSide(numbers, get, get_all, structure, leaves, seed)
    work_ahead = getattr(samples, "work_ahead", None)
    while True:
        while work_ahead is not None and not side.has_message() and work_ahead():
            pass
        if not side.receive():
            return
        try:
            side.make()
        except BaseException as raised:  # noqa: BLE001: the other process raises it
            side.refuse(packed(raised))


def packed(raised):
    """What `raised` below takes."""
    text = "".join(traceback.format_exception(type(raised), raised, raised.__traceback__))
    words = f"{type(raised).__name__}: {raised}"
    try:
        exception = pickle.dumps(raised)
        pickle.loads(exception)
    except Exception:  # noqa: BLE001: an exception's own code may raise anything
        exception = b""
    if len(exception) > MOST_BYTES:
        exception = b""
    return pickle.dumps((exception, words[:MOST_LETTERS], text[-MOST_LETTERS:]))


def raised(data):
    """The exception that a worker raised, with its traceback as the cause."""
    exception, words, text = pickle.loads(data)
    try:
        made = pickle.loads(exception)
    except Exception:  # noqa: BLE001
        made = RuntimeError(words)
    if isinstance(made, DatasetError):
        made.args = (made.message,)  # the place is told by who raises it again
    cause = WorkerTraceback(f'\n"""\n{text}"""')
    last = made
    while last.__cause__ is not None:
        last = last.__cause__
    last.__cause__ = cause
    return made
