// Over 250 lines: the sizes of the rings depend on one another and on the choices before them.

#include "loader/plan/resolved_plan.hpp"

#include <feedline/error.hpp>

#include "dataset/error_policies.hpp"
#include "dataset/sized_fields.hpp"
#include "decoding/choice.hpp"
#include "detail/arithmetic.hpp"
#include "loader/plan/far_requests.hpp"
#include "loader/plan/made_fields.hpp"
#include "loader/plan/placement_choice.hpp"
#include "loader/plan/reader_numbers.hpp"
#include "loader/plan/ring_size.hpp"
#include "loader/plan/share.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Most bytes of a device slot: its batches' rows come in one piece, and may grow by conversion.
/// Four such slots fit in 128 MiB.
constexpr std::size_t max_device_slot_bytes = std::size_t{31} << 20;
/// Rows that stay on the device cross the bus once, and their slots are made in microseconds: each
/// slot's fixed cost counts more than a ring of three slots.
constexpr std::size_t max_resident_slot_bytes = std::size_t{41} << 20;

/// More pieces than this are never needed to smooth irregular delivery.
constexpr std::size_t max_tuned_slots = 64;
/// A message to another process and its answer cost about as much as some samples.
constexpr std::uint64_t samples_worth_a_message = 8;

/// @param whose For the message: the source of the fields.
void check_fields(const std::vector<field>& fields, const std::string& whose) {
  if (fields.empty()) throw usage_error{whose + " has no fields: it must name at least one"};
  std::set<std::string> names;
  for (const field& field : fields) {
    if (!names.insert(field.name).second)
      throw usage_error{whose + " has two fields named '" + field.name + "': rename one"};
    (void)sample_bytes(field);
  }
}

/// Number of batches that make a piece, but few enough that a short epoch still spreads over the
/// ring, or over two slots if the next epoch's follow them. All slots of an epoch get the same
/// number, as nearly as possible, because a slot with few batches costs as much as a full one.
std::uint64_t batches_of_slot(std::uint64_t batches_per_epoch, placement where,
                              std::uint64_t epochs, const slot_memory& sizes) {
  const std::uint64_t fewest = epochs > 1 ? fewest_slots : usual_slots;
  const std::uint64_t spread = divide_up(batches_per_epoch, fewest);
  const std::uint64_t fitting =
      where == placement::resident
          ? max_resident_slot_bytes / sizes.largest_batch_bytes()
          : std::min(max_device_slot_bytes / sizes.largest_batch_bytes(), sizes.batches_of_piece());
  const std::uint64_t most = std::clamp<std::uint64_t>(fitting, 1, spread);
  return divide_up(batches_per_epoch, divide_up(batches_per_epoch, most));
}

std::size_t ring_bytes(std::size_t slots, std::size_t slot_bytes) {
  const auto bytes = checked_multiply(slots, slot_bytes);
  if (bytes) return *bytes;
  throw usage_error{
      std::to_string(slots) + " slots of " + std::to_string(slot_bytes) +
      " bytes do not fit in 64 bits: lower batch_size, batches_per_slot or the number of slots"};
}

slot_memory memory_of(const dataset& dataset, const device_capabilities& device,
                      const loader_options& options, const placement_choice& choice,
                      const decoding_choice& decoding, const made_choice& made) {
  const double cached = dataset.size() == 0 ? 0.0
                                            : static_cast<double>(choice.cached_samples) /
                                                  static_cast<double>(dataset.size());
  return {dataset.fields(),     options,
          choice.placement,     cached,
          device.reads_staging, decoding.loads_bytes(),
          device.assembles,     far_request_bytes(dataset),
          made.fields};
}

