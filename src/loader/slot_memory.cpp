// Over 250 lines: what a slot takes in one form follows from the others, a ring from all.

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "loader/plan.hpp"
#include "transfer/assembling_transfer.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Of a row: two of what a GPU asks of the bus at once.
constexpr std::size_t least_passing_bytes = 256;
constexpr std::size_t request_goal_bytes = std::size_t{512} << 10;
/// Of a slot, at least: then readers end it together, though one request takes longer than others.
constexpr std::uint64_t requests_a_reader = 4;
/// Readers that share a slot of which some rows are cached.
constexpr std::uint64_t max_sharers = 8;
constexpr double least_streamed = 1.0 / 64;
/// Requests of all slots stand in one channel, whose size is bounded.
constexpr std::uint64_t max_requests = 60'000;
/// And those of small slots, which are cut for all readers.
constexpr std::uint64_t max_more_requests = 5'000;

/// Requests that a slot is cut into at least: so that all readers share it, and none reads on for
/// long where its epoch is left.
std::uint64_t shared_requests(int readers, std::size_t slots) {
  const std::uint64_t wanted = requests_a_reader * static_cast<std::uint64_t>(readers);
  const std::uint64_t room = max_more_requests / slots;
  return std::min(wanted, room < 4 ? 0 : room / 2 - 1);
}

/// About what is staged at a time: the usual, or as much as leaves a budget its ring.
std::size_t wanted_piece_bytes(const loader_options& options, placement where, std::size_t slots) {
  if (options.piece_bytes != 0) return options.piece_bytes;
  const std::size_t usual = usual_piece_bytes(where);
  if (options.max_staging_bytes == 0) return usual;
  return std::min(usual, options.max_staging_bytes / slots);
}

/// Large slots are deep enough in time that three, or two, of them overlap as well as four.
constexpr std::size_t usual_ring_bytes = std::size_t{128} << 20;

std::size_t fewest(const ring_size& ring) {
  return ring.wanted_slots == 0 ? fewest_slots : ring.wanted_slots;
}

/// Nothing if it does not fit in 64 bits.
std::optional<std::size_t> total_bytes(const ring_size& ring, std::size_t depth,
                                       std::uint64_t batches) {
  const auto slots = checked_multiply(depth, ring.slot_bytes(batches));
  std::size_t total = 0;
  if (!slots || __builtin_add_overflow(*slots, ring.other_bytes(batches), &total))
    return std::nullopt;
  return total;
}

bool fits(const ring_size& ring, std::size_t depth, std::uint64_t batches) {
  const auto total = total_bytes(ring, depth, batches);
  return total && *total <= ring.budget;
}

/// The most batches from `fewest` to `most` with which the ring fits; `fewest` do.
std::uint64_t largest_fitting(const ring_size& ring, std::size_t depth, std::uint64_t fewest,
                              std::uint64_t most) {
  while (fewest < most) {
    const std::uint64_t middle = fewest + divide_up<std::uint64_t>(most - fewest, 2);
    if (fits(ring, depth, middle)) {
      fewest = middle;
    } else {
      most = middle - 1;
    }
  }
  return fewest;
}

}  // namespace

slot_memory::slot_memory(std::vector<field> rows, const loader_options& options,
                         feedline::placement placement, double cached_share, bool reads_staging,
                         int readers, std::size_t loads_bytes)
    : rows_{std::move(rows)},
      converted_{convert_fields(rows_, options.transforms, options.mixing)},
      delivered_{options.batch_transform ? options.batch_transform->fields : converted_.fields},
      batch_size_{options.batch_size},
      fixed_batches_{options.batches_per_slot},
      staging_slots_{options.staging_slots == 0 ? usual_slots : options.staging_slots},
      piece_bytes_{wanted_piece_bytes(options, placement, staging_slots_)},
      request_bytes_{options.request_bytes},
      min_requests_{options.batches_per_slot == 0 && options.request_bytes == 0
                        ? shared_requests(readers, staging_slots_)
                        : 0},
      placement_{placement},
      cached_share_{loads_bytes != 0 ? 1 : cached_share},
      loads_bytes_{loads_bytes},
      has_batch_transform_{options.batch_transform.has_value()},
      in_place_{reads_staging && !has_batch_transform_},
      assembled_{!in_place_ && (placement != placement::stream || loads_bytes != 0 ||
                                converted_.any || has_batch_transform_)} {}

