#include "loader/plan.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

/// More pieces than this are never needed to smooth what comes unevenly.
constexpr std::size_t most_tuned_slots = 64;

}  // namespace

loader_plan make_plan(const dataset& dataset, const sampler& sampler,
                      const device_capabilities& device, const loader_options& options) {
  const tuning_budget& budget = options.tuning;
  loader_options within = options;
  if (budget.max_pinned_bytes != 0) within.max_staging_bytes = budget.max_pinned_bytes;
  loader_plan first = untuned_plan(dataset, sampler, device, within);
  if ((budget.max_readers == 0 && budget.max_pinned_bytes == 0) || first.readers == 0) return first;

  const bool serialized = dataset.concurrency() == read_concurrency::serialized;
  within.readers = budget.max_readers == 0 || serialized ? first.readers : budget.max_readers;
  loader_plan whole = untuned_plan(dataset, sampler, device, within);
  if (budget.max_pinned_bytes != 0) {
    const std::size_t besides = whole.staging_bytes - whole.staging_slots * whole.slot_bytes;
    const std::size_t fitting = (budget.max_pinned_bytes - besides) / whole.slot_bytes;
    within.staging_slots =
        std::clamp(fitting, whole.staging_slots, std::max(most_tuned_slots, whole.staging_slots));
    whole = untuned_plan(dataset, sampler, device, within);
  }
  whole.first_readers = std::min(first.readers, whole.readers);
  whole.first_staging_slots = std::min(first.staging_slots, whole.staging_slots);
  return whole;
}

}  // namespace feedline::detail
