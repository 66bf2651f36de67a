#include "dataset/hdf5_filter_undo.hpp"

#ifndef FEEDLINE_HAS_BLOSC2

namespace feedline::detail {

hdf5_undo undo_of_blosc2(std::span<const unsigned>) {
  return {.refusal = without_library("libblosc2")};
}

}  // namespace feedline::detail

#else

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include <b2nd.h>

namespace feedline::detail {

namespace {

/// For libblosc2 may leave bytes of a damaged chunk as they were, and report none.
void clear(std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw hdf5_filter_error{what + ": libblosc2 reports error " + std::to_string(error)};
}

/// Caterva is what b2nd was once. @return Null: it is no array.
const char* array_description_of(blosc2_schunk& frame) {
  for (const char* const name : {"b2nd", "caterva"})
    if (blosc2_meta_exists(&frame, name) >= 0) return name;
  return nullptr;
}

/// For libblosc2 before 3 trusts the number of dimensions, and keeps them where there is no room.
void require_known_rank(blosc2_schunk& frame, const char* description) {
  std::uint8_t* content = nullptr;
  std::int32_t size = 0;
  const int result = blosc2_meta_get(&frame, description, &content, &size);
  if (result < 0) fail("its description of an array is damaged", result);
  const std::unique_ptr<std::uint8_t, void (*)(void*)> freed{content, std::free};
  constexpr int bytes_a_dimension = 9 + 5 + 5;  // of the array, of a chunk, of a block
  if (size < 6 || content[2] > B2ND_MAX_DIM || size < 6 + bytes_a_dimension * content[2])
    throw hdf5_filter_error{"its description of an array is damaged"};
}

/// An array of several dimensions, which lies in blocks of several dimensions.
std::size_t undo_array(b2nd_array_t& array, std::span<std::byte> out) {
  std::array<std::int64_t, B2ND_MAX_DIM> first{};
  std::array<std::int64_t, B2ND_MAX_DIM> shape{};
  const auto element = static_cast<std::size_t>(array.sc->typesize);
  if (array.sc->typesize < 1) throw hdf5_filter_error{"claims elements of no bytes"};
  std::size_t claimed = element;
  for (int i = 0; i < array.ndim; ++i) {
    // Blocks at the end are filled up in memory, to less than twice as much in each dimension.
    if (array.blockshape[i] < 1 || array.blockshape[i] > array.chunkshape[i] ||
        array.chunkshape[i] > array.shape[i])
      throw hdf5_filter_error{"its blocks are larger than what they are parts of"};
    shape[static_cast<std::size_t>(i)] = array.shape[i];
    const auto extent = static_cast<std::size_t>(array.shape[i]);
    if (extent > out.size() / claimed)
      throw hdf5_filter_error{"claims a shape of more than " + std::to_string(out.size()) +
                              " bytes"};
    claimed *= extent;
  }
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

/// A frame, whose metadata says whether it is an array. All that decoding needs is in there.
std::size_t undo(std::span<const unsigned>, std::span<const std::byte> stored,
                 std::span<std::byte> out, hdf5_filter_scratch&) {
  // b2nd.h leaves what it is given alone, though its type does not say so.
  auto* const bytes =
      const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(stored.data()));
  std::unique_ptr<blosc2_schunk, int (*)(blosc2_schunk*)> frame{
      blosc2_schunk_from_buffer(bytes, static_cast<std::int64_t>(stored.size()), false),
      blosc2_schunk_free};
  if (frame == nullptr)
    throw hdf5_filter_error{"the " + std::to_string(stored.size()) +
                            " bytes are no frame of Blosc 2: cut or damaged"};
  const char* const description = array_description_of(*frame);
  if (description == nullptr) return undo_plain(*frame, out);
  require_known_rank(*frame, description);
  b2nd_array_t* made = nullptr;
  const int result = b2nd_from_schunk(frame.get(), &made);
  if (result < 0) fail("its description of an array is damaged", result);
  (void)frame.release();  // the array's from here
  const std::unique_ptr<b2nd_array_t, int (*)(b2nd_array_t*)> array{made, b2nd_free};
  return undo_array(*array, out);
}

}  // namespace

hdf5_undo undo_of_blosc2(std::span<const unsigned> values) {
  constexpr std::size_t rank = 7;  // where arrays have it in the client data
  if (values.size() > rank && values[rank] > B2ND_MAX_DIM)
    return {.refusal = "has chunks of " + std::to_string(values[rank]) +
                       " dimensions, of which this libblosc2 knows " +
                       std::to_string(B2ND_MAX_DIM)};
  [[maybe_unused]] static const bool has_begun = (blosc2_init(), true);
  return {.effect = hdf5_size_effect::compression, .function = undo};
}

}  // namespace feedline::detail

#endif
