#include "loader/plan/placement_choice.hpp"

#include <feedline/error.hpp>
#include <feedline/loader/placement.hpp>

#include "dataset/held_rows.hpp"
#include "staging/device_row_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {
namespace {

/// A cached row's number has 31 bits in the device's tables.
constexpr std::uint64_t max_cached = assembly::arrived - 1;

/// The most rows that fit in a budget; each field's rows lie together, aligned.
std::uint64_t rows_within(std::span<const std::size_t> row_bytes, std::uint64_t samples,
                          std::size_t budget) {
  std::size_t row = 0;
  for (const std::size_t bytes : row_bytes) row += bytes;
  std::uint64_t rows = std::min<std::uint64_t>(budget / row, samples);
  while (rows != 0 && device_row_cache::bytes(row_bytes, rows) > budget) --rows;
  return rows;
}

std::string asked_for(placement wanted) {
  return "loader_options::placement is " + std::string{to_string(wanted)};
}

placement_choice gather(const dataset& dataset, const device_capabilities& device) {
  const held_rows rows{dataset};
  if (rows.empty()) {
    throw usage_error{asked_for(placement::gather) +
                      ", but the dataset has no rows in memory for the device to fetch: load it "
                      "into one that has (make_memory_dataset), or choose another placement"};
  }
  return {placement::gather, dataset.size(),
          device_row_cache::copied_bytes(rows.fields(), dataset.size(), device.map_granularity)};
}

}  // namespace

placement_choice choose_placement(const dataset& dataset, const device_capabilities& device,
                                  const loader_options& options,
                                  std::span<const std::size_t> row_bytes) {
  const placement wanted = options.placement;
  const std::uint64_t samples = dataset.size();
  const bool may_keep = wanted != placement::stream && samples != 0;
  if (!may_keep || device.reads_staging) return {};
  if (!options.keep_on_host.empty()) {
    if (wanted == placement::automatic) return {};
    throw usage_error{asked_for(wanted) +
                      ", where rows are not read again for each batch, but "
                      "loader_options::keep_on_host needs them on the host: choose "
                      "placement::stream"};
  }
  if (!device.assembles) {
    if (wanted == placement::automatic) return {};
    throw usage_error{asked_for(wanted) + ", but " + device.name +
                      " cannot assemble slots (device_capabilities::assembles): choose "
                      "placement::stream"};
  }
  if (dataset.varies_by_epoch()) {
    if (wanted == placement::automatic) return {};
    throw usage_error{
        asked_for(wanted) +
        ", but the dataset's samples differ from epoch to epoch (varies_by_epoch()), but "
        "cached rows would not: choose placement::stream"};
  }
  if (wanted != placement::automatic && samples > max_cached) {
    throw usage_error{asked_for(wanted) + ", which can number " + std::to_string(max_cached) +
                      " samples at most, but the dataset has " + std::to_string(samples) +
                      ": choose placement::stream"};
  }
  if (wanted == placement::gather) return gather(dataset, device);

  const std::size_t all_bytes = device_row_cache::bytes(row_bytes, samples);
  const std::size_t budget = options.memory.cache;
  const std::string numbers =
      "; its " + std::to_string(samples) + " samples take " + std::to_string(all_bytes) + " bytes";
  if (wanted == placement::resident) {
    if (budget != 0 && budget < all_bytes) {
      throw usage_error{asked_for(wanted) + ", but memory.cache is " + std::to_string(budget) +
                        ", too small for the dataset" + numbers +
                        ": raise it, or choose placement::cached"};
    }
    return {placement::resident, samples, all_bytes};
  }
  if (wanted == placement::cached && budget == 0) {
    throw usage_error{asked_for(wanted) +
                      ", but memory.cache is 0: say how much device memory rows may take" +
                      numbers};
  }
  const std::uint64_t rows = std::min(rows_within(row_bytes, samples, budget), max_cached);
  if (rows == 0) {
    if (wanted == placement::automatic) return {};
    throw usage_error{asked_for(wanted) + ", but memory.cache is " + std::to_string(budget) +
                      ", too small for a single sample" + numbers};
  }
  return {rows == samples ? placement::resident : placement::cached, rows,
          device_row_cache::bytes(row_bytes, rows)};
}

std::vector<std::size_t> row_bytes_of(const dataset& dataset, std::span<const made_field> made) {
  std::vector<std::size_t> row_bytes;
  for (const field& field : dataset.fields()) row_bytes.push_back(sample_bytes(field));
  for (const made_field& each : made) row_bytes[each.place] = 0;
  return row_bytes;
}

}  // namespace feedline::detail
