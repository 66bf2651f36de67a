#include <feedline/error.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>

#include "dataset/error_policies.hpp"
#include "dataset/known_type.hpp"
#include "detail/arithmetic.hpp"
#include "detail/known_value.hpp"
#include "loader/partial_names.hpp"
#include "sampler/shard_environment.hpp"
#include "transform/mixing.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

namespace {

constexpr int max_readers = 1024;
constexpr std::size_t max_slots = 4096;
constexpr std::size_t max_trace_events = 10'000'000;
constexpr std::array<std::string_view, 5> placement_names{"automatic", "stream", "gather",
                                                          "resident", "cached"};
constexpr std::array<std::string_view, 3> decode_on_names{"cpu", "device", "automatic"};

void check_slots(const char* name, std::size_t slots) {
  if (slots == 0 || (slots >= 2 && slots <= max_slots)) return;
  throw usage_error{"loader_options::expert." + std::string{name} + " is " + std::to_string(slots) +
                    ": say 2 to " + std::to_string(max_slots) + ", or 0 for automatic"};
}

void check_errors(const loader_options& options) {
  detail::check_errors(options.errors, "loader_options::errors");
  if (options.errors.action != error_action::skip) return;
  const std::string name = "loader_options::errors.action is skip ";
  if (options.shard.world > 1)
    throw usage_error{name + "in a world of " + std::to_string(options.shard.world) +
                      ": ranks would get unequal numbers of batches; take "
                      "error_action::substitute"};
  if (options.partial_batch == partial_batch::error)
    throw usage_error{name +
                      "with partial_batch::error: samples that are left out leave a last batch "
                      "that is not full; keep, drop or fill it, or take error_action::substitute"};
}

/// Refuses values made by a cast, or uninitialized memory.
void check_enumerations(const loader_options& options) {
  detail::require_known("loader_options::partial_batch", options.partial_batch,
                        detail::partial_names);
  detail::require_known("loader_options::placement", options.placement, placement_names);
  detail::require_known("loader_options::decode_on", options.decode_on, decode_on_names);
  detail::require_known("loader_options::expert.on_held", options.expert.on_held,
                        {"error", "allocate"});
  for (const field_transform& each : options.transforms) {
    const std::string transform = "loader_options::transforms: field '" + each.field + "': ";
    detail::require_known_type(transform + "to", each.to);
    for (const auto& [name, layout] :
         {std::pair{"layout", each.layout}, std::pair{"to_layout", each.to_layout}})
      if (layout) detail::require_known(transform + name, *layout, {"hwc", "chw"});
  }
  if (!options.expert.batch_transform) return;
  for (const field& each : options.expert.batch_transform->fields)
    detail::require_known_type(
        "loader_options::expert.batch_transform: field '" + each.name + "': type", each.type);
}

void check_tuning(const loader_options& options) {
  const tuning_budget& budget = options.expert.tuning;
  const std::string name = "loader_options::expert.tuning.max_readers is ";
  if (budget.max_readers < 0 || budget.max_readers > max_readers)
    throw usage_error{name + std::to_string(budget.max_readers) + ": say 1 to " +
                      std::to_string(max_readers) + ", or 0 to leave readers as they are"};
  if (budget.max_readers != 0 && options.readers > budget.max_readers)
    throw usage_error{name + std::to_string(budget.max_readers) + ", but readers is " +
                      std::to_string(options.readers) +
                      ", with which the search begins: lower it, or leave it out"};
  if (budget.max_pinned_bytes != 0 && options.memory.pinned != 0)
    throw usage_error{
        "loader_options::memory.pinned and expert.tuning.max_pinned_bytes both limit staging "
        "memory: with tuning, leave out memory.pinned"};
}

/// If a batch comes in several pieces.
std::string pieces_of(const loader_plan& plan) {
  if (plan.piece_samples == 0 || plan.piece_samples >= plan.batch_size) return {};
  return fmt::format(", in {} pieces", detail::divide_up(plan.batch_size, plan.piece_samples));
}

/// If there are several ranks.
std::string rank_of(const loader_plan& plan) {
  if (plan.shard.world == 1) return {};
  return fmt::format("rank {} of {}: ", plan.shard.rank, plan.shard.world);
}

std::string mebibytes(std::size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string_view to_string(decode_on who) noexcept {
  return detail::name_in(decode_on_names, who);
}

std::string_view to_string(placement placement) noexcept {
  return detail::name_in(placement_names, placement);
}

loader_options validated(const loader_options& options) {
  check_enumerations(options);
  if (options.batch_size == 0)
    throw usage_error{"loader_options::batch_size is 0: a batch holds at least 1 sample"};
  detail::check_shard(options.shard, "loader_options::shard");
  const auto world = static_cast<std::uint64_t>(options.shard.world);
  if (!detail::checked_multiply(options.batch_size, world))
    throw usage_error{"loader_options::batch_size is " + std::to_string(options.batch_size) +
                      " in a world of " + std::to_string(world) +
                      ": a global batch must be less than 2^64 samples; lower batch_size"};
  if (options.readers < automatic_readers || options.readers > max_readers) {
    throw usage_error{"loader_options::readers is " + std::to_string(options.readers) +
                      ": say 0 to " + std::to_string(max_readers) + ", or automatic_readers"};
  }
  if (options.mixing) detail::check_mixing(*options.mixing);
  if (options.expert.batch_transform && !options.expert.batch_transform->run)
    throw usage_error{
        "loader_options::expert.batch_transform has no run: give it one, or leave it out"};
  if (options.expert.trace_events > max_trace_events) {
    throw usage_error{"loader_options::expert.trace_events is " +
                      std::to_string(options.expert.trace_events) + ": say 0 (no trace) to " +
                      std::to_string(max_trace_events)};
  }
  if (options.expert.leave_reads_after.count() < 0)
    throw usage_error{"loader_options::expert.leave_reads_after is " +
                      std::to_string(options.expert.leave_reads_after.count()) +
                      " ms: say how long destruction may wait, or 0 for no limit"};
  if (options.expert.max_held_bytes != 0 && options.expert.on_held == on_held::error)
    throw usage_error{"loader_options::expert.max_held_bytes is " +
                      std::to_string(options.expert.max_held_bytes) +
                      ", but on_held is error, which allocates nothing: leave it out, or set "
                      "on_held::allocate"};
  check_tuning(options);
  check_slots("staging_slots", options.expert.staging_slots);
  check_slots("device_slots", options.expert.device_slots);
  check_errors(options);
  return options;
}

std::string to_string(const loader_plan& plan) {
  std::string text =
      fmt::format("{}{} batches of {} an epoch, {}{} a slot{}; staging {} × {} = {}", rank_of(plan),
                  plan.batches_per_epoch, plan.batch_size, plan.slots_grow ? "1 to " : "",
                  plan.batches_per_slot, pieces_of(plan), plan.staging_slots,
                  mebibytes(plan.slot_bytes), mebibytes(plan.staging_bytes));
  if (plan.device_slots == 0) {
    text += ", read in place";
  } else {
    text += fmt::format(", device {} × {}", plan.device_slots, mebibytes(plan.device_slot_bytes));
    if (plan.destination_bytes != 0) text += " + passing " + mebibytes(plan.destination_bytes);
    if (plan.cache_bytes != 0) text += " + cached rows " + mebibytes(plan.cache_bytes);
    text += " = " + mebibytes(plan.device_bytes);
    if (plan.host_bytes != 0) text += ", kept on the host " + mebibytes(plan.host_bytes);
  }
  if (plan.placement != placement::stream)
    text += fmt::format("; {}, {} samples kept", to_string(plan.placement), plan.cached_samples);
  if (plan.decode_on == decode_on::device) {
    text += "; the device decodes ";
    for (const std::string& field : plan.decoded_fields) text += field + ", ";
    text += fmt::format("up to {} blocks at once", plan.decoded_at_once);
  }
  if (!plan.decode_note.empty())
    text += (plan.decode_on == decode_on::device ? "; " : "; not decoded by the device: ") +
            plan.decode_note;
  for (std::size_t i = 0; i < plan.made_on_device.size(); ++i)
    text += (i == 0 ? "; made by the device: " : ", ") + plan.made_on_device[i];
  if (!plan.made_note.empty()) text += "; not made by the device: " + plan.made_note;
  text += fmt::format("; {} {}", plan.readers, plan.readers == 1 ? "reader" : "readers");
  if (plan.first_readers != 0 &&
      (plan.first_readers != plan.readers || plan.first_staging_slots != plan.staging_slots))
    text += fmt::format("; tuned, from {} and {} staging slots", plan.first_readers,
                        plan.first_staging_slots);
  if (plan.far_request_bytes != 0)
    text +=
        fmt::format("; {} asked of other machines at a time", mebibytes(plan.far_request_bytes));
  if (!plan.cores.empty())
    text += fmt::format("; on the {} cores near the device", plan.cores.size());
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
