#pragma once

#include "image/file_numbers.hpp"
#include "io/file_magic.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace feedline::detail {

/// The first number of an entry in the first directory of a TIFF file, classic or big. EXIF's data
/// is such a file, too.
/// @return Empty if the entry is not there, or has no whole numbers of 16 or 32 bits.
[[nodiscard]] inline std::optional<std::uint32_t> tiff_number(std::span<const std::byte> file,
                                                              std::uint32_t tag) noexcept {
  if (!is_tiff(file)) return std::nullopt;
  const file_numbers of{file, file[0] == std::byte{'I'}};
  const bool is_big = of.at(2, 2) == 43;
  const std::uint32_t offset_bytes = is_big ? 8 : 4;
  const std::uint32_t count_bytes = is_big ? 8 : 2;
  const std::uint32_t entry_bytes = 4 + 2 * offset_bytes;
  const std::uint64_t directory = of.at(offset_bytes, offset_bytes);
  const std::uint64_t entries = of.at(directory, count_bytes);
  std::uint64_t entry = directory + count_bytes;
  for (std::uint64_t i = 0; i < entries && of.has(entry, entry_bytes); ++i, entry += entry_bytes) {
    if (of.at(entry, 2) != tag) continue;
    const std::uint64_t type = of.at(entry + 2, 2);
    const std::uint32_t bytes = type == 3 ? 2 : type == 4 ? 4 : 0;
    const std::uint64_t count = of.at(entry + 4, offset_bytes);
    if (bytes == 0 || count == 0 || count > offset_bytes / bytes) return std::nullopt;
    return static_cast<std::uint32_t>(of.at(entry + 4 + offset_bytes, bytes));
  }
  return std::nullopt;
}

}  // namespace feedline::detail
