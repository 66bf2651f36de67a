#pragma once

#include <feedline/loader/loader.hpp>

#include "python/held_object.hpp"
#include "python/loader/held_note.hpp"

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <utility>

namespace feedline::python {

/// A loader that Python's threads share. All calls that C++ leaves to one thread, the consumer's,
/// take turns here, so that no use from Python breaks it. Its epochs keep it.
///
/// No thread waits for a turn while it holds the interpreter's lock: the thread with the turn may
/// wait for that lock.
class loader_core {
 public:
  /// @param note Where the loader writes its warning that batches are kept.
  loader_core(loader made, device_ptr device, std::shared_ptr<held_note> note);
  loader_core(const loader_core&) = delete;
  loader_core& operator=(const loader_core&) = delete;
  ~loader_core() = default;

  /// The right to call functions of the consumer's thread. In a child of fork it is not acquired:
  /// the turn may belong to a thread that does not exist there, and the library refuses the call.
  [[nodiscard]] std::unique_lock<std::mutex> turn();
  /// The same without waiting; nothing if another thread has it.
  [[nodiscard]] std::unique_lock<std::mutex> try_turn();

  [[nodiscard]] const device_ptr& device() const noexcept { return device_; }
  /// Whether the loader has its own threads; otherwise the thread that asks for a batch reads it.
  [[nodiscard]] bool in_background() const noexcept { return in_background_; }

  [[nodiscard]] held_note& note() const noexcept { return *note_; }

  /// Calls a function with the loader, in a turn, without the interpreter's lock.
  template <class Function>
  auto in_turn(Function&& function) {
    auto used = held();
    return unlocked([&] {
      const auto mine = std::move(used);  // the last thread to release it waits for its threads
      const auto own = turn();
      return std::forward<Function>(function)(*mine);
    });
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

  /// Ends the loader's threads; every later call throws. Batches stay valid. Called with the
  /// interpreter's lock, which is released meanwhile.
  void close();

 private:
  /// @throws usage_error if it is closed.
  [[nodiscard]] std::shared_ptr<loader> held() const;

  std::shared_ptr<loader> loader_;  ///< null once closed; guarded by the interpreter's lock
  device_ptr device_;
  std::shared_ptr<held_note> note_;
  bool in_background_;
  std::mutex turn_;
  pid_t process_;
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

}  // namespace feedline::python
