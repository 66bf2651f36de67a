#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/image_layout.hpp>
#include <feedline/dataset/interpolation.hpp>
#include <feedline/dataset/read_context.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Operation that one step of an encoding applied to a block's bytes.
enum class block_filter : std::uint8_t {
  /// Compressed as a zlib stream: two bytes of header and an Adler-32 at the end.
  deflate,
  gzip,          ///< compressed as a gzip file of one member
  zstd,          ///< compressed: one or more frames of Zstandard
  lz4,           ///< compressed like HDF5's filter 32004
  byte_shuffle,  ///< reordered: byte k of all elements, for each k
  /// Reordered: bit k of all elements, for each k, like HDF5's filter 32008 without compression.
  bit_shuffle,
  bit_shuffle_lz4,   ///< bit_shuffle, then LZ4, like that filter
  bit_shuffle_zstd,  ///< bit_shuffle, then Zstandard, like that filter
  /// A frame of Blosc 1 with LZ4 inside, like HDF5's filter 32001. Its header says how elements are
  /// shuffled.
  blosc_lz4,
  blosc_zstd,  ///< the same with Zstandard inside
  blosc_zlib,  ///< the same with zlib's streams inside
  fletcher32,  ///< unchanged bytes, followed by HDF5's checksum of four bytes
  /// An image file that decodes to a row as described by `block_step::image`: a JPEG or PNG, as
  /// `encoded_blocks::stored_block::format` says.
  image,
  /// A window that is cut out of chunks of an array, which several blocks share: see
  /// `feedline::window_block`.
  window,
  /// A row of a sparse matrix, which becomes dense: see `feedline::window_block`.
  sparse_row,
  other,  ///< a step that only `encoded_blocks::decode` can undo
};

/// The row that an image is decoded to: height × width × channels values of a type. The members are
/// those of `image_options`.
struct image_row {
  std::uint32_t height = 0;  ///< largest height, if rows differ from batch to batch; so is `width`
  std::uint32_t width = 0;
  std::uint32_t shorter_side = 0;
  image_layout layout = image_layout::hwc;
  bool allow_damaged = false;
  feedline::interpolation interpolation = feedline::interpolation::bilinear;
  std::uint8_t fill[3] = {};             ///< around images that do not fill their row
  std::uint32_t channels = 3;            ///< 3, or 1: grey
  element_type type = element_type::u8;  ///< u8 or u16
  /// Whether values are those of a mask (`make_mask_decoder`): a PNG's stored indices or grey
  /// values. Then channels are 1, the type is u8 and the interpolation is nearest.
  bool is_mask = false;

  [[nodiscard]] std::size_t value_bytes() const noexcept { return size_bytes(type); }
  friend bool operator==(const image_row&, const image_row&) = default;
};

/// The format of an image file that a device decodes.
enum class image_format : std::uint8_t { jpeg, png };

/// The part of an image from which its row is made, in pixels of the stored image. Height 0: the
/// row is made from the whole image, as `image_row` says.
struct source_window {
  std::uint16_t top = 0;
  std::uint16_t left = 0;
  std::uint16_t height = 0;
  std::uint16_t width = 0;

  friend bool operator==(const source_window&, const source_window&) = default;
};

/// The position of an image within its row, in pixels, if it does not fill the row that `image_row`
/// describes.
struct image_in_row {
  /// Extents of the batch's rows (`sample_context::size`), at most those of `image_row`. The row is
  /// dense, and starts where its block starts. 0: the extents of `image_row`.
  std::uint16_t row_height = 0;
  std::uint16_t row_width = 0;
  std::uint16_t top = 0;
  std::uint16_t left = 0;
  /// Extents to which the image, or its window, is resized; the rest of the row is
  /// `image_row::fill`. 0: the image fills the row.
  std::uint16_t height = 0;
  std::uint16_t width = 0;
  bool mirrored = false;  ///< left and right of the image are exchanged; needs extents other than 0

  friend bool operator==(const image_in_row&, const image_in_row&) = default;
};

/// Images with more pixels are not given to devices as files, because devices allocate memory to
/// decode one of the maximum size.
inline constexpr std::uint64_t max_image_pixels = std::uint64_t{4096} * 4096;
/// The same limit for PNGs, which may have twice as many bytes per pixel.
inline constexpr std::uint64_t max_png_pixels = max_image_pixels / 2;

/// The numbers of a sparse row.
struct sparse_types {
  element_type values = element_type::f32;  ///< an integer, f32 or f64
  std::uint32_t column_bytes = 4;           ///< 1, 2, 4 or 8: an unsigned integer

