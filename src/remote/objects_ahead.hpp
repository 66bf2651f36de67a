#pragma once

#include "remote/byte_pool.hpp"
#include "remote/object_file.hpp"
#include "remote/request/transfer.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Objects that are read whole, such as chunks of Zarr and images, fetched before they are read. An
/// object goes once each epoch pass that hinted it has read it, or has ended. One that is not read
/// goes after a while when its room is wanted.
///
/// Threads: any.
class objects_ahead {
 public:
  /// Tells objects of one path apart that are opened in different ways.
  using opener = const void*;

  struct object {
    enum state : int { on_its_way, here, failed };

    std::atomic<int> now{on_its_way};  ///< set by the loop's thread
    transfer_ptr by = nullptr;         ///< opens it
    byte_pool::memory bytes = {};      ///< its first bytes, as many as `by` got
    /// Its version is known: it asks for its bytes itself. Null: `by` opens it.
    std::shared_ptr<const object_file> file = nullptr;
    std::uint64_t room = 0;  ///< bytes that it may take
    bool was_read = false;
    std::vector<std::uint64_t> passes = {};  ///< those that hinted it and have not read it yet
    std::chrono::steady_clock::time_point asked_for = {};
  };
  using object_ptr = std::shared_ptr<const object>;

  /// The store of this process; a child of fork gets its own.
  [[nodiscard]] static objects_ahead& of_this_process();

  /// Begins to open an object, if it is not there yet and there is room.
  /// @param bytes First bytes that come with the opening, at least 1.
  void fetch(opener by, const std::string& path, const object_access& access, std::uint64_t bytes);
  /// The same for an object in a known version.
  void fetch(opener by, const std::string& path, const object_access& access,
             const object_pin& pin);

  /// An object that was hinted, for the calling thread's pass; waits for its first bytes. Null: it
  /// was not hinted, or its pass ended meanwhile.
  [[nodiscard]] object_ptr take(opener by, const std::string& path);

  /// Drops all objects of one that goes.
  static void forget(opener by) noexcept;
  /// Drops objects that only this epoch pass wants. Those in flight still come, for nothing.
  static void end_pass(std::uint64_t pass) noexcept;

 private:
  using key = std::pair<opener, std::string>;
  using entries = std::map<key, std::shared_ptr<object>>;

  objects_ahead() = default;

  /// @return False: another pass or hint has asked for it, or there is no room.
  [[nodiscard]] bool is_wanted(const key& of, std::uint64_t room, std::uint64_t max_bytes);
  void add(const key& of, const std::shared_ptr<object>& it);
  void drop(entries::iterator at) noexcept;

  std::mutex mutex_;  ///< for all below except the objects' bytes and states
  entries objects_;
  std::uint64_t bytes_ = 0;
  byte_pool memory_;
};

}  // namespace feedline::detail
