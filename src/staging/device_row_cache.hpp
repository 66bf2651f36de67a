#pragma once

#include <feedline/device/device.hpp>
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

/// Rows of a dataset that the device can read by itself: in memory of its own, where they are kept
/// as they first pass, or in the dataset's, mapped. Rows there that share a page with other memory
/// are copied.
///
/// Where only a part is kept, it is spread evenly over the dataset, so that every batch finds about
/// the same share of its rows, whatever the order.
///
/// A row counts as held from the moment at which the work that keeps it was issued: readers that
/// see it fill slots whose work is issued later, and waits for it. Threads: `holds` and `place_of`
/// by any, `hold` by the transfer.
class device_row_cache {
 public:
  /// In device memory: room for `capacity` rows, none held yet.
  /// @param row_bytes Of each field.
  /// @param capacity  1 to `samples`.
  /// @throws out_of_memory, device_error.
  device_row_cache(const device_ptr& device, std::span<const std::size_t> row_bytes,
                   std::uint64_t samples, std::uint64_t capacity);
  /// Where they lie in the dataset's memory, mapped: all held. Small fields (`is_small`) are copied
  /// into device memory now, and so are rows of others that share a page with other memory
  /// (`rows_in_place`). Blocks. @param rows Of each field. @throws as above.
  device_row_cache(const device_ptr& device, const std::vector<std::span<const std::byte>>& rows,
                   std::uint64_t samples);

  /// In device memory that others fill: so many rows, all held, each at its number.
  /// @throws out_of_memory, device_error.
  device_row_cache(const device_ptr& device, std::span<const std::size_t> row_bytes,
                   std::uint64_t rows);

  /// Bytes that rows cached in device memory take.
  [[nodiscard]] static std::size_t bytes(std::span<const std::size_t> row_bytes,
                                         std::uint64_t capacity) noexcept;

  /// Whether a field that lies in host memory is better copied once than mapped: a row of a few
  /// bytes costs the bus as much as one of 32.
  /// @param field Its rows, all samples'. @param all_bytes Of all fields' rows.
  [[nodiscard]] static bool is_small(std::span<const std::byte> field,
                                     std::size_t all_bytes) noexcept {
    return field.size() < (std::size_t{16} << 10) || field.size() <= all_bytes / 64;
  }
  /// Device memory that is taken by what is copied of fields in host memory.
  /// @param granularity `device_capabilities::map_granularity`.
  [[nodiscard]] static std::size_t copied_bytes(std::span<const std::span<const std::byte>> rows,
                                                std::uint64_t samples,
                                                std::size_t granularity) noexcept;

  /// The row that a sample is, or is to become; nothing if it is not kept.
  [[nodiscard]] std::optional<std::uint32_t> place_of(sample_index sample) const noexcept {
    if (capacity_ == samples_) return static_cast<std::uint32_t>(sample.value);
    __extension__ using wide = unsigned __int128;
    const wide scaled = wide{sample.value} * step_;
    // Kept is where the next sample's whole part is another: where adding a step carries.
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
  /// The same, for keeping rows; null where all are held from the start.
  [[nodiscard]] std::byte* keeping(std::size_t place) const noexcept {
    return fields_[place].keeping;
  }
  /// A field's rows lie in the dataset's memory.
  [[nodiscard]] bool on_host(std::size_t place) const noexcept { return fields_[place].on_host; }
  /// Which of them do: the others are apart, in device memory.
  [[nodiscard]] field_assembly::rows_in_place in_place(std::size_t place) const noexcept {
    return fields_[place].in_place;
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

 private:
  /// Lays the fields' rows out in `memory_`.
  void lay_out(std::span<const std::size_t> row_bytes, bool keeps);

  /// Maps a field in the dataset's memory, and copies what is to be copied to `memory_`.
  /// @param at Where in that; becomes where the next field's begins.
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
  std::uint64_t count_ = 0;                       ///< of the bits set
  std::atomic<bool> complete_;                    ///< all are
};

}  // namespace feedline::detail
