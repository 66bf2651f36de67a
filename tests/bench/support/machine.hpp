#pragma once

#include "bench/support/results.hpp"

#include <string>

namespace feedline::bench {

/// About the current machine: processor, hardware threads, GPU, driver, bus.
[[nodiscard]] facts machine_facts();

/// The same as lines, for the head of every table.
[[nodiscard]] std::string describe_machine();

/// Whether there is a GPU to measure.
[[nodiscard]] bool has_gpu();

}  // namespace feedline::bench
