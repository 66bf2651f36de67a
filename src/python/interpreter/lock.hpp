#pragma once

#include <chrono>
#include <utility>

#include <cxxabi.h>
#include <nanobind/nanobind.h>

namespace feedline::python {

namespace nb = nanobind;

/// Blocks this thread until the process ends. Python before 3.14 ends a thread that asks for the
/// interpreter's lock after the interpreter has begun to end: it unwinds the stack, which C++
/// answers by std::terminate, and destroys Python objects without the lock. Python 3.14 blocks the
/// thread instead; so does this function, for all versions.
[[noreturn]] void wait_for_exit() noexcept;

/// Whether this thread can get the interpreter's lock. It cannot after the interpreter has begun to
/// end, except in the thread that ends it.
[[nodiscard]] bool can_lock() noexcept;

/// Whether this thread is in a function that the library called, such as a dataset's: then it must
/// not wait for the end of such functions.
[[nodiscard]] bool in_library_call() noexcept;

/// Whether this is the process's first thread, which runs handlers of signals. Costs no call of the
/// system.
[[nodiscard]] bool is_first_thread();

/// The interpreter's lock, for a thread that may have it or not.
class interpreter_lock {
 public:
  interpreter_lock();
  interpreter_lock(const interpreter_lock&) = delete;
  interpreter_lock& operator=(const interpreter_lock&) = delete;
  ~interpreter_lock();

 private:
  PyGILState_STATE state_;
};

/// The opposite: gives the lock up, and takes it again at the end.
class interpreter_release {
 public:
  interpreter_release() noexcept : state_{PyEval_SaveThread()} {}
  interpreter_release(const interpreter_release&) = delete;
  interpreter_release& operator=(const interpreter_release&) = delete;
  ~interpreter_release();

 private:
  PyThreadState* state_;
};

/// Calls a function with the interpreter's lock, in a thread that the library works in. All of
/// Python that the library calls is called by this. Does not return if the interpreter ends.
template <class Function>
decltype(auto) locked(Function&& function) {
  const interpreter_lock lock;
  try {
    return std::forward<Function>(function)();
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {  // the thread was ended in Python code
    wait_for_exit();
#endif
  } catch (...) {
    throw;
  }
}

/// Calls a function without the interpreter's lock, so that other Python threads, and readers that
/// call Python, continue meanwhile.
template <class Function>
decltype(auto) unlocked(Function&& function) {
  const interpreter_release release;
  return std::forward<Function>(function)();
}

/// Waits without the interpreter's lock look this often whether a signal has come (Ctrl-C).
inline constexpr std::chrono::milliseconds until_signals{100};

/// Runs handlers of signals that have come, if this is the main thread.
/// @throws nb::python_error of a handler, such as KeyboardInterrupt.
inline void run_signal_handlers() {
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
}

}  // namespace feedline::python
