#pragma once

#include <feedline/hdf5/dataset.hpp>

#include "detail/machine_memory.hpp"

#include <cstddef>

namespace feedline::detail {

/// `hdf5_options::max_host_cache_bytes`, with a quarter of the machine's memory where it is 0.
[[nodiscard]] inline std::size_t cache_bytes_of(const hdf5_options& options) noexcept {
  return options.max_host_cache_bytes != 0 ? options.max_host_cache_bytes
                                           : machine_memory_bytes() / 4;
}

}  // namespace feedline::detail