slot_layout slot_memory::rows(std::uint64_t batches) const {
  return {rows_, batch_size_, batches};
}

slot_layout slot_memory::converted(std::uint64_t batches) const {
  return {converted_.fields, batch_size_, batches};
}

slot_layout slot_memory::delivered(std::uint64_t batches) const {
  return {delivered_, batch_size_, batches};
}

std::size_t slot_memory::largest_batch_bytes() const {
  return std::max({rows(1).batch_bytes(), converted(1).batch_bytes(), delivered(1).batch_bytes()});
}

std::uint64_t slot_memory::batches_of_piece() const {
  if (placement_ == placement::gather || loads_bytes_ != 0)
    return std::numeric_limits<std::uint64_t>::max();
  return piece_bytes_ / staged(batch_size_).batch_bytes();
}

std::uint64_t slot_memory::piece_samples(std::uint64_t batches) const {
  const std::uint64_t slot_samples = batches * batch_size_;
  if (in_place_ || placement_ == placement::gather || loads_bytes_ != 0 || fixed_batches_ > 1)
    return slot_samples;
  if (const std::uint64_t whole = batches_of_piece(); whole != 0)
    return std::min(whole, batches) * batch_size_;
  const std::uint64_t most = piece_bytes_ / staged(1).sample_bytes();
  return part_of_batch(std::clamp<std::uint64_t>(most, 1, batch_size_));
}

/// Samples that each part of a batch has, all but the last, if it may have so many. Partners that
/// are mixed come in one part: it has an even number, and two at least.
std::uint64_t slot_memory::part_of_batch(std::uint64_t most) const {
  const auto samples = [this](std::uint64_t at_most) {
    return request_layout{batch_size_, at_most}.run_samples();
  };
  if (!converted_.mixing || most == batch_size_) return samples(most);
  for (most = std::max<std::uint64_t>(most / 2 * 2, 2); samples(most) % 2 != 0; most -= 2) {
  }
  return samples(most);
}

request_layout slot_memory::requests(std::uint64_t batches) const {
  const std::uint64_t slot_samples = batches * batch_size_;
  // Cutting at batches' ends makes up to twice as many.
  const std::uint64_t fewest_samples = divide_up(2 * slot_samples, max_requests / staging_slots_);
  return {batch_size_,
          std::clamp<std::uint64_t>(wanted_request_samples(slot_samples),
                                    std::max<std::uint64_t>(fewest_samples, 1), slot_samples)};
}

std::uint64_t slot_memory::wanted_request_samples(std::uint64_t slot_samples) const {
  if (request_bytes_ != 0) return request_bytes_ / bytes_per_sample();
  const std::uint64_t streamed = request_goal_bytes / bytes_per_sample();
  if (placement_ == placement::gather) return slot_samples;  // no row is read
  if (cached_share_ == 0 || cached_share_ == 1)
    return streamed;  // all are; or all once, and then none
  // Of a cached row there is but a number to write down.
  const std::uint64_t share = slot_samples / max_sharers;
  const double larger = static_cast<double>(streamed) / std::max(1 - cached_share_, least_streamed);
  return std::max(streamed, std::min(share, static_cast<std::uint64_t>(larger)));
}

/// What a reader reads of a sample, or writes of it, where it converts as well.
std::size_t slot_memory::bytes_per_sample() const {
  const std::size_t row_bytes = rows(1).sample_bytes();
  return in_place_ ? std::max(row_bytes, delivered(1).sample_bytes()) : row_bytes;
}

