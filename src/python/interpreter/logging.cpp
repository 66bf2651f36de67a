// The library's log lines become records of Python's logger 'feedline'.

#include "detail/log.hpp"
#include "python/interpreter/bindings.hpp"
#include "python/interpreter/held_object.hpp"

#include <pthread.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace feedline::python {
namespace {

using namespace std::chrono_literals;

struct line {
  spdlog::level::level_enum level;
  std::string text;
};

/// Lines that wait for Python. A thread that logs may hold a lock of the library, and a
/// thread that waits for this lock may hold the interpreter's. So another thread, which holds
/// nothing, hands the lines over.
class log_queue : public std::enable_shared_from_this<log_queue> {
 public:
  /// False once the interpreter ends, and in a child of fork: no thread would hand the line over.
  bool put(line added) {
    if (is_closed_) return false;
    const std::scoped_lock lock{lines_};
    if (is_closed_) return false;
    waiting_.push_back(std::move(added));
    if (!has_thread_) std::thread{[self = shared_from_this()] { self->hand_over(); }}.detach();
    has_thread_ = true;
    changed_.notify_all();
    return true;
  }

  /// Waits until all lines are handed over, and ends the thread. A handler of Python's that hangs
  /// is not waited for.
  void close() {
    if (is_closed_) return;  // abandoned: the lock may belong to a thread that does not exist
    std::unique_lock lock{lines_};
    is_closed_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, 2s, [this] { return !has_thread_; });
  }

  /// In a child of fork, which has no other thread.
  void abandon() noexcept { is_closed_ = true; }

 private:
  void hand_over() {
    std::unique_lock lock{lines_};
    for (;;) {
      changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
      if (waiting_.empty()) break;
      const auto lines = std::exchange(waiting_, {});
      lock.unlock();
      give_to_python(lines);
      lock.lock();
    }
    has_thread_ = false;
    changed_.notify_all();
  }

  static void give_to_python(const std::deque<line>& lines) {
    locked([&] { log_each(lines); });
  }

  static void log_each(const std::deque<line>& lines) {
    for (const line& each : lines) {
      try {
        const int level = each.level < spdlog::level::info ? 10 : 10 * static_cast<int>(each.level);
        const nb::object text = nb::steal(PyUnicode_DecodeUTF8(
            each.text.data(), static_cast<Py_ssize_t>(each.text.size()), "replace"));
        const nb::object log = nb::module_::import_("logging").attr("getLogger")("feedline");
        log.attr("log")(level, "%s", text);
      } catch (nb::python_error& raised) {
        raised.discard_as_unraisable("a handler of the logger 'feedline'");
      }
    }
  }

  std::mutex lines_;
  std::condition_variable changed_;
  std::deque<line> waiting_;
  bool has_thread_ = false;
  std::atomic<bool> is_closed_ = false;
};

std::shared_ptr<log_queue>& queue() {
  // Never destroyed: static objects of other files may log as they are destroyed.
  static auto* const only = new std::shared_ptr<log_queue>{std::make_shared<log_queue>()};
  return *only;
}

class python_sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!queue()->put({message.level, {message.payload.data(), message.payload.size()}}) &&
        message.level >= spdlog::level::info)
      on_stderr_.log(message);
  }
  void flush_() override {}

 private:
  spdlog::sinks::stderr_color_sink_mt on_stderr_;
};

}  // namespace

void bind_logging(nb::module_& module) {
  const bool is_others = spdlog::get("feedline") != nullptr;  // the program's, or another copy's
  module.def("_log_details", [is_others](bool wanted) {
    if (is_others) return;
    spdlog::get("feedline")->set_level(wanted ? spdlog::level::debug : spdlog::level::info);
  });
  if (is_others) return;
  auto logger = std::make_shared<spdlog::logger>("feedline", std::make_shared<python_sink>());
  logger->set_level(spdlog::level::info);  // until Python's logger wants details
  spdlog::register_logger(std::move(logger));
  pthread_atfork(nullptr, nullptr, [] { queue()->abandon(); });
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([] { unlocked([] { queue()->close(); }); }));
}

}  // namespace feedline::python
