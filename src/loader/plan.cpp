#include "loader/plan.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "staging/slot_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>

namespace feedline::detail {
namespace {

/// A copy reaches the bus's rate at megabytes: a slot of 8 MiB spends under 3 % of its time on
/// issuing.
constexpr std::size_t slot_goal_bytes = std::size_t{8} << 20;
/// Slots above this are deep enough in time that three of them overlap as well as four.
constexpr std::size_t large_slot_bytes = std::size_t{16} << 20;
constexpr std::size_t request_goal_bytes = std::size_t{256} << 10;
/// Requests of all slots stand in one channel, whose size is bounded.
constexpr std::uint64_t most_requests = 60'000;
constexpr std::size_t fewest_slots = 2;
constexpr std::size_t usual_slots = 4;

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

void check_fields(const std::vector<field>& fields) {
  if (fields.empty())
    throw usage_error{"the dataset has no fields: fields() must name at least one"};
  std::set<std::string> names;
  for (const field& field : fields) {
    if (!names.insert(field.name).second) {
      throw usage_error{"the dataset has two fields named '" + field.name + "': rename one"};
    }
    (void)sample_bytes(field);
  }
}

std::string names_of(const std::vector<field>& fields) {
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
                        "', but the dataset has " + names_of(fields)};
    }
    if (wanted.type && *wanted.type != found->type) {
      throw usage_error{"loader_options::expected_fields wants '" + wanted.name + "' as " +
                        std::string{to_string(*wanted.type)} + ", but the dataset has " +
                        to_string(*found) + ": take it as that, or convert it with map()"};
    }
  }
}

/// Samples delivered in an epoch under the policy for a last batch.
std::uint64_t delivered_samples(std::uint64_t samples, const loader_options& options) {
  if (samples == 0) throw usage_error{"the dataset has no samples: there is nothing to load"};
  const std::uint64_t rest = samples % options.batch_size;
  switch (options.last) {
    case last_batch::keep:
      return samples;
    case last_batch::refuse:
      if (rest == 0) return samples;
      throw usage_error{
          "batch_size " + number(options.batch_size) + " leaves a last batch of " + number(rest) +
          " of the epoch's " + number(samples) +
          " samples, and last_batch::refuse forbids one: choose a divisor, or keep or drop it"};
    case last_batch::drop:
      if (samples >= options.batch_size) return samples - rest;
      throw usage_error{"batch_size " + number(options.batch_size) +
                        " is larger than the epoch's " + number(samples) +
                        " samples, and last_batch::drop would leave nothing: lower batch_size, or "
                        "keep the last batch"};
  }
  throw usage_error{"loader_options::last is none of keep, drop, refuse"};
}

int reader_count(const loader_options& options, read_concurrency concurrency) {
  if (options.readers != automatic_readers) return options.readers;
  if (concurrency == read_concurrency::serialized) return 1;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency() / 2), 1, 8);
}

/// How many slots of a ring of batches fit a budget.
struct ring_request {
  const char* option;        ///< the budget's name, for the message
  std::size_t budget;        ///< 0: none
  std::size_t wanted_slots;  ///< 0: automatic
};

std::size_t fewest(const ring_request& ring) {
  return ring.wanted_slots == 0 ? fewest_slots : ring.wanted_slots;
}

/// The most batches a slot may hold for the ring to fit its budget: slots become smaller first, since
/// a shallow ring overlaps less, and fewer only when one batch a slot is still too much.
std::uint64_t batches_within(const ring_request& ring, std::size_t batch_bytes,
                             std::uint64_t batches, bool batches_fixed) {
  if (ring.budget == 0) return batches;
  const std::uint64_t needed_batches = batches_fixed ? batches : 1;
  const std::size_t deepest = ring.wanted_slots == 0 ? usual_slots : ring.wanted_slots;
  for (std::size_t depth = deepest; depth >= fewest(ring); --depth) {
    const std::uint64_t fit = ring.budget / depth / batch_bytes;
    if (fit >= needed_batches) return std::min(batches, fit);
  }
  throw usage_error{
      std::string{ring.option} + " is " + number(ring.budget) + " bytes, but " +
      number(fewest(ring)) + " slots of " + number(needed_batches) + " batches of " +
      number(batch_bytes) + " bytes need " + number(fewest(ring) * needed_batches * batch_bytes) +
      ": raise it, or lower batch_size" + (batches_fixed ? ", batches_per_slot" : "") +
      (ring.wanted_slots == 0 ? "" : " or the number of slots")};
}