/// Resolves one plan. The choices are made at construction; the sizes of the rings follow from
/// them.
class planner {
 public:
  planner(const dataset& dataset, const sampler& sampler, const device_capabilities& device,
          const loader_options& options)
      : dataset_{dataset},
        device_{device},
        options_{options},
        sizes_{checked_sizes(dataset)},
        order_{sampler, share_of(sampler, dataset, options)},
        made_{choose_made_fields(dataset, device, options)},
        row_bytes_{row_bytes_of(dataset, made_.fields)},
        choice_{choose_placement(dataset, device, options, row_bytes_)},
        decoding_{choose_decoding(dataset, order_, device, options, choice_.placement, row_bytes_,
                                  options.expert.piece_bytes != 0
                                      ? options.expert.piece_bytes
                                      : usual_piece_bytes(placement::stream))},
        memory_{memory_of(dataset, device, options, choice_, decoding_, made_)},
        readers_{count_readers(options, choice_.placement, dataset, device)} {
    const auto delivered = memory_.delivered().fields();
    plan_.fields = {delivered.begin(), delivered.end()};
    check_fields(plan_.fields, "loader_options::expert.batch_transform");
    check_substitute(options.errors, "loader_options::errors", dataset.size());
    for (const made_field& each : made_.fields)
      plan_.made_on_device.push_back(memory_.converted().fields()[each.place].name);
    plan_.made_note = made_.why_not;
    plan_.placement = choice_.placement;
    plan_.cached_samples = choice_.cached_samples;
    plan_.batch_size = options.batch_size;
    plan_.shard = options.shard;
    plan_.samples_per_epoch = order_.share.places();
    plan_.repeats_per_epoch = order_.share.places() - order_.share.first_repeat();
    plan_.batches_per_epoch = divide_up(plan_.samples_per_epoch, plan_.batch_size);
    plan_.batch_bytes = memory_.delivered().batch_bytes();
    plan_.background = options.readers != 0;
    plan_.readers = readers_.most;
    plan_.first_readers = readers_.first;
  }

  [[nodiscard]] resolved_plan resolve() && {
    size_rings();
    plan_.assembled = memory_.assembled();
    plan_.decode_on = blocks_ ? decode_on::device : decode_on::cpu;
    plan_.decode_note = decoding_.why_not;
    if (blocks_) plan_.decoded_fields = decoding_.fields;
    plan_.decoded_at_once = blocks_ ? blocks_->at_once() : 0;
    plan_.device_could_decode = !blocks_ && has_decoders_for(dataset_, device_);
    if (plan_.background) plan_.cores = cores_for(plan_.readers, device_);
    const slot_plan slots{
        .samples_per_epoch = plan_.samples_per_epoch,
        .batch_size = plan_.batch_size,
        .batches_per_epoch = plan_.batches_per_epoch,
        .batches_per_slot = plan_.batches_per_slot,
        .piece_samples = plan_.piece_samples,
        .slots_grow = plan_.slots_grow,
        .request_samples = plan_.request_samples,
        .min_requests = plan_.min_requests,
        .few_samples = dataset_.reads_in_processes() != 0 ? samples_worth_a_message : 0,
        .staging_slots = plan_.staging_slots,
        .readers = plan_.readers,
        .first_readers = readers_.of_requests};
    return {.report = std::move(plan_),
            .order = order_,
            .slots = slots,
            .memory = std::move(memory_),
            .blocks = blocks_ ? std::make_shared<const block_plan>(std::move(*blocks_)) : nullptr,
            .sizes = sizes_,
            .tuned = readers_.tuned};
  }

 private:
  /// Memory of blocks with this many batches a slot, and this many device slots.
  [[nodiscard]] decoding_bytes decoding_with(const std::optional<block_plan>& blocks,
                                             std::size_t slots) const {
    return blocks ? bytes_of(*blocks, row_bytes_, device_, slots) : decoding_bytes{};
  }
  [[nodiscard]] std::optional<block_plan> blocks_with(std::uint64_t batches) const {
    if (!decoding_.blocks) return std::nullopt;
    const auto slots = checked_multiply(
        options_.expert.device_slots == 0 ? fewest_slots : options_.expert.device_slots,
        memory_.device_bytes(batches));
    return sized(*decoding_.blocks, row_bytes_, device_,
                 limits_of(options_, slots, memory_.destination_bytes(batches)),
                 batches * options_.batch_size);
  }

