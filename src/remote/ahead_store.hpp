#pragma once

#include "io/byte_file.hpp"
#include "remote/byte_pool.hpp"
#include "remote/request/transfer.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace feedline::detail {

/// Bytes of objects that a process fetched before they are read, in the order of the hints. A block
/// goes once all its bytes were read. Blocks that are not read, such as those of an epoch that was
/// left, go after a while when their room is wanted.
///
/// Threads: any.
class ahead_store {
 public:
  /// Names an object within the store.
  using object_id = const void*;

  /// The store of this process; a child of fork gets its own.
  [[nodiscard]] static ahead_store& of_this_process();

  /// Begins to fetch those of an object's bytes that are not there yet, as far as there is room.
  /// @param max_bytes Room of the whole store.
  void fetch(object_id object, const std::shared_ptr<const remote_target>& target,
             const object_pin& pin, byte_range range, std::uint64_t max_bytes);

  enum class outcome : std::uint8_t { read, absent, failed };
  /// Copies bytes that were fetched; waits for those that are on their way.
  /// @return Absent: some of them were not asked for. Failed: `fault` says why.
  [[nodiscard]] outcome read(object_id object, const byte_read& part, answer_verdict& fault);

  /// Drops the blocks of an object that goes.
  static void forget(object_id object) noexcept;

 private:
  using place = std::pair<object_id, std::uint64_t>;  ///< the object and the end of a block
  struct block {
    enum state : int { on_its_way, here, failed };

    byte_range range;
    byte_pool::memory bytes = {};
    std::atomic<int> now{on_its_way};  ///< set by the loop's thread
    transfer_ptr by = {};
    std::chrono::steady_clock::time_point asked_for = {};
    std::uint64_t used = 0;                 ///< bytes that were read
    std::list<place>::iterator order = {};  ///< in `in_order_`

    [[nodiscard]] std::uint64_t size() const noexcept { return range.end - range.begin; }
  };
  using block_ptr = std::shared_ptr<block>;

  ahead_store() = default;

  [[nodiscard]] bool make_room(std::uint64_t bytes, std::uint64_t max_bytes);
  void add(object_id object, const std::shared_ptr<const remote_target>& target,
           const object_pin& pin, byte_range range);
  void drop_all(object_id object) noexcept;
  void drop(std::map<place, block_ptr>::iterator at) noexcept;

  std::mutex mutex_;  ///< for all below except the blocks' bytes and states
  std::map<place, block_ptr> blocks_;
  std::list<place> in_order_;  ///< oldest hint first; one for each block
  std::uint64_t bytes_ = 0;
  byte_pool memory_;
};

}  // namespace feedline::detail
