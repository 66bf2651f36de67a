#pragma once

#include <feedline/error.hpp>
#include <feedline/sampler/sampler.hpp>

#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

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

/// What becomes of an epoch, computed sample by sample: the model that loaders are held against.
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

/// Each bad sample is left out, and the last one that is left takes its place.
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

/// One sample stands in the place of each bad one.
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