std::size_t ring_bytes(std::size_t slots, std::size_t slot_bytes) {
  const auto bytes = checked_multiply(slots, slot_bytes);
  if (bytes) return *bytes;
  throw usage_error{
      number(slots) + " slots of " + number(slot_bytes) +
      " bytes do not fit in 64 bits: lower batch_size, batches_per_slot or the number of slots"};
}

std::size_t depth_of(const ring_request& ring, std::size_t slot_bytes) {
  if (ring.wanted_slots != 0) return ring.wanted_slots;
  const std::size_t depth = slot_bytes > large_slot_bytes ? usual_slots - 1 : usual_slots;
  if (ring.budget == 0) return depth;
  return std::clamp(ring.budget / slot_bytes, fewest_slots, depth);
}

}  // namespace

loader_plan settle(const dataset& dataset, const sampler& sampler,
                   const device_capabilities& device, const loader_options& options) {
  loader_plan plan;
  plan.fields = dataset.fields();
  check_fields(plan.fields);
  check_expectations(plan.fields, options.expected_fields);
  plan.batch_size = options.batch_size;
  plan.samples_per_epoch = delivered_samples(sampler.size(dataset.size()), options);
  plan.batches_per_epoch = divide_up(plan.samples_per_epoch, plan.batch_size);

  const slot_layout one_batch{plan.fields, plan.batch_size, 1};
  plan.batch_bytes = one_batch.batch_bytes();

  const ring_request staging{"max_staging_bytes", options.max_staging_bytes, options.staging_slots};
  const ring_request on_device{"max_device_bytes", options.max_device_bytes, options.device_slots};
  const bool fixed = options.batches_per_slot != 0;
  std::uint64_t batches = options.batches_per_slot;
  if (!fixed) {
    // As many as make a good copy, but so few that a short epoch still spreads over the ring.
    const std::uint64_t spread = divide_up<std::uint64_t>(plan.batches_per_epoch, usual_slots);
    batches = std::clamp<std::uint64_t>(slot_goal_bytes / plan.batch_bytes, 1, spread);
  }
  batches = std::min(batches, plan.batches_per_epoch);
  batches = batches_within(staging, plan.batch_bytes, batches, fixed);
  if (!device.reads_staging) batches = batches_within(on_device, plan.batch_bytes, batches, fixed);

  plan.batches_per_slot = batches;
  plan.slot_bytes = slot_layout{plan.fields, plan.batch_size, batches}.slot_bytes();
  plan.slots_per_epoch = divide_up(plan.batches_per_epoch, batches);
  plan.staging_slots = depth_of(staging, plan.slot_bytes);
  plan.device_slots = device.reads_staging ? 0 : depth_of(on_device, plan.slot_bytes);
  plan.staging_bytes = ring_bytes(plan.staging_slots, plan.slot_bytes);
  plan.device_bytes = ring_bytes(plan.device_slots, plan.slot_bytes);

  const std::size_t request_bytes =
      options.request_bytes == 0 ? request_goal_bytes : options.request_bytes;
  const std::uint64_t slot_samples = batches * plan.batch_size;
  const std::uint64_t fewest_samples = divide_up(slot_samples, most_requests / plan.staging_slots);
  plan.request_samples =
      std::clamp<std::uint64_t>(request_bytes / one_batch.sample_bytes(),
                                std::max<std::uint64_t>(fewest_samples, 1), slot_samples);
  plan.readers = reader_count(options, dataset.concurrency());
  return plan;
}

}  // namespace feedline::detail
