#pragma once

#include "detail/machine.hpp"

#include <cstddef>
#include <functional>

namespace feedline::detail {

/// Calls body(0) … body(count − 1), each once, in order, on the calling thread and others; returns
/// when all are done. For work of a millisecond and more: it starts threads.
///
/// Once a call throws, no more are begun. When those under way have ended, what the first call in
/// order that threw has thrown is thrown here.
/// @param threads At most so many; fewer if the system has no more.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                  std::size_t threads = usable_cores());

}  // namespace feedline::detail
