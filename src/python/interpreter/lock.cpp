#include "python/interpreter/lock.hpp"

#include "detail/own_process.hpp"

#include <unistd.h>

namespace feedline::python {
namespace {

bool is_ending() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  const bool finalizing = Py_IsFinalizing() != 0;
#else
  const bool finalizing = _Py_IsFinalizing() != 0;
#endif
  return finalizing || Py_IsInitialized() == 0;
}

int& library_calls() noexcept {
  thread_local int depth = 0;
  return depth;
}

PyGILState_STATE take_lock() {
  if (!can_lock()) wait_for_exit();
  try {
    return PyGILState_Ensure();
  } catch (...) {  // the interpreter began to end meanwhile
    wait_for_exit();
  }
}

}  // namespace

void wait_for_exit() noexcept {
  for (;;) ::pause();
}

bool can_lock() noexcept {
  return nb::is_alive() && (!is_ending() || PyGILState_Check() != 0);
}

bool in_library_call() noexcept {
  return library_calls() != 0;
}

bool is_first_thread() {
  thread_local detail::own_process process;
  thread_local bool is_first = ::gettid() == ::getpid();
  if (!process.is_this()) {
    process = {};
    is_first = ::gettid() == ::getpid();
  }
  return is_first;
}

interpreter_lock::interpreter_lock() : state_{take_lock()} {
  ++library_calls();
}

interpreter_lock::~interpreter_lock() {
  --library_calls();
  PyGILState_Release(state_);
}

interpreter_release::~interpreter_release() {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {  // the interpreter has begun to end
    wait_for_exit();
  }
}

}  // namespace feedline::python
