#pragma once

#include "io/byte_file.hpp"
#include "remote/byte_pool.hpp"
#include "remote/request/transfer.hpp"
#include "remote/request/transfer_loop.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Bytes of objects that a process fetched before they are read, in the order of the hints. A block
/// goes once all its bytes were read by each epoch pass that hinted them, or once these have ended.
/// Blocks that are not read go after a while when their room is wanted.
///
/// Threads: any.
class ahead_store {
 public:
  /// Names an object within the store.
  using object_id = const void*;

  /// The store of this process; a child of fork gets its own.
  [[nodiscard]] static ahead_store& of_this_process();

  /// Begins to fetch those of an object's bytes that are not there yet, as far as there is room.
  /// Those that are there stay for the calling thread's pass, too.
  /// @param max_bytes Room of the whole store.
  void fetch(object_id object, const std::shared_ptr<const remote_target>& target,
             const object_pin& pin, byte_range range, std::uint64_t max_bytes);

  /// Is called once, when a block came or was given up. @param owner Owns the bytes.
  /// @param bytes Empty: they did not come.
  using keep_function = std::function<void(const std::shared_ptr<const void>& owner,
                                           std::span<const std::byte> bytes)>;
  /// Begins to fetch a block that stays until `kept` is called.
  /// @param keep Is called by the loop's thread, or in here; it must not come back here.
  /// @return False: some of its bytes are here already, or there is no room.
  [[nodiscard]] bool fetch_whole(object_id object,
                                 const std::shared_ptr<const remote_target>& target,
                                 const object_pin& pin, byte_range range,
                                 transfer_loop::urgency when, std::uint64_t max_bytes,
                                 keep_function keep);
  /// A block that was fetched whole is dropped, or goes as others do if it is not kept elsewhere.
  static void kept(object_id object, std::uint64_t end, const void* owner, bool is_kept) noexcept;

  enum class outcome : std::uint8_t { read, absent, failed };
  /// Copies bytes that were fetched; waits for those that are on their way.
  /// @return Absent: some of them were not asked for. Failed: `fault` says why.
  [[nodiscard]] outcome read(object_id object, const byte_read& part, answer_verdict& fault);

  /// Drops the blocks of an object that goes.
  static void forget(object_id object) noexcept;
  /// Drops blocks that only this epoch pass wants. Those in flight still come, for nothing.
  static void end_pass(std::uint64_t pass) noexcept;

 private:
  using place = std::pair<object_id, std::uint64_t>;  ///< the object and the end of a block
  /// Bytes that an epoch pass will read.
  struct want {
    std::uint64_t pass;
    std::uint64_t left;
  };
  struct block {
    enum state : int { on_its_way, here, failed };

    byte_range range;
    byte_pool::memory bytes = {};      ///< from the first byte on
    std::atomic<int> now{on_its_way};  ///< set by the loop's thread
    transfer_ptr by = {};
    std::chrono::steady_clock::time_point asked_for = {};
    std::vector<want> wanted = {};          ///< those who hinted it and have not read it yet
    std::uint64_t used = 0;                 ///< bytes that were read
    bool is_held = false;                   ///< until `kept`
    std::list<place>::iterator order = {};  ///< in `in_order_`

    [[nodiscard]] std::uint64_t size() const noexcept { return range.end - range.begin; }
    [[nodiscard]] std::uint64_t common_with(const byte_range& other) const noexcept {
      return std::min(range.end, other.end) - std::max(range.begin, other.begin);
    }
  };
  using block_ptr = std::shared_ptr<block>;

  ahead_store() = default;

  [[nodiscard]] bool make_room(std::uint64_t bytes, std::uint64_t max_bytes);
  void add(object_id object, const std::shared_ptr<const remote_target>& target,
           const object_pin& pin, byte_range range, transfer_loop::urgency when,
           keep_function keep);
  void drop_all(object_id object) noexcept;
  void drop_pass(std::uint64_t pass) noexcept;
  static void want_too(block& it, const byte_range& range);
  static void use(block& it, const byte_range& range) noexcept;
  void drop(std::map<place, block_ptr>::iterator at) noexcept;

  std::mutex mutex_;  ///< for all below except the blocks' bytes and states
  std::map<place, block_ptr> blocks_;
  std::list<place> in_order_;  ///< oldest hint first; one for each block
  std::uint64_t bytes_ = 0;
  byte_pool memory_;
};

}  // namespace feedline::detail
