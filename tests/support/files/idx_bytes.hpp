#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace feedline::test {

using byte_vector = std::vector<std::byte>;

/// Bytes from numbers: `bytes_of({0x1f, 0x8b})`.
[[nodiscard]] byte_vector bytes_of(std::initializer_list<unsigned> values);

/// An IDX header: `type_code` as the format numbers element types (0x08 is u8).
[[nodiscard]] byte_vector idx_header_bytes(unsigned type_code,
                                           std::initializer_list<std::uint32_t> extents);

/// A whole IDX file whose payload bytes count up from 0 (modulo 251, so that no power of two is a
/// period of theirs). @param payload_bytes Need not be what the header announces.
[[nodiscard]] byte_vector idx_file_bytes(unsigned type_code,
                                         std::initializer_list<std::uint32_t> extents,
                                         std::size_t payload_bytes);

/// A gzip member that holds `plain`.
[[nodiscard]] byte_vector gzip_bytes(std::span<const std::byte> plain);

/// One after the other.
[[nodiscard]] byte_vector joined(byte_vector first, std::span<const std::byte> second);

}  // namespace feedline::test
