#pragma once

#include <feedline/dataset/chunking.hpp>

#include "arrays/windows/plan.hpp"

#include <cstdint>
#include <vector>

namespace feedline::detail {

/// The number of regions that each window's positions are divided into; 1 where no region is set,
/// and along windows on a grid.
/// @param plan With windows, positions, parts, draws. @throws usage_error if regions are set along
/// windows that cannot have them, or if draws is not a multiple, at least twice, of their number.
[[nodiscard]] std::vector<std::uint64_t> regions_of(const window_plan& plan);

/// Chunks of consecutive samples: those of one region, or, if there is none, those whose first
/// window begins in one slab of chunks.
/// @param plan All but `chunks`.
[[nodiscard]] chunking chunks_of(const window_plan& plan);

}  // namespace feedline::detail
