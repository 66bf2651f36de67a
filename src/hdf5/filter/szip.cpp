#include "hdf5/filter/input.hpp"
#include "hdf5/filter/planes.hpp"
#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <libaec.h>

namespace feedline::detail {

namespace {

/// The client data, in the form that HDF5's own filter writes.
struct szip_shape {
  explicit szip_shape(std::span<const unsigned> values) noexcept
      : options{values[0]},
        block{values[1]},
        bits{values[2]},
        line{values[3]},
        is_planes{bits == 32 || bits == 64},
        coded_bits{is_planes ? 8U : static_cast<unsigned>(bits)},
        pixel_bytes{coded_bits > 16  ? 4U
                    : coded_bits > 8 ? 2U
                                     : 1U},
        unit_bytes{is_planes ? bits / 8 : pixel_bytes} {}

  unsigned options;
  std::size_t block;        ///< pixels
  std::size_t bits;         ///< bits of a pixel
  std::size_t line;         ///< pixels of a scanline
  bool is_planes;           ///< coded byte by byte: all pixels' first bytes, …
  unsigned coded_bits;      ///< bits of a coded unit
  std::size_t pixel_bytes;  ///< bytes of a coded unit
  std::size_t unit_bytes;   ///< bytes of a pixel
};

/// Decodes, and returns how much came out. libaec's compatible interface, szlib.h, does not return
/// that, and leaves missing bytes unwritten.
std::size_t undo_aec(const szip_shape& shape, std::span<const std::byte> stored,
                     std::span<std::byte> out) {
  constexpr unsigned most_significant_first = 16;  // values from szlib.h
  constexpr unsigned nearest_neighbour = 32;
  aec_stream stream{};
  stream.next_in = reinterpret_cast<const unsigned char*>(stored.data());
  stream.avail_in = stored.size();
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = out.size();
  stream.bits_per_sample = shape.coded_bits;
  stream.block_size = static_cast<unsigned>(shape.block);
  stream.rsi = static_cast<unsigned>((shape.line + shape.block - 1) / shape.block);
  if ((shape.options & most_significant_first) != 0) stream.flags |= AEC_DATA_MSB;
  if ((shape.options & nearest_neighbour) != 0) stream.flags |= AEC_DATA_PREPROCESS;
  const int result = aec_buffer_decode(&stream);
  if (result == AEC_MEM_ERROR) throw std::bad_alloc{};
  if (result != AEC_OK)
    throw hdf5_filter_error{"the stream is damaged: libaec reports error " +
                            std::to_string(result)};
  return stream.total_out;
}

/// Format: the decoded size (32 bits, least significant byte first), then the stream, in which each
/// scanline is padded to whole blocks.
std::size_t undo_szip(std::span<const unsigned> values, std::span<const std::byte> stored,
                      std::span<std::byte> out, hdf5_decoder& scratch) {
  const szip_shape shape{values};
  hdf5_filter_input input{stored};
  const std::size_t claimed = input.little_endian<std::uint32_t>();
  if (claimed > out.size()) fail_for_claim(claimed, out.size());
  if (claimed % shape.unit_bytes != 0)
    throw hdf5_filter_error{"claims " + std::to_string(claimed) +
                            " bytes, which are not whole pixels of " +
                            std::to_string(shape.unit_bytes)};
  out = out.first(claimed);
  if (out.empty()) return 0;

  const std::size_t line = shape.line * shape.pixel_bytes;
  const std::size_t full_line =
      (shape.line + shape.block - 1) / shape.block * shape.block * shape.pixel_bytes;
  const std::size_t lines = (claimed + line - 1) / line;
  const bool is_filled_up = full_line != line;
  const bool is_as_wanted = !is_filled_up && !shape.is_planes;
  const auto decoded =
      is_as_wanted ? out : scratch.block.take(is_filled_up ? lines * full_line : claimed);
  const std::size_t needed = (lines - 1) * full_line + (claimed - (lines - 1) * line);
  const std::size_t got = undo_aec(shape, input.rest(), decoded);
  if (got < needed)
    throw hdf5_filter_error{"the stream of " + std::to_string(input.rest().size()) +
                            " bytes ends early, after " + std::to_string(got) + " of " +
                            std::to_string(needed) + " decoded ones"};
  if (is_as_wanted) return claimed;

  for (std::size_t i = 1; i < lines && is_filled_up; ++i)
    std::memmove(decoded.data() + i * line, decoded.data() + i * full_line,
                 std::min(line, claimed - i * line));
  join_byte_planes(decoded.data(), claimed / (shape.is_planes ? shape.unit_bytes : 1),
                   shape.is_planes ? shape.unit_bytes : 1, out.data());
  return claimed;
}

bool is_in(unsigned value, unsigned least, unsigned most) noexcept {
  return value >= least && value <= most;
}

}  // namespace

hdf5_undo undo_of_szip(std::span<const unsigned> values) {
  if (values.size() < 4) return {.refusal = "has no parameters"};
  const unsigned block = values[1];
  const unsigned bits = values[2];
  const unsigned line = values[3];
  constexpr unsigned max_pixels_a_block = 32;  // limit from szlib.h
  constexpr unsigned max_blocks_a_line = 128;
  const bool is_right = is_in(block, 2, max_pixels_a_block) && block % 2 == 0 &&
                        (is_in(bits, 1, 32) || bits == 64) &&
                        is_in(line, block, max_blocks_a_line * block);
  if (!is_right)
    return {.refusal = "has invalid parameters: " + std::to_string(block) + " pixels a block, " +
                       std::to_string(bits) + " bits a pixel, " + std::to_string(line) +
                       " pixels a scanline"};
  return {.effect = hdf5_size_effect::compression, .function = undo_szip};
}

}  // namespace feedline::detail
