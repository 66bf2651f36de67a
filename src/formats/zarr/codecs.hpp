#pragma once

#include <feedline/dataset/element_type.hpp>

#include "hdf5/filter/undo.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Operation of a codec on a chunk's bytes.
enum class zarr_codec_kind : std::uint8_t {
  zlib,
  gzip,
  zstd,
  lz4,         ///< numcodecs' form: the size in 4 bytes, then one block
  lz4_blocks,  ///< the form of HDF5's filter 32004, which devices decode
  blosc,
  bz2,
  shuffle,
  delta,
  fixed_scale_offset,
  crc32c,      ///< appended
  fletcher32,  ///< appended
};

/// Most codecs of an array.
inline constexpr std::size_t max_codecs = 16;

struct zarr_codec {
  zarr_codec_kind kind = zarr_codec_kind::zlib;
  std::string name = {};            ///< its name in the metadata
  std::uint32_t element_bytes = 1;  ///< for shuffles
  std::string compressor = {};      ///< compressor within frames of Blosc, if the metadata name one
  element_type to = element_type::u8;      ///< type of decoded elements, for delta and the scale
  element_type stored = element_type::u8;  ///< type of stored elements
  double scale = 1;
  double offset = 0;
};

/// The codecs of an array that change bytes, in the order in which a writer applied them.
/// Constant; any number of threads may use it, each with its own decoder.
class zarr_codecs {
 public:
  /// @param codecs At most `max_codecs`.
  explicit zarr_codecs(std::vector<zarr_codec> codecs) : codecs_{std::move(codecs)} {}

  [[nodiscard]] const std::vector<zarr_codec>& list() const noexcept { return codecs_; }
  [[nodiscard]] bool empty() const noexcept { return codecs_.empty(); }
  /// "shuffle, zstd".
  [[nodiscard]] std::string describe() const;
  /// The reason why feedline cannot undo them, with the codec's name; empty if it can.
  [[nodiscard]] std::string refusal() const;

  /// Most bytes that chunks of `bytes` bytes may be stored in.
  [[nodiscard]] std::size_t max_stored_bytes(std::size_t bytes) const noexcept;

  /// Undoes the codecs, from the last to the first, and compares checksums.
  /// @param out Memory of exactly the chunk's size; all of it is written.
  /// @throws hdf5_filter_error, with the codec's name, if the bytes do not decode to this size.
  void decode(std::span<const std::byte> stored, hdf5_decoder& with,
              std::span<std::byte> out) const;

 private:
  std::vector<zarr_codec> codecs_;
};

/// Compares the CRC-32C at the end of bytes. @return The bytes before it.
/// @throws hdf5_filter_error if they differ.
[[nodiscard]] std::span<const std::byte> without_crc32c(std::span<const std::byte> stored);

/// The decoded size that numcodecs' form of LZ4 claims. @throws hdf5_filter_error if it is cut.
[[nodiscard]] std::size_t claimed_lz4_bytes(std::span<const std::byte> stored);
/// Decodes its block, which must fill `out`. @throws hdf5_filter_error
void decode_lz4_block(std::span<const std::byte> block, std::span<std::byte> out);

/// Whether delta and fixedscaleoffset know a type: integers, f32 and f64.
[[nodiscard]] bool is_counted(element_type type) noexcept;

/// Undoes numcodecs' delta: each element is the sum of those before it, in the decoded type.
/// @param to, stored Types of decoded and stored elements, both little-endian.
/// @return Bytes that came out.
/// @throws hdf5_filter_error if the bytes are not whole elements, or more than there is room for.
std::size_t undo_delta(element_type to, element_type stored, std::span<const std::byte> bytes,
                       std::span<std::byte> out);

/// Undoes numcodecs' fixedscaleoffset: element / scale + offset, computed as NumPy 2 does: in f64,
/// or in f32 if stored elements are f32. @param to f32 or f64.
std::size_t undo_fixed_scale_offset(element_type to, element_type stored, double scale,
                                    double offset, std::span<const std::byte> bytes,
                                    std::span<std::byte> out);

}  // namespace feedline::detail
