#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string_view>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Selects who decodes a dataset's compressed blocks (`dataset::encoded`). Order, bytes and errors
/// are the same for both.
enum class decode_on : std::uint8_t {
  cpu,  ///< reader threads
  /// The device if it can, else reader threads; `loader_plan::decode_note` then says why, and also
  /// if the device does only a part. Blocks cross the bus as they are stored, once an epoch. This
  /// needs a dataset whose rows are stored in such blocks, placement `stream`, and an error policy
  /// with which the epoch ends at once. If a block has several samples, it also needs an order with
  /// one window of blocks after the other: `sequential` without `shard`, or `shuffle` with `within`
  /// and one lane. `next` then waits until a slot's blocks are decoded: only then is it known
  /// whether they are intact.
  device,
  /// Like `device`, but reader threads decode where the device may not be faster: if an epoch has
  /// so few blocks that two calls of the device's decoder could take all of them; windows of
  /// arrays, and the chunks of sparse matrices; and sparse rows whose numbers take more than a
  /// quarter of the dense row.
  automatic,
};

/// "cpu", "device", "automatic".
[[nodiscard]] std::string_view to_string(decode_on who) noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
