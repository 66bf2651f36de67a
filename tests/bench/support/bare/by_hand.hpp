#pragma once

#include <feedline/dataset/dataset.hpp>

#include "bench/support/delivered.hpp"
#include "bench/support/shapes.hpp"

#include <cstddef>
#include <string>

namespace feedline::bench {

/// The usual handwritten loop instead of a loader, on one thread: gather a batch into a pinned
/// buffer, copy it, and continue with the next buffer once its last copy is done. With one buffer
/// it is the plain synchronous loop, with two the double buffer. Gather and shuffle are feedline's
/// own, so what such a loop lacks is the pipeline alone.
[[nodiscard]] delivered feed_by_hand(const shape& shape, const dataset& data, std::size_t buffers,
                                     double seconds);

/// "synchronous" or "double buffer".
[[nodiscard]] std::string name_by_hand(std::size_t buffers);

}  // namespace feedline::bench
