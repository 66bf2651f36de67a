#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>

#include "staging/landing_layout.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_layout.hpp"
#include "transform/field_conversions.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {

/// The forms that samples take on their way, and what a slot takes in each, for any number of
/// batches a slot: what a plan is settled with, and built by.
class slot_memory {
 public:
  /// @param rows          A dataset's fields.
  /// @param placement     Not `automatic`.
  /// @param cached_share    Of the samples: whose rows are cached.
  /// @param reads_staging The device's capability.
  /// @throws usage_error if the transforms don't fit the fields.
  slot_memory(std::vector<field> rows, const loader_options& options, feedline::placement placement,
              double cached_share, bool reads_staging);

  /// Slots are put together by the device.
  [[nodiscard]] bool assembled() const noexcept { return assembled_; }
  /// The consumer reads staging slots.
  [[nodiscard]] bool in_place() const noexcept { return in_place_; }
  [[nodiscard]] const converted_fields& converted() const noexcept { return converted_; }
  /// As the consumer sees them.
  [[nodiscard]] const std::vector<field>& delivered() const noexcept { return delivered_; }

  /// A slot as the dataset has it, as it is assembled, and as the consumer sees it.
  [[nodiscard]] slot_layout rows(std::uint64_t batches) const;
  [[nodiscard]] slot_layout converted(std::uint64_t batches) const;
  [[nodiscard]] slot_layout delivered(std::uint64_t batches) const;
  /// Of one batch in the largest of these forms: by it slots are sized, so that neither what is
  /// read nor what is delivered takes more than a slot should.
  [[nodiscard]] std::size_t largest_batch_bytes() const;
  /// How a slot is cut.
  [[nodiscard]] request_layout requests(std::uint64_t batches) const;
  /// A staging slot's form where slots are assembled.
  [[nodiscard]] landing_layout landing_buffer(std::uint64_t batches) const;

  /// Bytes of a staging slot, of a device slot, and of the device memory that is neither: landing
  /// buffers, and a slot between assembly and the user's function.
  [[nodiscard]] std::size_t staging_bytes(std::uint64_t batches) const;
  [[nodiscard]] std::size_t device_bytes(std::uint64_t batches) const;
  [[nodiscard]] std::size_t landing_bytes(std::uint64_t batches) const;

 private:
  [[nodiscard]] std::uint64_t wanted_request_samples(std::uint64_t slot_samples) const;
  [[nodiscard]] std::size_t bytes_per_sample() const;

  std::vector<field> rows_;
  converted_fields converted_;
  std::vector<field> delivered_;
  std::uint64_t batch_size_;
  std::size_t request_bytes_;  ///< 0: automatic
  std::size_t staging_slots_;
  feedline::placement placement_;
  double cached_share_;
  bool has_batch_transform_;
  bool in_place_;
  bool assembled_;
};

/// The part of a dataset's samples that is kept, exactly 1 for all.
[[nodiscard]] inline double cached_share(std::uint64_t cached, std::uint64_t samples) noexcept {
  return samples == 0 ? 0.0 : static_cast<double>(cached) / static_cast<double>(samples);
}

}  // namespace feedline::detail
