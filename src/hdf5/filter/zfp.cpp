#include "detail/byte_order.hpp"
#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include <zfp.h>

namespace feedline::detail {

namespace {

using bit_stream = std::unique_ptr<bitstream, void (*)(bitstream*)>;

bit_stream open_bits(std::span<std::byte> bytes) {
  bit_stream opened{stream_open(bytes.data(), bytes.size()), stream_close};
  if (opened == nullptr) throw std::bad_alloc{};
  return opened;
}

/// Parameters for libzfp: the size of a block, and the chunk's type and shape.
struct zfp_shape {
  zfp_shape() {
    if (stream == nullptr || field == nullptr) throw std::bad_alloc{};
  }

  std::unique_ptr<zfp_stream, void (*)(zfp_stream*)> stream{zfp_stream_open(nullptr),
                                                            zfp_stream_close};
  std::unique_ptr<zfp_field, void (*)(zfp_field*)> field{zfp_field_alloc(), zfp_field_free};
  bool is_reversed = false;  ///< written in the other byte order, which elements have, too
  bool is_known = false;     ///< else nothing above is meaningful
};

/// Reads the client data: the version, then the words of a header of libzfp's.
zfp_shape read_shape(std::span<const unsigned> values) {
  zfp_shape shape;
  std::array<std::uint32_t, 16> words{};  // a header has 148 bits at most
  if (values.empty() || values.size() - 1 > words.size()) return shape;
  std::copy(values.begin() + 1, values.end(), words.begin());
  const bit_stream bits = open_bits(std::as_writable_bytes(std::span{words}));
  for (const bool is_reversed : {false, true}) {
    if (is_reversed)
      for (auto& word : words) word = reversed(word);
    stream_rewind(bits.get());
    zfp_stream_set_bit_stream(shape.stream.get(), bits.get());
    shape.is_known = zfp_read_header(shape.stream.get(), shape.field.get(), ZFP_HEADER_FULL) != 0;
    shape.is_reversed = is_reversed;
    if (shape.is_known) break;
  }
  zfp_stream_set_bit_stream(shape.stream.get(), nullptr);
  return shape;
}

/// A stream followed by zeros. libzfp does not know where a stream ends, so there are as many zeros
/// as it may read: the rest of one block, and, for each further block that is all zeros, less than
/// sixteen bytes or `least_bits`.
std::span<std::byte> with_zeros_behind(std::span<const std::byte> stored, std::size_t blocks,
                                       std::size_t least_bits, growing_bytes& memory) {
  constexpr std::size_t max_of_a_block = 4096;
  const std::size_t zeros = max_of_a_block + blocks * (16 + least_bits / 8);
  const auto bytes = memory.take((stored.size() + zeros + 7) / 8 * 8);
  const auto behind = std::copy(stored.begin(), stored.end(), bytes.begin());
  std::fill(behind, bytes.end(), std::byte{0});
  return bytes;
}

/// A libzfp stream without a header.
std::size_t undo_zfp(std::span<const unsigned> values, std::span<const std::byte> stored,
                     std::span<std::byte> out, hdf5_decoder& scratch) {
  const zfp_shape shape = read_shape(values);
  const std::size_t claimed = zfp_field_size_bytes(shape.field.get());
  if (claimed > out.size()) fail_for_claim(claimed, out.size());
  const std::size_t blocks = zfp_field_blocks(shape.field.get());
  unsigned least_bits = 0;
  zfp_stream_params(shape.stream.get(), &least_bits, nullptr, nullptr, nullptr);
  const auto end_early = [&] {
    throw hdf5_filter_error{"the stream of " + std::to_string(stored.size()) +
                            " bytes ends early: it has " + std::to_string(blocks) + " blocks"};
  };
  if (blocks * least_bits > 8 * stored.size()) end_early();

  const bit_stream bits = open_bits(with_zeros_behind(stored, blocks, least_bits, scratch.block));
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(out.data()) % sizeof(double) == 0;
  const auto decoded = is_aligned ? out.first(claimed) : scratch.planes.take(claimed);
  zfp_field_set_pointer(shape.field.get(), decoded.data());
  zfp_stream_set_bit_stream(shape.stream.get(), bits.get());
  if (zfp_decompress(shape.stream.get(), shape.field.get()) == 0)
    throw hdf5_filter_error{"libzfp does not decode the stream"};
  const std::size_t last_word = (8 * stored.size() + stream_word_bits - 1) / stream_word_bits;
  if (stream_rtell(bits.get()) > last_word * stream_word_bits) end_early();

  if (!is_aligned) std::memcpy(out.data(), decoded.data(), claimed);
  if (shape.is_reversed)
    reverse_elements(out.first(claimed), claimed / zfp_field_size(shape.field.get(), nullptr));
  return claimed;
}

}  // namespace

hdf5_undo undo_of_zfp(std::span<const unsigned> values) {
  const zfp_shape shape = read_shape(values);
  if (!shape.is_known)
    return {.refusal = "has a header that " + std::string{zfp_version_string} + " does not read"};
  return {.effect = hdf5_size_effect::compression, .function = undo_zfp};
}

}  // namespace feedline::detail
