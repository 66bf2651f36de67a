#pragma once

#include <feedline/loader/loader.hpp>

#include "python/interpreter/lock.hpp"
#include "python/loader/held_note.hpp"
#include "python/loader/turn.hpp"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace feedline::python {

/// A loader that Python's threads share. All calls that C++ leaves to one thread, the consumer's,
/// take turns here, so that no use from Python breaks it. Its epochs keep it.
///
/// No thread waits for a turn while it holds the interpreter's lock: the thread with the turn may
/// wait for that lock. Python code may also run in the thread that has the turn: a dataset's
/// function if there are no readers, a signal's handler, a finalizer. What it asks of the loader is
/// answered at once or refused.
class loader_core {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param note Where the loader writes its warning that batches are kept.
  /// @param leave_reads_after The loader's option.
  loader_core(loader made, device_ptr device, std::shared_ptr<held_note> note,
              std::chrono::milliseconds leave_reads_after);
  loader_core(const loader_core&) = delete;
  loader_core& operator=(const loader_core&) = delete;
  /// Ends the loader's threads. Waits for reads in progress, at most two seconds or
  /// `leave_reads_after`, and not at all in a read's own thread; what still runs is left.
  ~loader_core();

  /// The right to call functions of the consumer's thread, for a thread.
  class turn {
   public:
    turn(turn&& other) noexcept : core_{std::exchange(other.core_, nullptr)} {}
    turn& operator=(turn&&) = delete;
    ~turn() {
      if (core_ != nullptr) core_->end_turn();
    }

   private:
    friend class loader_core;
    explicit turn(loader_core* core) noexcept : core_{core} {}
    loader_core* core_;  ///< null in a child of fork: the library refuses the call there
  };

  /// Waits for a turn. Called with the interpreter's lock.
  /// @param call The name of the function that is called, for the message.
  /// @throws usage_error if this thread has the turn already; nb::python_error of a signal's
  /// handler while it waits.
  [[nodiscard]] turn take_turn(const char* call);
  /// The same without waiting; nothing if another thread has it.
  [[nodiscard]] std::optional<turn> try_turn();

  [[nodiscard]] const device_ptr& device() const noexcept { return device_; }
  /// Whether the loader has its own threads; otherwise the thread that asks for a batch reads it.
  [[nodiscard]] bool in_background() const noexcept { return in_background_; }

  [[nodiscard]] held_note& note() const noexcept { return *note_; }

  /// Calls a function with the loader, in a turn, without the interpreter's lock.
  template <class Function>
  auto in_turn(const char* call, Function&& function) {
    auto used = held();
    const turn own = take_turn(call);
    return unlocked([&] {
      const auto mine = std::move(used);  // the last thread to release it frees it
      return std::forward<Function>(function)(*mine);
    });
  }

  /// The same for functions that change nothing: they can also be called in the middle of a
  /// call that this thread makes.
  template <class Function>
  auto in_turn_or_within(const char* call, Function&& function) {
    if (is_within_call()) return at_any_time(std::forward<Function>(function));
    return in_turn(call, std::forward<Function>(function));
  }

  /// The same without a turn, for functions that any thread may call.
  template <class Function>
  auto at_any_time(Function&& function) {
    auto used = held();
    return unlocked([&] {
      const auto mine = std::move(used);
      return std::forward<Function>(function)(*mine);
    });
  }

  /// The rest of an epoch is not wanted any more: ended in this thread's turn, or by the
  /// thread that has it. Never waits.
  void abandon(std::list<epoch_range>&& range) noexcept;

  /// Ends the loader's threads; every later call throws. Batches stay valid. Waits for reads in
  /// progress, but not if a read calls it. Called with the interpreter's lock, which is released
  /// meanwhile. @throws nb::python_error of a signal's handler, such as KeyboardInterrupt: then it
  /// can be called again.
  void close();
  /// Its first half: every later call throws, and no other read begins. Never waits.
  void begin_to_close();
  /// Its second half at the program's end: waits until `deadline`, and leaves reads that still run.
  void close_by(time_point deadline);
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  /// @throws usage_error if it is closed: every later call throws it.
  /// @param ended Ends the message.
  void require_open(const std::string& ended) const;

 private:
  using loader_ptr = std::shared_ptr<loader>;

  /// @throws usage_error if it is closed.
  [[nodiscard]] loader_ptr held() const;
  /// Whether this thread has the turn. Never in a child of fork, where that thread may not exist.
  [[nodiscard]] bool is_within_call() const;
  void end_turn() noexcept;
  void end_abandoned() noexcept;

  /// Null once its threads have ended.
  [[nodiscard]] loader_ptr current() const;
  /// Takes the loader away from all later calls.
  [[nodiscard]] loader_ptr taken_away();

  mutable std::mutex loader_mutex_;  ///< never held while Python or the library runs
  loader_ptr loader_;
  std::atomic<bool> closed_{false};

  const device_ptr device_;
  const std::shared_ptr<held_note> note_;
  const bool in_background_;
  const std::chrono::milliseconds leave_reads_after_;
  const pid_t process_;
  turn_line line_;
  std::mutex abandoned_mutex_;
  std::list<epoch_range> abandoned_;  ///< to be ended in a turn
  std::atomic<bool> has_abandoned_{false};
};

/// A Python object's reference to a core: the last one ends the loader's threads, without the
/// interpreter's lock.
class core_ref {
 public:
  explicit core_ref(std::shared_ptr<loader_core> core) noexcept : core_{std::move(core)} {}
  core_ref(const core_ref&) = delete;
  core_ref& operator=(const core_ref&) = delete;
  ~core_ref() {
    unlocked([this] { core_.reset(); });
  }

  [[nodiscard]] loader_core* operator->() const noexcept { return core_.get(); }
  [[nodiscard]] const std::shared_ptr<loader_core>& share() const noexcept { return core_; }

 private:
  std::shared_ptr<loader_core> core_;
};

/// Loaders are closed when the interpreter begins to end, because no thread can call Python later.
/// Called with the interpreter's lock.
void close_at_exit(const std::shared_ptr<loader_core>& core);
/// Closes all of them. Takes at most 1.5 s.
void close_all();

}  // namespace feedline::python
