#pragma once

#include <feedline/dataset/field.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Where things lie in a slot, staging and device alike: batch after batch, in each batch field
/// after field, every one of them at a multiple of 256 bytes. So the batches of a slot, or the
/// first few of them, are one copy.
///
///     slot:  | batch 0                    | batch 1                    | …
///     batch: | field 0: rows … pad | field 1: rows … pad |
class slot_layout {
 public:
  static constexpr std::size_t alignment = 256;

  /// @param batch_size       Samples in a batch, at least 1.
  /// @param batches_per_slot At least 1.
  /// @throws usage_error if a slot's bytes do not fit in 62 bits.
  slot_layout(std::vector<field> fields, std::uint64_t batch_size, std::uint64_t batches_per_slot);

  [[nodiscard]] std::span<const field> fields() const noexcept { return fields_; }
  [[nodiscard]] std::uint64_t batch_size() const noexcept { return batch_size_; }
  [[nodiscard]] std::uint64_t batches_per_slot() const noexcept { return batches_per_slot_; }

  /// From one batch of a slot to the next.
  [[nodiscard]] std::size_t batch_bytes() const noexcept { return batch_bytes_; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return batch_bytes_ * batches_per_slot_; }

  /// From a batch's start to a field's.
  [[nodiscard]] std::size_t field_offset(std::size_t place) const noexcept {
    return offsets_[place];
  }
  /// One sample's value of a field.
  [[nodiscard]] std::size_t row_bytes(std::size_t place) const noexcept {
    return row_bytes_[place];
  }
  /// One sample's values of all fields.
  [[nodiscard]] std::size_t sample_bytes() const noexcept { return sample_bytes_; }

  /// From the slot's start to the end of its last sample when it holds `samples`: what must be
  /// copied. 0 for none.
  [[nodiscard]] std::size_t used_bytes(std::uint64_t samples) const noexcept;

 private:
  std::vector<field> fields_;
  std::vector<std::size_t> row_bytes_;
  std::vector<std::size_t> offsets_;
  std::uint64_t batch_size_;
  std::uint64_t batches_per_slot_;
  std::size_t sample_bytes_ = 0;
  std::size_t batch_bytes_ = 0;
};

}  // namespace feedline::detail
