#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/device/device.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/sampler/sampler.hpp>

#include "sampler/epoch_share.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_layout.hpp"
#include "transform/field_conversions.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace feedline::detail {

/// Settles every size and depth of a loader; allocates nothing, starts nothing. With tuning it is
/// the plan of the whole budget, and says with what of it the loader begins.
/// @throws usage_error as `untuned_plan`.
[[nodiscard]] loader_plan make_plan(const dataset& dataset, const sampler& sampler,
                                    const device_capabilities& device,
                                    const loader_options& options);

/// The same without tuning. The steps stand below, in their order: where rows come from, what a
/// slot takes, how many slots there are.
/// @throws usage_error if the options cannot be met with this dataset and device; a budget's
/// message says how many bytes would be needed.
[[nodiscard]] loader_plan untuned_plan(const dataset& dataset, const sampler& sampler,
                                       const device_capabilities& device,
                                       const loader_options& options);

/// What of an epoch this process delivers, under the policy for a last batch.
/// @throws usage_error if there is nothing to deliver, or the policy forbids what is left.
[[nodiscard]] epoch_share share_of(const sampler& sampler, const dataset& dataset,
                                   const loader_options& options);

/// What readers need to know of it.
[[nodiscard]] slot_plan slots_of(const loader_plan& plan) noexcept;

/// Where a loader's rows come from, and how many of them stay with the device.
struct placement_choice {
  feedline::placement placement = feedline::placement::stream;
  std::uint64_t cached_samples = 0;
  std::size_t cache_bytes = 0;
};

/// Chooses as the options say, by size against the budget where they leave it open.
/// @throws usage_error if a placement that was asked for cannot be had with this dataset and
/// budget, with the numbers.
[[nodiscard]] placement_choice choose_placement(const dataset& dataset,
                                                const device_capabilities& device,
                                                const loader_options& options);

/// The forms that samples take on their way, and what a slot takes in each, for any number of
/// batches a slot: a plan is made with it, and so is the pipeline. A staging slot holds a piece:
/// whole batches, or a part of one that is larger than a piece is to be.
class slot_memory {
 public:
  /// @param rows          A dataset's fields.
  /// @param placement     Not `automatic`.
  /// @param cached_share    Of the samples: whose rows are cached.
  /// @param reads_staging The device's capability.
  /// @param readers       Threads that share a slot.
  /// @param loads_bytes   Of a staging slot, for blocks that the device decodes; 0: none are.
  /// @throws usage_error if the transforms don't fit the fields.
  slot_memory(std::vector<field> rows, const loader_options& options, feedline::placement placement,
              double cached_share, bool reads_staging, int readers, std::size_t loads_bytes = 0);

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
  /// Of one batch in the largest of these forms: by it device slots are sized, so that neither what
  /// is read nor what is delivered takes more than a slot should.
  [[nodiscard]] std::size_t largest_batch_bytes() const;
  /// Whole batches that make a piece; 0 if one is larger, without end if nothing of it is staged.
  [[nodiscard]] std::uint64_t batches_of_piece() const;
  /// Samples that a staging slot has room for.
  [[nodiscard]] std::uint64_t piece_samples(std::uint64_t batches) const;
  /// Requests that a staging slot is cut into at least, if it has so many samples; 0: any number.
  [[nodiscard]] std::uint64_t min_requests() const noexcept { return min_requests_; }
  /// How a staging slot is cut.
  [[nodiscard]] request_layout requests(std::uint64_t batches) const;
  /// What lies where in a staging slot, as far as it is rows or batches.
  [[nodiscard]] slot_layout piece(std::uint64_t batches) const;
  /// A staging slot's form where slots are assembled.
  [[nodiscard]] landing_layout landing_buffer(std::uint64_t batches) const;

  /// Bytes of a staging slot, of a device slot, and of the device memory that is neither: landing
  /// buffers, and a slot between assembly and the user's function.
  [[nodiscard]] std::size_t staging_bytes(std::uint64_t batches) const;
  [[nodiscard]] std::size_t device_bytes(std::uint64_t batches) const;
  [[nodiscard]] std::size_t landing_bytes(std::uint64_t batches) const;

 private:
  [[nodiscard]] std::uint64_t part_of_batch(std::uint64_t most) const;
  [[nodiscard]] std::uint64_t wanted_request_samples(std::uint64_t slot_samples) const;
  [[nodiscard]] std::size_t bytes_per_sample() const;
  [[nodiscard]] slot_layout staged(std::uint64_t samples) const;
  [[nodiscard]] std::vector<bool> passing_fields() const;

  std::vector<field> rows_;
  converted_fields converted_;
  std::vector<field> delivered_;
  std::uint64_t batch_size_;
  std::uint64_t fixed_batches_;  ///< of a slot; 0: automatic
  std::size_t staging_slots_;
  std::size_t piece_bytes_;
  std::size_t request_bytes_;  ///< 0: automatic
  std::uint64_t min_requests_;
  feedline::placement placement_;
  double cached_share_;
  std::size_t loads_bytes_;
  bool has_batch_transform_;
  bool in_place_;
  bool assembled_;
};

/// The part of a dataset's samples that is kept, exactly 1 for all.
[[nodiscard]] inline double cached_share(std::uint64_t cached, std::uint64_t samples) noexcept {
  return samples == 0 ? 0.0 : static_cast<double>(cached) / static_cast<double>(samples);
}

/// About what is staged and copied at a time, unless the user says otherwise: 9.5 MiB. Copies of so
/// much reach the bus's rate but for 1.5 %, and four such pieces stay in a processor's last-level
/// cache. Where a part of the rows is cached a piece is larger, for it has room for all rows of its
/// batches, though few of them come.
[[nodiscard]] constexpr std::size_t usual_piece_bytes(placement where) noexcept {
  constexpr std::size_t mib = std::size_t{1} << 20;
  return where == placement::cached ? 31 * mib : 19 * mib / 2;
}

/// Depths that rings have unless the user or a budget says otherwise.
inline constexpr std::size_t fewest_slots = 2;
inline constexpr std::size_t usual_slots = 4;

/// A ring that is to fit a budget.
struct ring_size {
  const char* option;        ///< the budget's name, for the message
  std::size_t budget;        ///< 0: none
  std::size_t wanted_slots;  ///< 0: automatic
  /// Bytes of one slot of so many batches.
  std::function<std::size_t(std::uint64_t batches)> slot_bytes;
  /// Bytes that the same budget pays besides, with slots of so many batches.
  std::function<std::size_t(std::uint64_t batches)> other_bytes = [](std::uint64_t) {
    return std::size_t{0};
  };
  bool holds_batches = true;  ///< a smaller batch makes slots smaller; not where one holds a sample
};

/// The most batches a slot may hold for the ring to fit its budget: slots become smaller first,
/// since a shallow ring overlaps less, and fewer only when one batch a slot is still too much.
/// @param batches       How many there would be without a budget.
/// @param batches_fixed The user's number: it is not lowered.
/// @throws usage_error saying how many bytes would be needed.
[[nodiscard]] std::uint64_t batches_within(const ring_size& ring, std::uint64_t batches,
                                           bool batches_fixed);

/// How many slots of so many batches the ring has: as wanted, or as many as fit, up to the usual
/// number, or fewer, but two, when so many would take more than 128 MiB.
[[nodiscard]] std::size_t depth_of(const ring_size& ring, std::uint64_t batches);

}  // namespace feedline::detail
