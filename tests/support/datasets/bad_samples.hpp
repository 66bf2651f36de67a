#pragma once

#include <feedline/error.hpp>
#include <feedline/sampler/partial_batch.hpp>
#include <feedline/sampler/sampler.hpp>
#include <feedline/sampler/shard.hpp>

#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace feedline::test {

using sample_set = std::set<std::uint64_t>;

/// Identity rows of which some samples cannot be read: a run that holds one throws.
[[nodiscard]] inline dataset_ptr make_bad_rows(std::uint64_t samples, sample_set bad,
                                               std::size_t row_bytes = 11) {
  return gated(make_identity_rows(samples, row_bytes),
               [bad = std::move(bad)](std::span<const sample_index> run) {
                 for (const sample_index each : run) {
                   if (bad.count(each.value) != 0)
                     throw dataset_error{{"disk/part-3.bin", "row", each.value}, "bad checksum"};
                 }
               });
}

/// Expected result of an epoch, computed sample by sample: the model that loaders are compared
/// with.
struct modelled_epoch {
  std::vector<std::uint64_t> delivered;                         ///< samples, in order
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failed;  ///< position and sample, as met
};

/// The samples that an order gives in an epoch.
[[nodiscard]] inline std::vector<std::uint64_t> order_of_epoch(const sampler& order,
                                                               std::uint64_t samples,
                                                               std::uint64_t epoch) {
  std::vector<sample_index> indices(order.size(samples));
  order.indices(samples, epoch, position{0}, indices);
  std::vector<std::uint64_t> values;
  for (const sample_index each : indices) values.push_back(each.value);
  return values;
}

/// Each bad sample is left out, and the last remaining one replaces it.
[[nodiscard]] inline modelled_epoch skipping(const std::vector<std::uint64_t>& order,
                                             const sample_set& bad) {
  std::deque<std::pair<std::uint64_t, std::uint64_t>> left;
  for (std::uint64_t i = 0; i < order.size(); ++i) left.emplace_back(i, order[i]);
  modelled_epoch made;
  const auto is_bad = [&](const auto& each) {
    if (bad.count(each.second) == 0) return false;
    made.failed.push_back(each);
    return true;
  };
  while (!left.empty()) {
    auto next = left.front();
    left.pop_front();
    bool found = !is_bad(next);
    while (!found && !left.empty()) {
      next = left.back();
      left.pop_back();
      found = !is_bad(next);
    }
    if (found) made.delivered.push_back(next.second);
  }
  return made;
}

/// One sample replaces each bad one.
[[nodiscard]] inline modelled_epoch substituting(std::vector<std::uint64_t> order,
                                                 const sample_set& bad, std::uint64_t by) {
  modelled_epoch made;
  for (std::uint64_t i = 0; i < order.size(); ++i) {
    if (bad.count(order[i]) == 0) continue;
    made.failed.emplace_back(i, order[i]);
    order[i] = by;
  }
  made.delivered = std::move(order);
  return made;
}

/// Expected result of one rank's epoch, batch by batch, within `error_policy::max_share`.
struct modelled_run {
  std::vector<std::vector<std::uint64_t>> batches = {};  ///< batches that are delivered
  bool fails = false;                                    ///< then: more may not be unreadable
  std::uint64_t failures = 0;                            ///< number in the report: with repeats
  std::uint64_t counted = 0;                             ///< number for the share: without repeats
  std::uint64_t samples = 0;                             ///< total for the share

  /// A sample that cannot be read was met. True if it is one too many.
  bool meets(bool is_repeat, double max_share) {
    ++failures;
    if (is_repeat) return false;
    ++counted;
    return fails = static_cast<double>(counted) / static_cast<double>(samples) > max_share;
  }
};

/// With `skip`: the epoch's end, `order.size() - run.counted`, comes nearer with each failure. A
/// batch that is whole as it begins is gone through to its end, even if it is dropped then.
[[nodiscard]] inline modelled_run run_skipping(const std::vector<std::uint64_t>& order,
                                               const sample_set& bad, std::uint64_t size,
                                               partial_batch last, double max_share) {
  modelled_run run{.samples = order.size()};
  const auto end = [&] { return order.size() - run.counted; };
  const auto first_good =
      std::ranges::find_if(order, [&](auto each) { return bad.count(each) == 0; });
  for (std::uint64_t first = 0; first < end(); first += size) {
    if (last == partial_batch::drop && first + size > end()) break;
    std::vector<std::uint64_t> batch;
    for (std::uint64_t at = first; at < std::min(first + size, end()); ++at) {
      std::uint64_t from = at;
      while (bad.count(order[from]) != 0) {
        if (run.meets(false, max_share)) return run;
        from = end();
        if (from == at) break;
      }
      if (at < end()) batch.push_back(order[from]);
    }
    if (batch.empty() || (last == partial_batch::drop && batch.size() < size)) break;
    for (std::uint64_t at = first + batch.size(); last == partial_batch::fill && at < first + size;
         ++at) {
      const std::uint64_t repeat = order[at % order.size()];
      batch.push_back(bad.count(repeat) == 0 ? repeat : *first_good);
    }
    run.batches.push_back(std::move(batch));
  }
  return run;
}

/// With `substitute`, in a world of several ranks.
[[nodiscard]] inline modelled_run run_substituting(const std::vector<std::uint64_t>& order,
                                                   const sample_set& bad, std::uint64_t size,
                                                   partial_batch last, double max_share,
                                                   std::uint64_t by, shard part = {}) {
  const auto rank = static_cast<std::uint64_t>(part.rank);
  const auto world = static_cast<std::uint64_t>(part.world);
  const std::uint64_t rest = order.size() % (size * world);
  std::vector<std::vector<std::uint64_t>> positions;  // positions of each batch
  for (std::uint64_t first = 0; first < order.size(); first += size * world) {
    const bool is_whole = order.size() - first >= size * world;
    if (!is_whole && last == partial_batch::drop) break;
    const std::uint64_t own =
        is_whole || last == partial_batch::fill ? size : (rest + world - 1) / world;
    positions.emplace_back();
    for (std::uint64_t i = 0; i < own; ++i) positions.back().push_back(first + rank * own + i);
  }
  modelled_run run;
  for (const auto& batch : positions)
    run.samples += static_cast<std::uint64_t>(
        std::ranges::count_if(batch, [&](auto at) { return at < order.size(); }));
  for (const auto& batch : positions) {
    std::vector<std::uint64_t> delivered;
    for (const std::uint64_t at : batch) {
      const std::uint64_t sample = order[at % order.size()];
      if (bad.count(sample) != 0 && run.meets(at >= order.size(), max_share)) return run;
      delivered.push_back(bad.count(sample) == 0 ? sample : by);
    }
    run.batches.push_back(std::move(delivered));
  }
  return run;
}

/// Samples as batches.
[[nodiscard]] inline std::vector<std::vector<std::uint64_t>> in_batches(
    const std::vector<std::uint64_t>& samples, std::uint64_t size) {
  std::vector<std::vector<std::uint64_t>> batches;
  for (std::uint64_t i = 0; i < samples.size(); ++i) {
    if (i % size == 0) batches.emplace_back();
    batches.back().push_back(samples[i]);
  }
  return batches;
}

}  // namespace feedline::test
