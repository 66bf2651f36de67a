#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Reads bytes of an open file: its descriptor, the first byte's offset, and how many.
using file_read = std::function<void(int file, std::uint64_t offset, std::size_t bytes)>;

/// Devices read no fewer bytes from files: a page is the least that a drive gives.
inline constexpr std::size_t min_direct_bytes = 4096;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