  friend bool operator==(const sparse_types&, const sparse_types&) = default;
};

/// One step of an encoding.
struct block_step {
  block_filter filter = block_filter::other;
  std::uint32_t element_bytes = 1;  ///< size of an element, for shuffles
  image_row image = {};             ///< decoded row, for images
  sparse_types sparse = {};         ///< for sparse rows

  friend bool operator==(const block_step&, const block_step&) = default;
};

/// A dataset's rows in blocks as stored, for devices that decode them.
///
/// Block b of a field begins with sample b × rows(). The last block may extend past the dataset's
/// end; its surplus rows are decoded too, but have no meaning. A field whose rows are not stored in
/// such blocks has no steps: its `read` returns the same rows as `dataset::read`.
///
/// Threads: any number at once.
class encoded_blocks {
 public:
  /// Storage of one block of a field.
  struct stored_block {
    std::size_t bytes = 0;      ///< at least 1
    std::uint32_t skipped = 0;  ///< bit i: step i was left out
    /// If the block is an image file: height of its image in pixels. Otherwise 0.
    std::uint16_t height = 0;
    std::uint16_t width = 0;
    source_window window = {};  ///< within the image; it is resized to the row's height × width
    image_in_row in_row = {};
    image_format format = image_format::jpeg;
    std::uint8_t pixel_bits = 0;  ///< bits of a stored PNG's pixel; 0: unknown, at most 64
    /// How the image is turned, as EXIF's orientation: 1 to 8. `height`, `width` and `window` are
    /// those of the stored image, and `in_row` is that of the turned one.
    std::uint8_t orientation = 1;
  };

  encoded_blocks() = default;
  encoded_blocks(const encoded_blocks&) = delete;
  encoded_blocks& operator=(const encoded_blocks&) = delete;
  virtual ~encoded_blocks() = default;

  /// Number of samples in a block; at least 1.
  [[nodiscard]] virtual std::uint64_t rows() const noexcept = 0;
  /// Encoding of a field's blocks, in the order in which a writer applied the steps; at most 32.
  /// @param field Index in `dataset::fields`.
  [[nodiscard]] virtual std::span<const block_step> steps(std::size_t field) const noexcept = 0;
  /// Storage of a block, as far as it is known before it is read. `bytes` is an upper limit. An
  /// image's height and width are not known yet. Its format is a guess, from which a loader
  /// computes how many images are decoded at once. Never blocks.
  [[nodiscard]] virtual stored_block stored(std::size_t field,
                                            std::uint64_t block) const noexcept = 0;
  /// Largest size of a stored block of the field.
  [[nodiscard]] virtual std::size_t max_stored_bytes(std::size_t field) const noexcept = 0;

  /// Reads a block as stored. Blocks. If a step of this block differs from that of the field's
  /// other blocks, as for an image of another format, the step is undone here and its bit is set in
  /// `skipped`. The rows of a field with `field::by_batch` have the size `context.size`; if all
  /// steps are skipped, `bytes` is the size of such a row.
  /// @param out A buffer of the size that `stored` returned.
  /// @param context The sample that the block is read for, if `rows()` is 1; otherwise `{}`. Only
  /// values that vary by epoch may depend on it, as in `decoder::decode`.
  /// @return Storage of the bytes in `out`.
  /// @throws dataset_error if it cannot be read.
  virtual stored_block read(std::size_t field, std::uint64_t block, std::span<std::byte> out,
                            const sample_context& context) const = 0;
  /// Decodes a block. This is the reference for devices.
  /// @param bytes Bytes that `read` wrote.
  /// @param stored Result of that `read`.
  /// @param out    `rows()` rows of the field, of the largest size; a smaller row is at the begin,
  ///               and the rest stays. The content is undefined if this throws.
  /// @throws std::exception if the bytes do not decode to exactly this size.
  virtual void decode(std::size_t field, std::span<const std::byte> bytes,
                      const stored_block& stored, std::span<std::byte> out) const = 0;

  /// For reports: why `read` undoes a step of a block that devices undo of the field's other
  /// blocks, such as "a progressive JPEG". Empty: it does not, or the reason is not known. Reads
  /// the block, and decodes nothing. Blocks.
  /// @throws dataset_error if it cannot be read.
  [[nodiscard]] virtual std::string left_to_readers(std::size_t field, std::uint64_t block) const {
    (void)field;
    (void)block;
    return {};
  }
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
