#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string_view>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Who decodes a dataset's compressed blocks (`dataset::encoded`). Order, bytes and errors are the
/// same for both.
enum class decode_on : std::uint8_t {
  cpu,     ///< reader threads
  device,  ///< the device, where it can; else reader threads, and `loader_plan::decode_note` says
           ///< why. Blocks cross the bus as they are stored, once an epoch. It needs a dataset
           ///< whose rows lie in such blocks, placement `stream`, an error policy that ends the
           ///< epoch at once, and where a block has several samples an order that takes blocks
           ///< window after window (`sequential` without `shard`, or `shuffle` with `within` and
           ///< one lane). `next` then waits until a slot's blocks are decoded, because only then
           ///< is it known whether they are whole
  automatic,  ///< as `device`, but reader threads where an epoch has no more blocks than two calls
              ///< of the device's decoder take: that would not pay
};

/// "cpu", "device", "automatic".
[[nodiscard]] std::string_view to_string(decode_on who) noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
