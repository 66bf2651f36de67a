#include "hdf5/filter/undo.hpp"

#include <blosc.h>

namespace feedline::detail {

namespace {

/// The compressor that a header names by a number in three bits, which may be unknown to Blosc.
std::string compressor_of(std::span<const std::byte> stored) {
  const char* const name = blosc_cbuffer_complib(stored.data());
  return name != nullptr ? name
                         : "compressor " + std::to_string(std::to_integer<int>(stored[2] >> 5));
}

}  // namespace

/// The chunk's header has everything that decoding needs; the client data is for the writer.
std::size_t undo_blosc(std::span<const unsigned>, std::span<const std::byte> stored,
                       std::span<std::byte> out, hdf5_decoder&) {
  if (stored.size() < BLOSC_MIN_HEADER_LENGTH)
    throw hdf5_filter_error{std::to_string(stored.size()) + " bytes are too few to hold a header"};
  std::size_t claimed = 0;
  std::size_t claimed_stored = 0;
  std::size_t block_size = 0;
  blosc_cbuffer_sizes(stored.data(), &claimed, &claimed_stored, &block_size);
  if (claimed_stored == 0)
    throw hdf5_filter_error{"the header is not one of Blosc 1: format version " +
                            std::to_string(std::to_integer<int>(stored[0]))};
  if (claimed_stored > stored.size())
    throw hdf5_filter_error{"claims to be stored in " + std::to_string(claimed_stored) +
                            " bytes, but there are " + std::to_string(stored.size())};
  if (claimed > out.size()) fail_for_claim(claimed, out.size());

  const int got = blosc_decompress_ctx(stored.data(), out.data(), claimed, 1);
  if (got < 0 || static_cast<std::size_t>(got) != claimed)
    throw hdf5_filter_error{
        "the blocks do not decode: they are damaged, or the libblosc here has no decompressor "
        "for " +
        compressor_of(stored)};
  return claimed;
}

}  // namespace feedline::detail
