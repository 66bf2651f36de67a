#pragma once

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace feedline::detail {

/// Whether this program has the calling thread alone, for sure. False where that cannot be known.
[[nodiscard]] inline bool single_threaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

}  // namespace feedline::detail
