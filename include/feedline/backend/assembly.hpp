#pragma once

#include <feedline/backend/mixing.hpp>
#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/made_fields.hpp>
#include <feedline/export.hpp>
#include <feedline/transform/augmentation.hpp>
#include <feedline/transform/pixel_operations.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Conversion of a field's row in the dataset to its row in a batch, except for operations on
/// pixels. Rows are treated as images of channels × height × width elements. A row that is not an
/// image has one channel and height 1.
struct row_conversion {
  /// Maximum number of channels with a scale and an offset each.
  static constexpr std::size_t max_channels = 32;

  enum class operation : std::uint8_t {
    copy,  ///< bytes unchanged; all members below are ignored
    /// Each element becomes element × scale + offset, moved by window, flip and layout. Integers
    /// and booleans converted to an integer or boolean are cast: to integers modulo 2^bits, to
    /// booleans by whether the value is not 0.
    convert,
    one_hot,  ///< `classes` elements: 1 at the index given by the row's only element, else 0
    /// The field has no rows of its own: its rows are those of the field `offsets`, i32 offsets of
    /// samples that are packed into to_width elements. Each of these becomes what `values` says.
    /// Only if `device_capabilities::makes_packed_values`.
    packed,
  };

  operation what = operation::copy;
  element_type from = element_type::u8;
  /// F32, f16 or bf16; also an integer or boolean if `from` is one. Ignored by `copy`.
  element_type to = element_type::u8;
  bool channels_last = false;     ///< whether the dataset's row has its channels last
  bool to_channels_last = false;  ///< whether the batch's row has its channels last
  /// Whether each channel of the batch has its own scale and offset; else the first is used for
  /// all.
  bool per_channel = false;
  /// Whether the window is resized to to_height × to_width; else it has this size. Only if `to` is
  /// a floating-point type, and without padding.
  bool resizes = false;
  /// Whether the window is random. If it is not, it is the central one, or the whole image if
  /// `resizes`.
  bool random_window = false;
  std::uint32_t channels = 1;
  std::uint32_t height = 1;  ///< height and width in the dataset's row
  std::uint32_t width = 1;
  std::uint32_t to_height = 1;  ///< height and width in the batch's row
  std::uint32_t to_width = 1;
  std::uint32_t padding = 0;  ///< zeros (values, before scale and offset) added on each side
  /// Random window that is resized: share of the image's area, and binary logarithm of the window's
  /// width over its height. Both are used as binary32.
  value_range area = {};
  value_range log_ratio = {};
  /// Height and width of the central window used if ten draws do not fit.
  std::uint32_t else_height = 0;
  std::uint32_t else_width = 0;
  std::uint32_t classes = 0;                        ///< used by one_hot
  std::uint32_t offsets = 0;                        ///< used by packed
  packed_values values = packed_values::positions;  ///< used by packed; `to` is its type
  std::uint64_t flip_below = 0;  ///< a sample is flipped if its 32-bit draw is below this; 0: never
  float scale[max_channels] = {};
  float offset[max_channels] = {};
};

/// Conversion of a field's row in the dataset to its row in a batch: the window, resized or cut
/// out, is flipped, its pixels are operated on, then scaled and cast.
struct field_conversion : row_conversion {
  pixel_operations operations = {};  ///< used by convert if `to` is a floating-point type

  /// Whether pixels are computed, and not only moved and scaled.
  [[nodiscard]] bool computes_pixels() const noexcept {
    return resizes || operations.any || operations.channels != 0;
  }
  [[nodiscard]] bool is_random() const noexcept {
    return random_window || flip_below != 0 || operations.random;
  }
  /// Channels of the batch's row.
  [[nodiscard]] std::uint32_t to_channels() const noexcept {
    return operations.channels == 0 ? channels : operations.channels;
  }
};

