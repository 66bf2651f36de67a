#include "python/interpreter/interruptible.hpp"

#include "python/interpreter/bindings.hpp"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace feedline::python {
namespace {

using namespace std::chrono_literals;

constexpr auto between_signals = 50ms;

/// Work in another thread that its caller may leave.
struct task {
  std::mutex guard;
  std::condition_variable ended;
  bool is_done = false;
  std::exception_ptr thrown;
};

/// Tasks that run; those whose callers have left are among them.
struct {
  std::mutex guard;
  std::condition_variable changed;
  int count = 0;
} running;

void await_left() {
  unlocked([] {
    std::unique_lock lock{running.guard};
    running.changed.wait_for(lock, 1500ms, [] { return running.count == 0; });
  });
}

void run(const std::shared_ptr<task>& own, std::function<void()> work) {
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  work = nullptr;  // its captures end here, if the caller has left
  {
    const std::scoped_lock lock{own->guard};
    own->thrown = std::move(thrown);
    own->is_done = true;
    own->ended.notify_all();
  }
  const std::scoped_lock lock{running.guard};
  --running.count;
  running.changed.notify_all();
}

bool is_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace

void run_interruptibly(std::function<void()> work) {
  if (!is_main_thread()) return unlocked(work);
  const auto own = std::make_shared<task>();
  {
    const std::scoped_lock lock{running.guard};
    ++running.count;
  }
  try {
    std::thread{run, own, std::move(work)}.detach();
  } catch (...) {
    const std::scoped_lock lock{running.guard};
    --running.count;
    throw;
  }
  for (;;) {
    const bool is_done = unlocked([&] {
      std::unique_lock lock{own->guard};
      return own->ended.wait_for(lock, between_signals, [&] { return own->is_done; });
    });
    if (is_done) break;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
  if (own->thrown) std::rethrow_exception(own->thrown);
}

void bind_interruptible(nb::module_& /*module*/) {
  const auto lock = [] { running.guard.lock(); };
  const auto unlock = [] { running.guard.unlock(); };
  const auto forget = [] {  // a child of fork has none of the threads
    running.count = 0;
    running.guard.unlock();
  };
  if (::pthread_atfork(lock, unlock, forget) != 0) throw std::bad_alloc{};
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&await_left));
}

}  // namespace feedline::python
