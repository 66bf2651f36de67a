#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// A block as a file: its bytes, a checksum of each page of them, its text, and a trailer with a
/// checksum of these. A read checks the pages that it touches.
namespace block_file {

inline constexpr std::uint64_t page_bytes = std::uint64_t{64} << 10;

/// Bytes of the file of a block.
[[nodiscard]] std::uint64_t file_bytes(std::uint64_t bytes, std::size_t text) noexcept;

/// Writes the whole file. @return 0, or the error number.
[[nodiscard]] int write(int descriptor, std::span<const std::byte> bytes, const std::string& text);

/// `other`: the file is whole, and of another block.
enum class outcome : std::uint8_t { read, damaged, other };

/// Reads bytes of the block.
/// @param bytes Size of the whole block. @param text The text that it must have.
[[nodiscard]] outcome read(int descriptor, std::uint64_t bytes, const std::string& text,
                           std::uint64_t offset, std::span<std::byte> out);

}  // namespace block_file
}  // namespace feedline::detail
