#include "loader/plan/slot_memory.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "loader/plan/host_fields.hpp"
#include "loader/plan/ring_size.hpp"
#include "transfer/assembling_transfer.hpp"

#include <algorithm>
#include <limits>

namespace feedline::detail {
namespace {

/// Least bytes of a row: two units of a GPU's requests to the bus.
constexpr std::size_t least_passing_bytes = 256;
constexpr std::size_t request_goal_bytes = std::size_t{512} << 10;
/// Fewest requests of a slot for each reader: then readers end it together, even if one request
/// takes longer than others.
constexpr std::uint64_t requests_a_reader = 4;
/// The same where other machines are asked: a reader that sleeps until its rows are there needs
/// several of them.
constexpr std::uint64_t far_requests_a_reader = 1;
/// Readers that share a slot of which some rows are cached.
constexpr std::uint64_t max_sharers = 8;
constexpr double least_streamed = 1.0 / 64;
/// Requests of all slots are in one channel, whose size is bounded.
constexpr std::uint64_t max_requests = 60'000;
/// The most requests of small slots, which are divided among all readers.
constexpr std::uint64_t max_more_requests = 5'000;

/// The fewest requests of a slot: enough that all readers share it, and that no reader reads for
/// long once its epoch is abandoned.
std::uint64_t shared_requests(int readers, std::size_t slots, bool are_far) {
  const std::uint64_t wanted =
      (are_far ? far_requests_a_reader : requests_a_reader) * static_cast<std::uint64_t>(readers);
  const std::uint64_t room = max_more_requests / slots;
  return std::min(wanted, room < 4 ? 0 : room / 2 - 1);
}

converted_fields conversions_of(const std::vector<field>& rows, const loader_options& options,
                                std::span<const made_field> made) {
  converted_fields converted = convert_fields(rows, options.transforms, options.mixing);
  convert_made(converted, made);
  return converted;
}

}  // namespace

slot_memory::slot_memory(const std::vector<field>& rows, const loader_options& options,
                         feedline::placement placement, double cached_share, bool reads_staging,
                         std::size_t loads_bytes, bool assembles, std::size_t far_bytes,
                         std::span<const made_field> made)
    : conversions_{conversions_of(rows, options, made)},
      kept_{resolve_host_fields(rows, conversions_, options)},
      batch_size_{options.batch_size},
      expert_{options.expert},
      max_pinned_bytes_{options.memory.pinned},
      placement_{placement},
      cached_share_{loads_bytes != 0 ? 1 : cached_share},
      loads_bytes_{loads_bytes},
      far_bytes_{expert_.request_bytes == 0 && placement_ != feedline::placement::gather &&
                         loads_bytes == 0
                     ? far_bytes
                     : 0},
      converts_on_device_{assembles && conversions_.any},
      in_place_{reads_staging && !expert_.batch_transform},
      assembled_{is_assembled()},
      rows_{rows, batch_size_, 1, {}, places_of(made, rows.size())},
      converted_{conversions_.fields, batch_size_, 1},
      delivered_{expert_.batch_transform ? expert_.batch_transform->fields : conversions_.fields,
                 batch_size_, 1,
                 in_place_ || assembled_ ? std::vector<bool>{} : host_only(kept_, rows.size())} {
  host_delivered_ = {delivered_.fields(), kept_, batch_size_};
  if (assembled_ && !assembles)
    throw usage_error{
        "loader_options::expert.batch_transform needs a device that assembles slots, and this one "
        "cannot (device_capabilities::assembles): transform the batches that the loader delivers"};
  share_among(0, options.expert.staging_slots);
}

void slot_memory::share_among(int readers, std::size_t staging_slots) {
  deepen(readers, staging_slots == 0 ? usual_slots : staging_slots);
  piece_bytes_ = expert_.piece_bytes != 0 ? expert_.piece_bytes : usual_piece_bytes(placement_);
  if (expert_.piece_bytes == 0 && max_pinned_bytes_ != 0)  // so that the ring still fits the budget
    piece_bytes_ = std::min(piece_bytes_, max_pinned_bytes_ / staging_slots_);
}

void slot_memory::deepen(int readers, std::size_t staging_slots) {
  staging_slots_ = staging_slots;
  min_requests_ = expert_.batches_per_slot == 0 && expert_.request_bytes == 0
                      ? shared_requests(readers, staging_slots_, far_bytes_ != 0)
                      : 0;
}

void slot_memory::drop_blocks() {
  cached_share_ = 0;  // blocks are decoded where rows stream
  loads_bytes_ = 0;
  assembled_ = is_assembled();
}

void slot_memory::settle(std::uint64_t batches) {
  for (slot_layout* form : {&rows_, &converted_, &delivered_}) form->set_batches_per_slot(batches);
  piece_ = piece_of(batches);
  host_staged_ = host_piece_of(batches);
  if (assembled_) copy_destination_ = destination_layout_of(batches);
}

std::size_t slot_memory::largest_batch_bytes() const noexcept {
  return std::max({rows_.batch_bytes(), converted_.batch_bytes(), delivered_.batch_bytes()});
}

std::uint64_t slot_memory::batches_of_piece() const noexcept {
  if (!stages_rows()) return std::numeric_limits<std::uint64_t>::max();
  return piece_bytes_ / staged_form().batch_bytes();
}

std::uint64_t slot_memory::piece_samples(std::uint64_t batches) const {
  const std::uint64_t slot_samples = batches * batch_size_;
  if (in_place_ || !stages_rows() || expert_.batches_per_slot > 1) return slot_samples;
  if (const std::uint64_t whole = batches_of_piece(); whole != 0)
    return std::min(whole, batches) * batch_size_;
  const std::uint64_t most = piece_bytes_ / staged_form().sample_bytes();
  return part_of_batch(std::clamp<std::uint64_t>(most, 1, batch_size_));
}

/// Samples of each part of a batch but the last, if it may have this many. Mixed pairs stay in one
/// part: it has an even number of samples, at least two.
std::uint64_t slot_memory::part_of_batch(std::uint64_t most) const {
  const auto samples = [this](std::uint64_t at_most) {
    return request_layout{batch_size_, at_most}.run_samples();
  };
  if (!conversions_.mixing || most == batch_size_) return samples(most);
  for (most = std::max<std::uint64_t>(most / 2 * 2, 2); samples(most) % 2 != 0; most -= 2) {
  }
  return samples(most);
}

request_layout slot_memory::requests(std::uint64_t batches) const {
  const std::uint64_t slot_samples = batches * batch_size_;
  // Requests that end where batches do are up to twice as many.
  const std::uint64_t fewest_samples = divide_up(2 * slot_samples, max_requests / staging_slots_);
  return {batch_size_,
          std::clamp<std::uint64_t>(wanted_request_samples(slot_samples),
                                    std::max<std::uint64_t>(fewest_samples, 1), slot_samples)};
}

std::uint64_t slot_memory::wanted_request_samples(std::uint64_t slot_samples) const {
  if (expert_.request_bytes != 0) return expert_.request_bytes / bytes_per_sample();
  const std::uint64_t streamed =
      (far_bytes_ != 0 ? far_bytes_ : request_goal_bytes) / bytes_per_sample();
  if (placement_ == placement::gather) return slot_samples;  // no row is read
  if (cached_share_ == 0 || cached_share_ == 1)
    return streamed;  // all rows are read; or all once, and then none
  // For a cached row, only a number is written.
  const std::uint64_t share = slot_samples / max_sharers;
  const double larger = static_cast<double>(streamed) / std::max(1 - cached_share_, least_streamed);
  return std::max(streamed, std::min(share, static_cast<std::uint64_t>(larger)));
}

/// Bytes that a reader reads of a sample, or writes if it also converts and that is more.
std::size_t slot_memory::bytes_per_sample() const noexcept {
  const std::size_t row_bytes = rows_.sample_bytes();
  return assembled_ ? row_bytes : std::max(row_bytes, delivered_.sample_bytes());
}

/// Rows that are gathered and then converted first arrive unconverted: that occupies few of the
/// device's multiprocessors for the time that the bus takes, and then all of them for a moment.
/// This excludes images whose pixels are computed, or cropped by half or more: more would cross the
/// bus than is used. It also excludes short rows: the bus transfers more than their bytes.
std::vector<bool> slot_memory::passing_fields() const {
  std::vector<bool> passing(rows_.fields().size(), false);
  if (placement_ != placement::gather) return passing;
  for (std::size_t place = 0; place < passing.size(); ++place) {
    const field_conversion& by = conversions_.conversions[place];
    const std::uint64_t pixels = std::uint64_t{by.height} * by.width;
    passing[place] = by.what == field_conversion::operation::convert && !by.computes_pixels() &&
                     2 * std::uint64_t{by.to_height} * by.to_width > pixels &&
                     rows_.row_bytes(place) >= least_passing_bytes;
  }
  return passing;
}

destination_layout slot_memory::destination_layout_of(std::uint64_t batches) const {
  const bool keeps = placement_ == placement::resident || placement_ == placement::cached;
  const std::uint64_t samples = piece_samples(batches);
  // A slot whose rows need not be read any more is one piece.
  const std::uint64_t tabled = placement_ == placement::resident ? batches * batch_size_ : samples;
  return {rows_.rows(),
          std::min(tabled, batch_size_) * divide_up(tabled, batch_size_),
          requests(batches),
          conversions_.random,
          stages_rows() ? samples : 0,
          keeps,
          request_partition::more_requests(min_requests_),
          loads_bytes_,
          passing_fields()};
}

/// This many samples, whole batches or a part of one, in the form in which they are staged.
slot_layout slot_memory::piece_of(std::uint64_t batches) const {
  const std::uint64_t samples = piece_samples(batches);
  const auto fields = staged_form().fields();
  return {{fields.begin(), fields.end()},
          std::min(samples, batch_size_),
          divide_up(samples, batch_size_),
          staged_form().left_out()};
}

host_rows slot_memory::host_piece_of(std::uint64_t batches) const {
  if (in_place_ || kept_.empty()) return {};
  return {delivered_.fields(), kept_, std::min(piece_samples(batches), batch_size_),
          moved_bytes(batches)};
}

std::size_t slot_memory::moved_bytes(std::uint64_t batches) const {
  return assembled_ ? destination_layout_of(batches).slot_bytes() : piece_of(batches).slot_bytes();
}

std::size_t slot_memory::staging_bytes(std::uint64_t batches) const {
  return moved_bytes(batches) +
         host_piece_of(batches).bytes(divide_up(piece_samples(batches), batch_size_));
}

std::size_t slot_memory::device_bytes(std::uint64_t batches) const {
  return in_place_ ? 0 : delivered_.slot_bytes(batches);
}

std::size_t slot_memory::destination_bytes(std::uint64_t batches) const {
  if (!assembled_) return 0;
  return assembling_transfer::copy_destinations *
             destination_layout_of(batches).destination_bytes() +
         (expert_.batch_transform ? converted_.slot_bytes(batches) : 0);
}

}  // namespace feedline::detail
