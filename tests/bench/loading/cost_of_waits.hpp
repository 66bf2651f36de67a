#pragma once

#include "bench/loading/stamped_steps.hpp"
#include "bench/support/gpu_stream.hpp"

namespace feedline::bench {

/// Prints what waits of a known length cost between two steps, what timed events tell of them, and
/// by how much the two differ.
void print_cost_of_waits(stamped_steps& on, const gpu_stream& stream);

}  // namespace feedline::bench