/// Rows that are gathered and then converted come as they are first: that takes few of the device's
/// multiprocessors for as long as the bus takes, and then all of them for a moment. Not images with
/// an augmentation, or of which half or more is cropped: more would cross the bus than is used.
/// Nor short rows: the bus brings more than they are.
std::vector<bool> slot_memory::passing_fields() const {
  std::vector<bool> passing(rows_.size(), false);
  if (placement_ != placement::gather) return passing;
  for (std::size_t place = 0; place < rows_.size(); ++place) {
    const field_conversion& by = converted_.conversions[place];
    const std::uint64_t pixels = std::uint64_t{by.height} * by.width;
    passing[place] = by.what == field_conversion::operation::convert && !by.augmentation.any() &&
                     2 * std::uint64_t{by.to_height} * by.to_width > pixels &&
                     sample_bytes(rows_[place]) >= least_passing_bytes;
  }
  return passing;
}

landing_layout slot_memory::landing_buffer(std::uint64_t batches) const {
  const bool keeps = placement_ == placement::resident || placement_ == placement::cached;
  const std::uint64_t samples = piece_samples(batches);
  // Where no row is read any more, a slot is one piece.
  const bool arrive = placement_ != placement::gather && loads_bytes_ == 0;
  return {placement_ == placement::resident ? rows(batches) : staged(samples),
          requests(batches),
          converted_.random,
          arrive ? samples : 0,
          keeps,
          request_partition::more_requests(min_requests_),
          loads_bytes_,
          passing_fields()};
}

slot_layout slot_memory::piece(std::uint64_t batches) const {
  return staged(piece_samples(batches));
}

/// So many samples, whole batches or a part of one, in the form in which they are staged.
slot_layout slot_memory::staged(std::uint64_t samples) const {
  return {assembled_ ? rows_ : delivered_, std::min(samples, batch_size_),
          divide_up(samples, batch_size_)};
}

std::size_t slot_memory::staging_bytes(std::uint64_t batches) const {
  return assembled_ ? landing_buffer(batches).slot_bytes() : piece(batches).slot_bytes();
}

std::size_t slot_memory::device_bytes(std::uint64_t batches) const {
  return in_place_ ? 0 : delivered(batches).slot_bytes();
}

std::size_t slot_memory::landing_bytes(std::uint64_t batches) const {
  if (!assembled_) return 0;
  return assembling_transfer::landing_buffers * landing_buffer(batches).landing_bytes() +
         (has_batch_transform_ ? converted(batches).slot_bytes() : 0);
}

std::uint64_t batches_within(const ring_size& ring, std::uint64_t batches, bool batches_fixed) {
  if (ring.budget == 0) return batches;
  const std::uint64_t needed = batches_fixed ? batches : 1;
  const std::size_t deepest = ring.wanted_slots == 0 ? usual_slots : ring.wanted_slots;
  for (std::size_t depth = deepest; depth >= fewest(ring); --depth) {
    if (fits(ring, depth, needed)) return largest_fitting(ring, depth, needed, batches);
  }
  const auto total = total_bytes(ring, fewest(ring), needed);
  const std::size_t other = ring.other_bytes(needed);
  const std::string besides = other == 0 ? "" : " and " + std::to_string(other) + " bytes besides";
  throw usage_error{std::string{ring.option} + " is " + std::to_string(ring.budget) +
                    " bytes, but " + std::to_string(fewest(ring)) + " slots of " +
                    std::to_string(ring.slot_bytes(needed)) + " bytes" + besides + " need " +
                    (total ? std::to_string(*total) : "more than 2^64") + ": raise it" +
                    (ring.holds_batches
                         ? std::string{", or lower batch_size"} +
                               (batches_fixed ? ", batches_per_slot" : "") +
                               (ring.wanted_slots == 0 ? "" : " or the number of slots")
                     : ring.wanted_slots == 0 ? ""
                                              : ", or lower the number of slots")};
}

std::size_t depth_of(const ring_size& ring, std::uint64_t batches) {
  if (ring.wanted_slots != 0) return ring.wanted_slots;
  const std::size_t slot_bytes = ring.slot_bytes(batches);
  const std::size_t depth = std::clamp(usual_ring_bytes / slot_bytes, fewest_slots, usual_slots);
  if (ring.budget == 0) return depth;
  return std::clamp((ring.budget - ring.other_bytes(batches)) / slot_bytes, fewest_slots, depth);
}

}  // namespace feedline::detail
