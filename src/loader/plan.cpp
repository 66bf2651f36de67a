#include "loader/plan.hpp"

#include <feedline/error.hpp>

#include "dataset/error_policies.hpp"
#include "detail/arithmetic.hpp"
#include "detail/cores.hpp"
#include "detail/threads.hpp"
#include "loader/decoding_choice.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Of a device slot: its batches' rows come in one piece, and may grow by conversion. Four such
/// slots fit in 128 MiB.
constexpr std::size_t max_slot_bytes = std::size_t{31} << 20;
/// Rows that stay on the device cross the bus once, and slots of them are made in microseconds:
/// what each costs beside counts more than a ring three deep.
constexpr std::size_t max_resident_slot_bytes = std::size_t{41} << 20;

/// @param whose For the message: what named the fields.
void check_fields(const std::vector<field>& fields, const std::string& whose) {
  if (fields.empty()) throw usage_error{whose + " has no fields: it must name at least one"};
  std::set<std::string> names;
  for (const field& field : fields) {
    if (!names.insert(field.name).second)
      throw usage_error{whose + " has two fields named '" + field.name + "': rename one"};
    (void)sample_bytes(field);
  }
}

std::string fields_text(const std::vector<field>& fields) {
  std::string names;
  for (const field& field : fields) names += (names.empty() ? "" : ", ") + to_string(field);
  return names;
}

void check_expectations(const std::vector<field>& fields,
                        const std::vector<expected_field>& expected) {
  for (const expected_field& wanted : expected) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const field& each) { return each.name == wanted.name; });
    if (found == fields.end()) {
      throw usage_error{"loader_options::expected_fields names '" + wanted.name +
                        "', but batches have " + fields_text(fields)};
    }
    if (wanted.type && *wanted.type != found->type) {
      throw usage_error{"loader_options::expected_fields wants '" + wanted.name + "' as " +
                        std::string{to_string(*wanted.type)} + ", but batches have " +
                        to_string(*found) + ": take it as that, or convert it with map()"};
    }
  }
}

/// As many batches as make a piece, but so few that a short epoch still spreads over the ring, or
/// over two slots where the next epoch's stand behind them; and the same for all of an epoch's
/// slots, as near as can be: what comes in a slot of few batches comes at the price of a whole one.
std::uint64_t batches_of_slot(const loader_plan& plan, const loader_options& options,
                              const slot_memory& sizes) {
  const std::uint64_t fewest = options.epochs > 1 ? fewest_slots : usual_slots;
  const std::uint64_t spread = divide_up(plan.batches_per_epoch, fewest);
  const std::uint64_t fitting =
      plan.placement == placement::resident
          ? max_resident_slot_bytes / sizes.largest_batch_bytes()
          : std::min(max_slot_bytes / sizes.largest_batch_bytes(), sizes.batches_of_piece());
  const std::uint64_t most = std::clamp<std::uint64_t>(fitting, 1, spread);
  return divide_up(plan.batches_per_epoch, divide_up(plan.batches_per_epoch, most));
}

int reader_count(const loader_options& options, placement placement, read_concurrency concurrency) {
  if (options.readers != automatic_readers) return options.readers;
  if (placement == placement::gather) return 0;
  if (concurrency == read_concurrency::serialized) return 1;
  return std::clamp(static_cast<int>(usable_cores() / 2), 1, 8);
}

/// Where the loader's threads run: near the device, if readers find a core each there.
std::vector<unsigned> cores_for(int readers, const device_capabilities& device) {
  std::vector<unsigned> cores = choose_cores(device.near_cores);
  if (cores.size() < static_cast<std::size_t>(readers)) cores.clear();
  return cores;
}

std::size_t ring_bytes(std::size_t slots, std::size_t slot_bytes) {
  const auto bytes = checked_multiply(slots, slot_bytes);
  if (bytes) return *bytes;
  throw usage_error{
      std::to_string(slots) + " slots of " + std::to_string(slot_bytes) +
      " bytes do not fit in 64 bits: lower batch_size, batches_per_slot or the number of slots"};
}

/// The plan where there would be more decoded blocks than there may be.
loader_plan undecoded_plan(const dataset& dataset, const sampler& sampler,
                           const device_capabilities& device, loader_options options,
                           std::string why_not) {
  options.decode_on = decode_on::cpu;
  loader_plan plan = untuned_plan(dataset, sampler, device, options);
  plan.decode_note = std::move(why_not);
  return plan;
}

}  // namespace

