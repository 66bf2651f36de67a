#include "loader/plan/reader_numbers.hpp"

#include "detail/cores.hpp"
#include "detail/threads.hpp"

#include <algorithm>
#include <cstddef>

namespace feedline::detail {
namespace {

int reader_count(const loader_options& options, placement placement, const dataset& of) {
  if (options.readers != automatic_readers) return options.readers;
  if (placement == placement::gather) return 0;
  if (of.concurrency() == read_concurrency::serialized) return 1;
  if (const unsigned reads = of.reads_in_processes(); reads != 0) return static_cast<int>(reads);
  return std::clamp(static_cast<int>(usable_cores() / 2), 1, 8);
}

/// The most readers that a loader may use: those that it begins with, unless they are tuned. An
/// automatic number is tuned among the cores near the device, or among all cores of the process if
/// those are fewer than the first readers.
int most_readers(const loader_options& options, const dataset& of, int first_readers,
                 const device_capabilities& device) {
  if (of.concurrency() == read_concurrency::serialized) return first_readers;
  if (options.expert.tuning.max_readers != 0) return options.expert.tuning.max_readers;
  if (options.readers != automatic_readers || of.reads_in_processes() != 0) return first_readers;
  const auto near_cores = static_cast<int>(choose_cores(device.near_cores).size());
  const int cores = near_cores >= first_readers ? near_cores : static_cast<int>(usable_cores());
  return std::clamp(2 * first_readers, first_readers, std::max(first_readers, cores));
}

}  // namespace

reader_numbers count_readers(const loader_options& options, placement where, const dataset& of,
                             const device_capabilities& device) {
  const tuning_budget& budget = options.expert.tuning;
  const int first = reader_count(options, where, of);
  const int most = first == 0 ? 0 : most_readers(options, of, first, device);
  const bool has_budget = budget.max_readers != 0 || budget.max_pinned_bytes != 0;
  return {.most = most,
          .first = std::min(first, most),
          .of_requests = has_budget ? most : first,
          .tuned = first != 0 && (has_budget || most > first)};
}

std::vector<unsigned> cores_for(int readers, const device_capabilities& device) {
  std::vector<unsigned> cores = choose_cores(device.near_cores);
  if (cores.size() < static_cast<std::size_t>(readers)) cores.clear();
  return cores;
}

}  // namespace feedline::detail
