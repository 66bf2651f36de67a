#pragma once

#include <cstddef>
#include <functional>

namespace feedline::detail {

/// Calls body(0) … body(count − 1), each once, on up to all cores; returns when all are done. Which
/// thread takes which is left open. For work of a millisecond and more: it starts threads.
///
/// What a call throws first is thrown here, after calls under way have ended; no more are begun.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace feedline::detail