  /// Again only if the device decodes no blocks after all.
  void size_rings() {
    const std::size_t wanted_slots = options_.expert.staging_slots;
    memory_.share_among(readers_.of_requests, wanted_slots);
    const bool fixed = options_.expert.batches_per_slot != 0;
    std::uint64_t batches =
        fixed ? options_.expert.batches_per_slot
              : batches_of_slot(plan_.batches_per_epoch, plan_.placement, options_.epochs, memory_);
    batches = std::min(batches, plan_.batches_per_epoch);

    const std::size_t most_device_slots =
        options_.expert.device_slots == 0 ? usual_slots : options_.expert.device_slots;
    const ring_size staging{
        .option = options_.expert.tuning.max_pinned_bytes == 0 ? "memory.pinned"
                                                               : "expert.tuning.max_pinned_bytes",
        .budget = options_.memory.pinned,
        .wanted_slots = wanted_slots,
        .slot_bytes = [&](std::uint64_t count) { return memory_.staging_bytes(count); },
        .other_bytes = [&](std::uint64_t) { return decoding_.answer_bytes(most_device_slots); },
        .holds_batches = memory_.piece_samples(1) > 1 || options_.batch_size == 1};
    const ring_size on_device{
        .option = "memory.device",
        .budget = options_.memory.device,
        .wanted_slots = options_.expert.device_slots,
        .slot_bytes = [&](std::uint64_t count) { return memory_.device_bytes(count); },
        .other_bytes =
            [&](std::uint64_t count) {
              return memory_.destination_bytes(count) +
                     decoding_with(blocks_with(count), usual_slots).decoder;
            }};
    batches = batches_within(staging, batches, fixed);
    if (!memory_.in_place()) batches = batches_within(on_device, batches, fixed);
    plan_.staging_slots = plan_.first_staging_slots = depth_of(staging, batches);
    if (readers_.tuned && options_.expert.tuning.max_pinned_bytes != 0) {
      plan_.staging_slots = std::clamp(slots_within(staging, batches), plan_.first_staging_slots,
                                       std::max(max_tuned_slots, plan_.first_staging_slots));
      memory_.deepen(readers_.of_requests, plan_.staging_slots);
    }
    memory_.settle(batches);

    plan_.batches_per_slot = batches;
    plan_.slots_grow = !fixed && batches > 1 && plan_.placement != placement::gather;
    plan_.slots_per_epoch = divide_up(plan_.batches_per_epoch, batches);
    plan_.piece_samples = memory_.piece_samples(batches);
    plan_.slot_bytes = memory_.staging_bytes(batches);
    plan_.staging_bytes = ring_bytes(plan_.staging_slots, plan_.slot_bytes);
    plan_.request_samples = memory_.requests(batches).request_samples();
    plan_.min_requests = memory_.min_requests();
    plan_.far_request_bytes = memory_.far_bytes();
    if (memory_.in_place()) return;

    plan_.device_slot_bytes = memory_.device_bytes(batches);
    plan_.device_slots = depth_of(on_device, batches);
    plan_.host_bytes = ring_bytes(plan_.device_slots, memory_.host_delivered().bytes(batches));
    blocks_ = blocks_with(batches);
    const decoding_bytes decoder = decoding_with(blocks_, plan_.device_slots);
    if (std::string why = too_many(decoder, options_); !why.empty()) {
      blocks_.reset();
      decoding_ = {.blocks = std::nullopt, .why_not = std::move(why)};
      memory_.drop_blocks();
      size_rings();
      return;
    }
    plan_.destination_bytes = memory_.destination_bytes(batches) + decoder.decoder;
    plan_.cache_bytes = choice_.cache_bytes + decoder.store;
    plan_.staging_bytes += decoder.answers;
    plan_.device_bytes = ring_bytes(plan_.device_slots, plan_.device_slot_bytes) +
                         plan_.destination_bytes + plan_.cache_bytes;
  }

  const dataset& dataset_;
  const device_capabilities& device_;
  const loader_options& options_;
  const batch_sizes_ptr sizes_;
  const shared_order order_;
  const made_choice made_;
  const std::vector<std::size_t> row_bytes_;
  const placement_choice choice_;
  decoding_choice decoding_;
  slot_memory memory_;
  const reader_numbers readers_;
  std::optional<block_plan> blocks_ = {};
  loader_plan plan_ = {};
};

}  // namespace

resolved_plan resolve(const dataset& dataset, const sampler& sampler,
                      const device_capabilities& device, const loader_options& options) {
  check_fields(dataset.fields(), "the dataset");
  loader_options within = options;
  if (options.expert.tuning.max_pinned_bytes != 0)  // it limits staging memory then
    within.memory.pinned = options.expert.tuning.max_pinned_bytes;
  return planner{dataset, sampler, device, within}.resolve();
}

}  // namespace feedline::detail
