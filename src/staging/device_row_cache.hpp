#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/index.hpp>

#include "device/owned.hpp"
#include "staging/rows_in_place.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace feedline::detail {

/// Rows of a dataset that the device can read by itself: in its own memory, where they are kept the
/// first time they pass, or in the dataset's memory, mapped. Rows of the dataset that share a page
/// with other memory are copied.
///
/// If only a part is kept, it is spread evenly over the dataset, so that every batch finds about
/// the same share of its rows, whatever the order.
///
/// A row counts as held as soon as the work that keeps it was issued: readers that see it fill
/// slots whose work is issued later and waits for it. Threads: `holds` and `place_of` by any,
/// `hold` by the transfer.
class device_row_cache {
 public:
  /// In device memory: room for `capacity` rows, none held yet.
  /// @param row_bytes Row size of each field.
  /// @param capacity  1 to `samples`.
  /// @throws out_of_memory, device_error.
  device_row_cache(const device_ptr& device, std::span<const std::size_t> row_bytes,
                   std::uint64_t samples, std::uint64_t capacity);
  /// Rows in the dataset's memory, mapped: all are held. Small fields (`is_small`) are copied into
  /// device memory now, and so are rows of other fields that share a page with other memory
  /// (`rows_in_place`). Blocks. @param rows Rows of each field. @throws as above.
  device_row_cache(const device_ptr& device, const std::vector<std::span<const std::byte>>& rows,
                   std::uint64_t samples);

  /// In device memory that others fill: this many rows, all held, each at its number.
  /// @throws out_of_memory, device_error.
  device_row_cache(const device_ptr& device, std::span<const std::size_t> row_bytes,
                   std::uint64_t rows);

  /// Bytes that rows cached in device memory take.
  [[nodiscard]] static std::size_t bytes(std::span<const std::size_t> row_bytes,
                                         std::uint64_t capacity) noexcept;

  /// Whether it is cheaper to copy a field in host memory once than to map it: a row of a few bytes
  /// costs the bus as much as one of 32.
  /// @param field Its rows, all samples'. @param all_bytes Size of all fields' rows.
  [[nodiscard]] static bool is_small(std::span<const std::byte> field,
                                     std::size_t all_bytes) noexcept {
    return field.size() < (std::size_t{16} << 10) || field.size() <= all_bytes / 64;
  }
  /// Device memory for the copied parts of fields in host memory.
  /// @param granularity `device_capabilities::map_granularity`.
  [[nodiscard]] static std::size_t copied_bytes(std::span<const std::span<const std::byte>> rows,
                                                std::uint64_t samples,
                                                std::size_t granularity) noexcept;

  /// The cached row that a sample has, or will have; nothing if it is not kept.
  [[nodiscard]] std::optional<std::uint32_t> place_of(sample_index sample) const noexcept {
    if (capacity_ == samples_) return static_cast<std::uint32_t>(sample.value);
    __extension__ using wide = unsigned __int128;
    const wide scaled = wide{sample.value} * step_;
    // A sample is kept iff floor((i + 1) * step) differs from floor(i * step): if adding a step
    // carries.
    if (static_cast<std::uint64_t>(scaled) <= std::numeric_limits<std::uint64_t>::max() - step_)
      return std::nullopt;
    return static_cast<std::uint32_t>(scaled >> 64);
  }
  /// Whether a row is there.
  [[nodiscard]] bool holds(std::uint32_t row) const noexcept {
    if (complete_.load(std::memory_order_relaxed)) return true;
    return (held_[row / 64].load(std::memory_order_relaxed) >> (row % 64) & 1U) != 0;
  }
  /// Whether all are.
  [[nodiscard]] bool holds_all() const noexcept {
    return capacity_ == samples_ && complete_.load(std::memory_order_relaxed);
  }
  /// Says that the work which keeps a row was issued.
  void hold(std::uint32_t row) noexcept;

  /// Never frees its memory, nor ends its mappings: work may still use them.
  void leak_memory() noexcept;

  /// Where the device finds a field's rows.
  [[nodiscard]] const std::byte* field(std::size_t place) const noexcept {
    return fields_[place].rows;
  }
  /// The same, for writing rows to keep; null if all are held from the start.
  [[nodiscard]] std::byte* keeping(std::size_t place) const noexcept {
    return fields_[place].keeping;
  }
  /// Whether a field's rows lie in the dataset's memory.
  [[nodiscard]] bool on_host(std::size_t place) const noexcept { return fields_[place].on_host; }
  /// The rows of such a field that do; the others are apart, in device memory.
  [[nodiscard]] field_assembly::rows_in_place in_place(std::size_t place) const noexcept {
    return fields_[place].in_place;
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

 private:
  /// Lays the fields' rows out in `memory_`.
  void lay_out(std::span<const std::size_t> row_bytes, bool keeps);

  /// Maps a field in the dataset's memory, and copies the other rows to `memory_`.
  /// @param at Offset in that; becomes the offset of the next field.
  void map(const device_ptr& device, std::span<const std::byte> field, const rows_in_place& lie,
           std::size_t& at);

  /// See `field`, `keeping`, `on_host` and `in_place`.
  struct field_rows {
    const std::byte* rows;
    std::byte* keeping;
    bool on_host;
    field_assembly::rows_in_place in_place = {};
  };

  std::uint64_t samples_;
  std::uint64_t capacity_;
  std::uint64_t step_ = 0;  ///< capacity ÷ samples in units of 2^-64, rounded up
  device_memory memory_;
  std::vector<mapped_memory> mappings_;
  std::vector<field_rows> fields_;
  std::vector<std::atomic<std::uint64_t>> held_;  ///< a bit a row
  std::uint64_t count_ = 0;                       ///< number of bits set
  std::atomic<bool> complete_;                    ///< all are set
};

}  // namespace feedline::detail
