#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// CRC-32C (Castagnoli) of bytes; by the processor's instruction, if it has one.
/// @param before The result for the bytes before these; 0: these are the first.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes,
                                   std::uint32_t before = 0) noexcept;

/// The same by tables, which every processor can do. For tests.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes,
                                             std::uint32_t before = 0) noexcept;

}  // namespace feedline::detail
