#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/device/augmentation.hpp>
#include <feedline/device/mixing.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How a field's row in the dataset becomes its row in a batch. Rows are seen as images of channels
/// × height × width elements; what is no image has one channel, height 1.
struct field_conversion {
  /// Channels that can each have a scale and an offset of their own.
  static constexpr std::size_t max_channels = 32;

  enum class operation : std::uint8_t {
    copy,     ///< bytes as they are; nothing below counts
    convert,  ///< each element × scale + offset, moved by crop, flip and layout; to an integer or
              ///< boolean, from one, it is cast: modulo 2^bits, or whether it is not 0
    one_hot,  ///< `classes` elements: 1 at the row's only element, else 0
  };

  operation what = operation::copy;
  element_type from = element_type::u8;
  element_type to = element_type::u8;  ///< f32, f16 or bf16, or whole if `from` is, unless copied
  bool channels_last = false;          ///< of the dataset's row
  bool to_channels_last = false;       ///< of the batch's row
  bool per_channel = false;            ///< scale and offset: one a channel; else the first for all
  bool random_crop = false;            ///< else the crop is the middle
  std::uint32_t channels = 1;
  std::uint32_t height = 1;  ///< of the dataset's row
  std::uint32_t width = 1;
  std::uint32_t to_height = 1;  ///< of the batch's row
  std::uint32_t to_width = 1;
  std::uint32_t padding = 0;     ///< zeros (values, before scale and offset) on each side
  std::uint32_t classes = 0;     ///< of one_hot
  std::uint64_t flip_below = 0;  ///< flipped if the sample's 32-bit draw is below it; 0: never
  float scale[max_channels] = {};
  float offset[max_channels] = {};
  image_augmentation augmentation = {};  ///< of convert, if `to` is a float
};

/// One field of an assembly.
struct field_assembly {
  const std::byte* cached = nullptr;  ///< row r of the cached rows is at cached + r × row_bytes, if
                                      ///< it lies `in_place`; see `cached_row`
  bool cached_on_host = false;        ///< they are mapped host memory, read over the bus
  /// Which cached rows lie there. Rows before `first` and from `first + count` on are at `apart`,
  /// in device memory, one after the other: of mapped memory those that share a page with other
  /// memory.
  struct rows_in_place {
    std::uint32_t first = 0;
    std::uint32_t count = 0xFFFF'FFFF;
    const std::byte* apart = nullptr;
  };
  rows_in_place in_place = {};
  std::byte* keep = nullptr;     ///< the same memory, to keep rows in; null: none are
  std::byte* passing = nullptr;  ///< device memory for the rows of the slot's samples, dense: read
                                 ///< over the bus they may lie there before they are converted;
                                 ///< null: they are converted on their way. Only if none arrives
  std::size_t row_bytes = 0;     ///< of the dataset's rows
  std::size_t to_offset = 0;     ///< of the field within a batch of the slot
  std::size_t to_row_bytes = 0;  ///< of the batch's rows
  field_conversion conversion;

  /// Where the device finds a cached row.
  [[nodiscard]] const std::byte* cached_row(std::uint32_t number) const noexcept {
    if (number - in_place.first < in_place.count) return cached + number * row_bytes;
    const std::uint32_t place = number < in_place.first ? number : number - in_place.count;
    return in_place.apart + place * row_bytes;
  }
};

/// How a device slot is put together out of rows that arrived in a landing buffer and rows that are
/// cached.
///
/// A landing buffer is device memory into which a staging slot was copied as it is. It holds
/// - at `sources_at`, for each sample a u32: a cached row's number, or `arrived` plus the row's
///   place in the chunk of the sample's run;
/// - at `random_bits_at`, if it `varies`, for each sample a u32 to draw from;
/// - at `directory_at`, for each run 2 + fields u32: its chunk's rows, then in units of 16 bytes
///   from the landing buffer's start where the chunk's keep numbers lie, then where each field's
///   rows lie;
/// - the chunks: for each row a u32 keep number (the cached row that it becomes, or `not_cached`;
///   absent unless `keeps`), then field after field the rows, dense, each part at a multiple of 16
///   bytes.
///
/// A run is the part of a batch that one read filled: run r of a slot holds samples (r mod
/// runs_per_batch) × run_samples … of batch r ÷ runs_per_batch.
struct assembly {
  static constexpr std::uint32_t arrived = 0x8000'0000;
  static constexpr std::uint32_t not_cached = 0xFFFF'FFFF;

  std::byte* slot = nullptr;  ///< device memory: batch after batch
  std::uint64_t batch_size = 0;
  std::size_t batch_bytes = 0;  ///< from one batch to the next
  std::uint64_t samples = 0;    ///< in the slot; at least 1
  const std::byte* landing_buffer = nullptr;
  const std::byte* staged = nullptr;  ///< host memory: the same bytes, read during the call; null:
                                      ///< they are on the device alone
  std::size_t sources_at = 0;
  std::size_t random_bits_at = 0;
  std::size_t directory_at = 0;
  std::uint64_t run_samples = 0;
  std::uint64_t runs_per_batch = 0;
  bool varies = false;                     ///< there are random bits
  bool keeps = false;                      ///< chunks hold keep numbers, and some row is to be kept
  std::span<const field_assembly> fields;  ///< host memory, read during the call
  const pair_mixing* mixing = nullptr;  ///< likewise; null: no samples are mixed. The slot's first
                                        ///< sample is one of even number in its batch
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
