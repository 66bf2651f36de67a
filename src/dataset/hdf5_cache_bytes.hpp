#pragma once

#include <feedline/dataset/hdf5_dataset.hpp>

#include <unistd.h>

#include <cstddef>

namespace feedline::detail {

/// `hdf5_options::max_cache_bytes`, with a quarter of the machine's memory where it is 0.
[[nodiscard]] inline std::size_t cache_bytes_of(const hdf5_options& options) noexcept {
  if (options.max_cache_bytes != 0) return options.max_cache_bytes;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0) return std::size_t{1} << 30;
  return static_cast<std::size_t>(pages) / 4 * static_cast<std::size_t>(bytes);
}

}  // namespace feedline::detail
