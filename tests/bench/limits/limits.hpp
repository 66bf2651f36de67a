#pragma once

#include "bench/support/program.hpp"
#include "bench/support/results.hpp"

namespace feedline::bench {

// Each measures one kind of limit of the machine, prints its table, and adds its rows, which name
// it as "limit".

/// "bus": copies by size, pinned and pageable, to the GPU, from it, and both at once.
void measure_bus(const common_options& options, results& found);
/// "call": host time of what the transfer thread issues.
void measure_calls(const common_options& options, results& found);
/// "pinning": the time that pinned memory takes to allocate.
void measure_pinning(const common_options& options, results& found);
/// "cpu gather": random rows gathered into pinned memory, by threads.
void measure_cpu_gather(const common_options& options, results& found);
/// "written": pinned memory that threads write and the GPU copies then: what caches do to both.
void measure_written(const common_options& options, results& found);
/// "host gather" and "resident gather": random rows gathered by a kernel, out of registered host
/// memory by blocks, and out of device memory by launches of a slot's size and large ones.
void measure_gpu_gather(const common_options& options, results& found);

}  // namespace feedline::bench
