#pragma once

#include <feedline/backend/block_decoder.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::test {

/// A field's blocks, encoded by the libraries that files are written with.
struct encoded_field {
  std::vector<block_step> steps;
  std::size_t block_bytes = 0;
};

/// A block as it arrives.
struct arriving_block {
  std::uint32_t field = 0;
  std::vector<std::byte> stored;
  std::uint32_t skipped = 0;
  bool missing = false;
  bool refused = false;  ///< the GPU does not decode it, though the CPU may
};

/// Bytes that compress, and differ from block to block.
[[nodiscard]] std::vector<std::byte> plain_block(std::size_t size, std::uint32_t seed);

/// @param skipped Bit i: step i is left out.
[[nodiscard]] arriving_block encoded(const encoded_field& field, std::uint32_t field_number,
                                     const std::vector<std::byte>& plain,
                                     std::uint32_t skipped = 0);

/// Result of feedline's filters on the CPU for a block; nothing if it does not decode, or is
/// refused.
[[nodiscard]] std::optional<std::vector<std::byte>> reference(const encoded_field& field,
                                                              const arriving_block& block);

/// Whether zlib decodes a stream, whatever follows it.
[[nodiscard]] bool zlib_takes(const std::vector<std::byte>& stream);

/// Decodes the blocks on the GPU, in one call, to every second slot, and compares with the
/// reference: bytes and states of those that decode, states alone of those that do not. The slots
/// between, and the memory before and after all, must stay unchanged.
void check_decoding(const std::vector<encoded_field>& fields,
                    const std::vector<arriving_block>& blocks);

}  // namespace feedline::test
