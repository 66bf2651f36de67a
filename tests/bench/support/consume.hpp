#pragma once

#include <feedline/loader/loader.hpp>

#include "bench/support/delivered.hpp"
#include "bench/support/gpu_stream.hpp"

#include <cstdint>

namespace feedline::bench {

/// A consumer that does nothing: takes whole epochs from `epoch` on, back to back, for about so
/// many seconds. The clock stops when its stream has passed the last batch.
[[nodiscard]] delivered consume(loader& loader, std::uint64_t& epoch, const gpu_stream& stream,
                                double seconds);

/// The same, but first untimed for a quarter as long: what the loader made ready in others' turns
/// is gone then, and caches are warm.
[[nodiscard]] delivered consume_in_turn(loader& loader, std::uint64_t& epoch,
                                        const gpu_stream& stream, double seconds);

}  // namespace feedline::bench
