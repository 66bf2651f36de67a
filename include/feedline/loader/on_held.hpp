#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Selects what happens if the next batch is asked for while every slot has a live batch.
enum class on_held : std::uint8_t {
  /// `next()` waits, then throws. The loader's memory and the addresses of batches stay the same
  /// from its construction to its end.
  error,
  /// The next batches get memory of their own, in further slots. A further slot is freed when its
  /// batches have ended, and the work issued with them is done. `next()` may wait for the device
  /// while it allocates. At `expert_options::max_held_bytes` it is as with `error`.
  allocate,
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
