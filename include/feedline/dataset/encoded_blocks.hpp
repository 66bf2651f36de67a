#pragma once

#include <feedline/dataset/image_layout.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What a step of an encoding did to a block's bytes.
enum class block_filter : std::uint8_t {
  deflate,       ///< compressed as zlib's streams are: two bytes before and an Adler-32 behind
  zstd,          ///< compressed, one or more frames of Zstandard
  lz4,           ///< compressed as HDF5's filter 32004 does
  byte_shuffle,  ///< byte k of all elements, for each k
  bit_shuffle,   ///< bit k of all elements, for each k, as HDF5's filter 32008 without compression
  bit_shuffle_lz4,   ///< the same, and compressed by LZ4, as that filter does
  bit_shuffle_zstd,  ///< the same by Zstandard
  fletcher32,        ///< followed by four bytes of HDF5's checksum
  jpeg,              ///< an image's file became a row, as `block_step::image` says
  other,             ///< anything that only `encoded_blocks::decode` undoes
};

/// The row that an image becomes: u8 of height × width × 3. Fields are those of `image_options`.
struct image_row {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t shorter_side = 0;
  image_layout layout = image_layout::hwc;
  bool allow_damaged = false;

  friend bool operator==(const image_row&, const image_row&) = default;
};

/// Images of more pixels are not given to devices as their files: memory to decode one is made for
/// the largest.
inline constexpr std::uint64_t max_image_pixels = std::uint64_t{4096} * 4096;

/// One step of an encoding.
struct block_step {
  block_filter filter = block_filter::other;
  std::uint32_t element_bytes = 1;  ///< of shuffles
  image_row image = {};             ///< of an image

  friend bool operator==(const block_step&, const block_step&) = default;
};

/// A dataset's rows in blocks, as they are stored: for devices that decode them.
///
/// Block b holds the samples from b × rows() on, in each field. Of the last block those behind the
/// dataset's end mean nothing, but they are there once it is decoded. A field whose rows are not
/// stored in such blocks has no steps: its `read` gives rows as `dataset::read` does.
///
/// Threads: any number, at once.
class encoded_blocks {
 public:
  /// How one block of a field is stored.
  struct stored_block {
    std::size_t bytes = 0;      ///< at least 1
    std::uint32_t skipped = 0;  ///< bit i: step i was left out
    std::uint16_t height = 0;   ///< of an image's file, in pixels; 0: it is none
    std::uint16_t width = 0;
  };

  encoded_blocks() = default;
  encoded_blocks(const encoded_blocks&) = delete;
  encoded_blocks& operator=(const encoded_blocks&) = delete;
  virtual ~encoded_blocks() = default;

  /// Samples of a block; at least 1.
  [[nodiscard]] virtual std::uint64_t rows() const noexcept = 0;
  /// How a field's blocks are encoded, in the order in which a writer took the steps; at most 32.
  /// @param field Its place in `dataset::fields`.
  [[nodiscard]] virtual std::span<const block_step> steps(std::size_t field) const noexcept = 0;
  /// How a block is stored, before it is read: what `read` gives takes no more bytes, and of an
  /// image height and width are not known. Never blocks.
  [[nodiscard]] virtual stored_block stored(std::size_t field,
                                            std::uint64_t block) const noexcept = 0;
  /// No block of the field is stored in more.
  [[nodiscard]] virtual std::size_t max_stored_bytes(std::size_t field) const noexcept = 0;

  /// Reads a block as it is stored. Blocks. A step that the block needs undone in another way than
  /// its field's blocks do (an image of another format) is undone here, and is in `skipped` then.
  /// @param out As many bytes as `stored` says.
  /// @return How what is in `out` is stored.
  /// @throws dataset_error if it cannot be read.
  virtual stored_block read(std::size_t field, std::uint64_t block,
                            std::span<std::byte> out) const = 0;
  /// Decodes a block: the reference for devices.
  /// @param stored What `read` gave. @param skipped As it said.
  /// @param out    `rows()` rows of the field; what is in it if this throws means nothing.
  /// @throws std::exception if the bytes do not decode to exactly as many.
  virtual void decode(std::size_t field, std::span<const std::byte> stored, std::uint32_t skipped,
                      std::span<std::byte> out) const = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