loader_plan untuned_plan(const dataset& dataset, const sampler& sampler,
                         const device_capabilities& device, const loader_options& options) {
  loader_plan plan;
  check_fields(dataset.fields(), "the dataset");
  const placement_choice choice = choose_placement(dataset, device, options);
  const int readers = reader_count(options, choice.placement, dataset.concurrency());
  const decoding_choice decoding =
      choose_decoding(dataset, sampler, device, options, choice.placement);
  const slot_memory sizes{
      dataset.fields(),      options,
      choice.placement,      cached_share(choice.cached_samples, dataset.size()),
      device.reads_staging,  readers,
      decoding.loads_bytes()};
  const auto decoder_bytes = [&](std::uint64_t count, std::size_t slots) {
    if (!decoding.blocks) return decoding_bytes{};
    return bytes_of(sized(*decoding.blocks, dataset, device, options, sizes, count), dataset,
                    device, slots);
  };
  check_fields(sizes.delivered(), "loader_options::batch_transform");
  check_expectations(sizes.delivered(), options.expected_fields);
  check_substitute(options.errors, "loader_options::errors", dataset.size());
  plan.fields = sizes.delivered();
  plan.placement = choice.placement;
  plan.cached_samples = choice.cached_samples;
  plan.cache_bytes = choice.cache_bytes;
  plan.decode_on = decoding.blocks ? decode_on::device : decode_on::cpu;
  plan.decode_note = decoding.why_not;
  plan.device_could_decode = !decoding.blocks && has_decoders_for(dataset, device);
  plan.assembled = sizes.assembled();
  plan.batch_size = options.batch_size;
  const epoch_share share = share_of(sampler, dataset, options);
  plan.shard = options.shard;
  plan.samples_per_epoch = share.places();
  plan.repeats_per_epoch = share.places() - share.first_repeat();
  plan.batches_per_epoch = divide_up(plan.samples_per_epoch, plan.batch_size);
  plan.batch_bytes = sizes.delivered(1).batch_bytes();

  const bool fixed = options.batches_per_slot != 0;
  std::uint64_t batches = fixed ? options.batches_per_slot : batches_of_slot(plan, options, sizes);
  batches = std::min(batches, plan.batches_per_epoch);

  const ring_size staging{
      .option =
          options.tuning.max_pinned_bytes == 0 ? "max_staging_bytes" : "tuning.max_pinned_bytes",
      .budget = options.max_staging_bytes,
      .wanted_slots = options.staging_slots,
      .slot_bytes = [&](std::uint64_t count) { return sizes.staging_bytes(count); },
      .other_bytes = [&](std::uint64_t) { return decoding.answer_bytes(options); },
      .holds_batches = sizes.piece_samples(1) > 1 || options.batch_size == 1};
  const ring_size on_device{"max_device_bytes", options.max_device_bytes, options.device_slots,
                            [&](std::uint64_t count) { return sizes.device_bytes(count); },
                            [&](std::uint64_t count) {
                              return sizes.landing_bytes(count) +
                                     decoder_bytes(count, usual_slots).decoder;
                            }};
  batches = batches_within(staging, batches, fixed);
  if (!sizes.in_place()) batches = batches_within(on_device, batches, fixed);

  plan.batches_per_slot = batches;
  plan.slots_grow = !fixed && batches > 1 && plan.placement != placement::gather;
  plan.slots_per_epoch = divide_up(plan.batches_per_epoch, batches);
  plan.piece_samples = sizes.piece_samples(batches);
  plan.slot_bytes = sizes.staging_bytes(batches);
  plan.first_staging_slots = plan.staging_slots = depth_of(staging, batches);
  plan.staging_bytes = ring_bytes(plan.staging_slots, plan.slot_bytes);
  if (!sizes.in_place()) {
    plan.device_slot_bytes = sizes.device_bytes(batches);
    plan.device_slots = depth_of(on_device, batches);
    const decoding_bytes decoder = decoder_bytes(batches, plan.device_slots);
    if (std::string why = too_many(decoder, options); !why.empty())
      return undecoded_plan(dataset, sampler, device, options, std::move(why));
    plan.landing_bytes = sizes.landing_bytes(batches) + decoder.decoder;
    plan.cache_bytes += decoder.store;
    plan.staging_bytes += decoder.answers;
    plan.device_bytes = ring_bytes(plan.device_slots, plan.device_slot_bytes) + plan.landing_bytes +
                        plan.cache_bytes;
  }
  plan.request_samples = sizes.requests(batches).request_samples();
  plan.min_requests = sizes.min_requests();
  plan.first_readers = plan.readers = readers;
  plan.background = options.readers != 0;
  if (plan.background && options.near_device) plan.cores = cores_for(readers, device);
  return plan;
}

slot_plan slots_of(const loader_plan& plan) noexcept {
  return {.samples_per_epoch = plan.samples_per_epoch,
          .batch_size = plan.batch_size,
          .batches_per_epoch = plan.batches_per_epoch,
          .batches_per_slot = plan.batches_per_slot,
          .piece_samples = plan.piece_samples,
          .slots_grow = plan.slots_grow,
          .request_samples = plan.request_samples,
          .min_requests = plan.min_requests,
          .staging_slots = plan.staging_slots,
          .readers = plan.readers};
}

}  // namespace feedline::detail
