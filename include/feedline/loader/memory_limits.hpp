#pragma once

#include <feedline/export.hpp>

#include <cstddef>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Limits of the memory that a loader allocates, in bytes. A loader fits its slots into them, or
/// its constructor throws `usage_error` and says how many bytes it needs.
struct memory_limits {
  std::size_t pinned = 0;  ///< host memory that the device copies from; 0: no limit
  std::size_t device = 0;  ///< device memory, without `cache`; 0: no limit
  std::size_t cache = 0;   ///< device memory for rows that stay there and for decoded blocks; 0: no
                           ///< rows stay, unless `placement` is resident, which then has no limit
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
