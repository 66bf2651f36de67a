#include "python/loader/core.hpp"

#include <feedline/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::python {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// How long the end of a loader's last reference waits for its threads. It cannot be interrupted.
constexpr auto patience = 2s;
constexpr auto patience_at_exit = 1500ms;

/// The thread that ends the interpreter, once it does so.
std::atomic<std::thread::id> ending_thread{};

bool is_exiting() noexcept {
  return ending_thread.load() != std::thread::id{};
}

std::chrono::milliseconds until(steady_clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
  return std::max(left, 0ms);
}

struct {
  std::mutex mutex;  ///< never held while Python runs
  std::vector<std::weak_ptr<loader_core>> all;
} open_loaders;

}  // namespace

loader_core::loader_core(loader made, device_ptr device, std::shared_ptr<held_note> note,
                         std::chrono::milliseconds leave_reads_after)
    : loader_{std::make_shared<loader>(std::move(made))},
      device_{std::move(device)},
      note_{std::move(note)},
      in_background_{loader_->plan().background},
      leave_reads_after_{leave_reads_after},
      process_{::getpid()} {}

loader_core::~loader_core() {
  abandoned_.clear();
  if (!loader_) return;
  if (in_library_call() || is_exiting()) {
    loader_->end_within(0ms);
  } else if (leave_reads_after_ == 0ms) {
    loader_->end_within(patience);
  }
}

bool loader_core::is_within_call() const {
  return ::getpid() == process_ && line_.is_mine();
}

loader_core::turn loader_core::take_turn(const char* call) {
  if (::getpid() != process_) return turn{nullptr};
  if (line_.is_mine())
    throw usage_error{
        std::string{call} +
        " was called while this thread takes a batch from the same loader: by a dataset's "
        "function, a signal's handler or a finalizer. Call it after the batch has come; state(), "
        "len(), plan(), failures(), statistics() and stop() can be called at any time"};
  if (!line_.try_take())
    while (!unlocked([&] { return line_.take_within(until_signals); })) run_signal_handlers();
  return turn{this};
}

std::optional<loader_core::turn> loader_core::try_turn() {
  if (!line_.try_take()) return std::nullopt;
  return turn{this};
}

void loader_core::end_turn() noexcept {
  if (has_abandoned_) end_abandoned();
  line_.end();
  // Another one may have been abandoned meanwhile, by a thread that could not get the turn.
  if (has_abandoned_) (void)try_turn();
}

void loader_core::end_abandoned() noexcept {
  std::list<epoch_range> ended;
  const std::scoped_lock lock{abandoned_mutex_};
  has_abandoned_ = false;
  ended.swap(abandoned_);
}

void loader_core::abandon(std::list<epoch_range>&& range) noexcept {
  if (::getpid() != process_) {
    range.clear();  // the library does nothing then
    return;
  }
  {
    const std::scoped_lock lock{abandoned_mutex_};
    abandoned_.splice(abandoned_.end(), range);
    has_abandoned_ = true;
  }
  (void)try_turn();
}

loader_core::loader_ptr loader_core::current() const {
  const std::scoped_lock lock{loader_mutex_};
  return loader_;
}

loader_core::loader_ptr loader_core::taken_away() {
  const std::scoped_lock lock{loader_mutex_};
  return std::exchange(loader_, nullptr);
}

loader_core::loader_ptr loader_core::held() const {
  require_open({});
  auto found = current();
  if (!found) require_open({});  // closed meanwhile
  return found;
}

void loader_core::require_open(const std::string& ended) const {
  if (!closed_) return;
  // A thread that still takes batches then, a daemon, ends without a word.
  if (is_exiting() && std::this_thread::get_id() != ending_thread.load()) {
    PyErr_SetNone(PyExc_SystemExit);
    nb::raise_python_error();
  }
  throw usage_error{"the loader is closed" + ended};
}

void loader_core::begin_to_close() {
  closed_ = true;
  if (const auto closing = current()) closing->stop();  // ends a wait of the thread with the turn
}

void loader_core::close() {
  if (!current()) return;
  begin_to_close();
  if (is_within_call()) {  // the call still uses the loader
    if (const auto closing = current()) closing->end_within(0ms);
    return;
  }
  const turn own = take_turn("Loader.close");
  // Taken with the turn: a thread that waits with it could be the last to have the loader, and
  // would destroy it with the interpreter's lock.
  auto closing = current();
  if (!closing) return;  // closed meanwhile
  const auto deadline =
      leave_reads_after_ == 0ms ? time_point::max() : steady_clock::now() + leave_reads_after_;
  const auto wait = in_library_call() ? 0ms : until_signals;
  while (!unlocked([&] { return closing->end_within(wait); }) && wait != 0ms &&
         steady_clock::now() < deadline)
    run_signal_handlers();
  unlocked([&] {
    (void)taken_away();
    closing.reset();
  });
}

void loader_core::close_by(time_point deadline) {
  if (::getpid() != process_ || !current()) return;
  // Without the turn, a thread that is no reader is in a read, and uses the loader.
  if (!unlocked([&] { return line_.take_within(until(deadline)); })) return;
  const turn own{this};
  unlocked([&] {
    if (const auto closing = taken_away()) closing->end_within(until(deadline));
  });
}

void close_at_exit(const std::shared_ptr<loader_core>& core) {
  const std::scoped_lock lock{open_loaders.mutex};
  std::erase_if(open_loaders.all, [](const auto& each) { return each.expired(); });
  open_loaders.all.push_back(core);
}

void close_all() {
  ending_thread.store(std::this_thread::get_id());
  const auto deadline = steady_clock::now() + patience_at_exit;
  std::list<core_ref> open;
  {
    const std::scoped_lock lock{open_loaders.mutex};
    for (const auto& each : std::exchange(open_loaders.all, {}))
      if (auto core = each.lock()) open.emplace_back(std::move(core));
  }
  for (const core_ref& each : open) each->begin_to_close();
  for (const core_ref& each : open) each->close_by(deadline);
}

}  // namespace feedline::python
