#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/encoded_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::test {

/// A block as it is stored.
[[nodiscard]] std::vector<std::byte> stored_bytes(const encoded_blocks& blocks, std::size_t field,
                                                  std::uint64_t block);

/// All rows of a block, also those after the dataset's end. @param row_bytes Row size of the field.
[[nodiscard]] std::vector<std::byte> decoded_block(const encoded_blocks& blocks, std::size_t field,
                                                   std::uint64_t block, std::size_t row_bytes);

/// The fault of a block, read and decoded; empty if there is none. Any thread.
/// @param rows All rows of the field, as `dataset::read` gives them.
[[nodiscard]] std::string fault_of_block(const encoded_blocks& blocks, std::size_t field,
                                         std::uint64_t block, std::size_t row_bytes,
                                         std::span<const std::byte> rows);

/// Checks all that `encoded_blocks` promises: each block of each field holds what `read` gives for
/// its samples, is no larger than announced, and nothing is written beside it. Through Catch, on a
/// test case's main thread.
void check_encoded(const dataset& data);

}  // namespace feedline::test
