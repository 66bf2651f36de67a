#include "hdf5/filter/input.hpp"
#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include <b2nd.h>

namespace feedline::detail {

namespace {

/// Needed because libblosc2 may leave bytes of a damaged chunk unwritten, and report no error.
void clear(std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw hdf5_filter_error{what + ": libblosc2 reports error " + std::to_string(error)};
}

/// The metadata name of a frame's array; Caterva is b2nd's former name. @return Null: it is not an
/// array.
const char* array_description_of(blosc2_schunk& frame) {
  for (const char* const name : {"b2nd", "caterva"})
    if (blosc2_meta_exists(&frame, name) >= 0) return name;
  return nullptr;
}

using extents = std::array<std::int64_t, B2ND_MAX_DIM>;

/// Checks the description of an array, because libblosc2 before version 3 trusts its numbers: it
/// divides by them, and reads and writes outside its memory. @return The array's extents; unused
/// ones are 0.
extents require_description(blosc2_schunk& frame, const char* name, std::size_t max_bytes) {
  std::uint8_t* content = nullptr;
  std::int32_t size = 0;
  const int result = blosc2_meta_get(&frame, name, &content, &size);
  if (result < 0) fail("its description of an array is damaged", result);
  const std::unique_ptr<std::uint8_t, void (*)(void*)> freed{content, std::free};
  hdf5_filter_input input{std::as_bytes(std::span{content, static_cast<std::size_t>(size)})};
  (void)input.take(2);
  const unsigned rank = input.little_endian<std::uint8_t>();
  if (rank > B2ND_MAX_DIM)
    throw hdf5_filter_error{"claims an array of " + std::to_string(rank) + " dimensions"};
  // One list each, and a type byte before each number.
  hdf5_filter_input array{input.take(1 + 9 * rank).subspan(1)};
  hdf5_filter_input chunk{input.take(1 + 5 * rank).subspan(1)};
  hdf5_filter_input block{input.take(1 + 5 * rank).subspan(1)};
  if (!input.rest().empty()) {
    (void)input.take(2);
    (void)input.take(input.big_endian<std::uint32_t>());  // name of the type
  }

  if (frame.typesize < 1) throw hdf5_filter_error{"claims elements of no bytes"};
  const auto element = static_cast<std::size_t>(frame.typesize);
  if (element > max_bytes) fail_for_claim(element, max_bytes);
  std::size_t left = max_bytes / element;
  extents shape{};
  for (unsigned i = 0; i < rank; ++i) {
    const auto next = [](hdf5_filter_input& from, auto zero) {
      (void)from.take(1);
      return from.big_endian<decltype(zero)>();
    };
    const auto extent = next(array, std::uint64_t{});
    const auto of_chunk = next(chunk, std::uint32_t{});
    const auto of_block = next(block, std::uint32_t{});
    if (extent > left)
      throw hdf5_filter_error{"claims a shape of more than " + std::to_string(max_bytes) +
                              " bytes"};
    // Blocks at the end are padded in memory, to less than twice the size in each dimension.
    if (of_block < 1 || of_block > of_chunk || of_chunk > extent)
      throw hdf5_filter_error{"its blocks are larger than what they are parts of"};
    left /= static_cast<std::size_t>(extent);
    shape[i] = static_cast<std::int64_t>(extent);
  }
  return shape;
}

/// Reads an array of several dimensions, which is stored in blocks of several dimensions.
std::size_t undo_array(b2nd_array_t& array, const extents& shape, std::span<std::byte> out) {
  const extents first{};
  auto claimed = static_cast<std::size_t>(array.sc->typesize);
  for (int i = 0; i < array.ndim; ++i)
    claimed *= static_cast<std::size_t>(shape[static_cast<std::size_t>(i)]);
  clear(out.first(claimed));
  const int result = b2nd_get_slice_cbuffer(&array, first.data(), shape.data(), out.data(),
                                            shape.data(), static_cast<std::int64_t>(claimed));
  if (result < 0) fail("the blocks do not decode", result);
  return claimed;
}

std::size_t undo_plain(blosc2_schunk& frame, std::span<std::byte> out) {
  if (frame.nchunks != 1)
    throw hdf5_filter_error{"the frame has " + std::to_string(frame.nchunks) + " chunks, not one"};
  const auto claimed = static_cast<std::uint64_t>(frame.nbytes);
  if (claimed > out.size()) fail_for_claim(claimed, out.size());
  clear(out.first(claimed));
  const int result =
      blosc2_schunk_decompress_chunk(&frame, 0, out.data(), static_cast<std::int32_t>(claimed));
  if (result < 0) fail("the blocks do not decode", result);
  return static_cast<std::size_t>(result);
}

/// Reads a frame, whose metadata says whether it is an array. The frame has everything that
/// decoding needs.
std::size_t undo_frame(std::span<const unsigned>, std::span<const std::byte> stored,
                       std::span<std::byte> out, hdf5_decoder&) {
  // b2nd.h does not modify its input, though its type is not const.
  auto* const bytes =
      const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(stored.data()));
  std::unique_ptr<blosc2_schunk, int (*)(blosc2_schunk*)> frame{
      blosc2_schunk_from_buffer(bytes, static_cast<std::int64_t>(stored.size()), false),
      blosc2_schunk_free};
  if (frame == nullptr)
    throw hdf5_filter_error{"the " + std::to_string(stored.size()) +
                            " bytes are not a frame of Blosc 2: cut or damaged"};
  const char* const description = array_description_of(*frame);
  if (description == nullptr) return undo_plain(*frame, out);
  const extents shape = require_description(*frame, description, out.size());
  b2nd_array_t* made = nullptr;
  const int result = b2nd_from_schunk(frame.get(), &made);
  if (result < 0) fail("its description of an array is damaged", result);
  (void)frame.release();  // now owned by the array
  const std::unique_ptr<b2nd_array_t, int (*)(b2nd_array_t*)> array{made, b2nd_free};
  return undo_array(*array, shape, out);
}

}  // namespace

hdf5_undo undo_of_blosc2(std::span<const unsigned> values) {
  constexpr std::size_t rank = 7;  // position in the client data of arrays
  if (values.size() > rank && values[rank] > B2ND_MAX_DIM)
    return {.refusal = "has chunks of " + std::to_string(values[rank]) +
                       " dimensions, of which this libblosc2 knows " +
                       std::to_string(B2ND_MAX_DIM)};
  [[maybe_unused]] static const bool has_begun = (blosc2_init(), true);
  return {.effect = hdf5_size_effect::compression, .function = undo_frame};
}

}  // namespace feedline::detail