/// One field of an assembly. If its conversion is `packed`, its members for rows of the dataset are
/// those of the field with the offsets, except that no row is cached for it.
struct field_assembly {
  /// Cached rows; row r is at cached + r × cached_row_bytes if it is `in_place`. See `cached_row`.
  const std::byte* cached = nullptr;
  bool cached_on_host = false;  ///< whether they are mapped host memory, read over the bus
  /// Range of the cached rows at `cached`. Rows before `first` and from `first + count` on are at
  /// `apart`, in device memory, one after the other. For mapped memory these are the rows that
  /// share a page with other memory.
  struct rows_in_place {
    std::uint32_t first = 0;
    std::uint32_t count = 0xFFFF'FFFF;
    const std::byte* apart = nullptr;
  };
  rows_in_place in_place = {};
  std::byte* keep = nullptr;  ///< same memory, writable, to cache rows in; null: no row is added
  /// Device memory for the rows of the slot's samples, dense. Rows read over the bus may be stored
  /// here before they are converted. Null: they are converted while they are read. Used only if no
  /// row arrives from staging.
  std::byte* passing = nullptr;
  std::size_t row_bytes = 0;  ///< size of the dataset's rows
  /// Distance of cached rows; 0: `row_bytes`. It is larger where batches have images of different
  /// sizes.
  std::size_t cached_row_bytes = 0;
  std::size_t to_offset = 0;     ///< offset of the field within a batch of the slot
  std::size_t to_row_bytes = 0;  ///< size of the batch's rows
  field_conversion conversion;

  /// Index of the field whose rows are this one's. @param own This field's index.
  [[nodiscard]] std::size_t rows_of(std::size_t own) const noexcept {
    return conversion.what == row_conversion::operation::packed ? conversion.offsets : own;
  }
  /// Distance of cached rows in bytes.
  [[nodiscard]] std::size_t cached_distance() const noexcept {
    return cached_row_bytes != 0 ? cached_row_bytes : row_bytes;
  }
  /// Device address of a cached row.
  [[nodiscard]] const std::byte* cached_row(std::uint32_t number) const noexcept {
    if (number - in_place.first < in_place.count) return cached + number * cached_distance();
    const std::uint32_t place = number < in_place.first ? number : number - in_place.count;
    return in_place.apart + place * cached_distance();
  }
};

/// Describes how a device slot is assembled from rows that arrived in `copy_destination` and from
/// cached rows.
///
/// `copy_destination` is device memory that holds an exact copy of a staging slot. It contains
/// - at `sources_at`, a u32 for each sample: the number of a cached row, or `arrived` plus the
///   row's index in the chunk of the sample's run;
/// - at `random_bits_at`, if `varies`, a u32 of random bits for each sample;
/// - at `directory_at`, 2 + fields u32 for each run. The first is the number of rows in the run's
///   chunk. The others are offsets, in units of 16 bytes from the start of `copy_destination`,
///   first to the chunk's keep numbers, then to each field's rows;
/// - the chunks. A chunk has a u32 keep number for each row (the number under which the row is
///   cached, or `not_cached`; absent unless `keeps`), then the rows field after field, dense. Each
///   part begins at a multiple of 16 bytes.
///
/// A run is the part of a batch that one read filled. Run r of a slot holds the samples from (r mod
/// runs_per_batch) × run_samples on of batch r ÷ runs_per_batch.
struct assembly {
  static constexpr std::uint32_t arrived = 0x8000'0000;
  static constexpr std::uint32_t not_cached = 0xFFFF'FFFF;

  std::byte* slot = nullptr;  ///< device memory: one batch after the other
  std::uint64_t batch_size = 0;
  std::size_t batch_bytes = 0;  ///< distance between batches
  std::uint64_t samples = 0;    ///< samples in the slot; at least 1
  const std::byte* copy_destination = nullptr;
  /// Host memory with the same bytes, read during the call; null: they are only on the device.
  const std::byte* staged = nullptr;
  std::size_t sources_at = 0;
  std::size_t random_bits_at = 0;
  std::size_t directory_at = 0;
  std::uint64_t run_samples = 0;
  std::uint64_t runs_per_batch = 0;
  bool varies = false;  ///< whether there are random bits
  /// Whether chunks have keep numbers and some row is to be cached.
  bool keeps = false;
  std::span<const field_assembly> fields;  ///< host memory, read during the call
  /// Host memory, read during the call; null: samples are not mixed. The slot's first sample has an
  /// even index in its batch.
  const pair_mixing* mixing = nullptr;
  /// Random bits of (seed, epoch), for mixing that draws for each batch.
  std::uint32_t epoch_bits = 0;
  std::uint32_t first_batch = 0;  ///< index in its epoch of the slot's first batch, modulo 2^32
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
