#pragma once

#include <cstdint>

namespace feedline::detail {

/// A run of samples of one ticket: the unit a reader takes.
struct request {
  std::uint32_t slot;    ///< place in the staging ring
  std::uint32_t number;  ///< within the slot, as `request_layout` counts
};

}  // namespace feedline::detail
