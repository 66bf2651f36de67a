#include "hdf5/filter/input.hpp"
#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <cstring>

#include <lz4.h>

namespace feedline::detail {

void undo_lz4_block(std::span<const std::byte> stored, std::span<std::byte> out) {
  constexpr std::size_t most = LZ4_MAX_INPUT_SIZE;
  const int got =
      out.size() > most || stored.size() > LZ4_COMPRESSBOUND(most)
          ? -1
          : LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                                reinterpret_cast<char*>(out.data()),
                                static_cast<int>(stored.size()), static_cast<int>(out.size()));
  if (got < 0 || static_cast<std::size_t>(got) != out.size())
    throw hdf5_filter_error{"a block of " + std::to_string(stored.size()) +
                            " bytes does not decode to " + std::to_string(out.size())};
}

/// Format: the total size (64 bits) and a block's (32), most significant byte first; then each
/// block's stored size (32 bits) and its bytes, which are uncompressed if the stored size is the
/// block's size.
std::size_t undo_lz4(std::span<const unsigned>, std::span<const std::byte> stored,
                     std::span<std::byte> out, hdf5_decoder&) {
  hdf5_filter_input input{stored};
  const auto total = input.big_endian<std::uint64_t>();
  const std::size_t block_size = input.big_endian<std::uint32_t>();
  if (total > out.size()) fail_for_claim(total, out.size());
  if (block_size == 0) throw hdf5_filter_error{"claims blocks of 0 bytes"};

  for (auto left = out.first(static_cast<std::size_t>(total)); !left.empty();) {
    const auto to = left.first(std::min(block_size, left.size()));
    const auto block = input.take(input.big_endian<std::uint32_t>());
    if (block.size() == to.size())
      std::memcpy(to.data(), block.data(), to.size());
    else
      undo_lz4_block(block, to);
    left = left.subspan(to.size());
  }
  return static_cast<std::size_t>(total);
}

}  // namespace feedline::detail
