#pragma once

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>

namespace feedline::test {

/// The values of a scalar field in a shuffled epoch of two ranks, each of which stops after two
/// batches, and resumes with another number of readers.
template <class Label>
[[nodiscard]] std::multiset<std::int64_t> resumed_labels(const dataset_ptr& data,
                                                         const std::string& field,
                                                         shuffle order = {.seed = 5}) {
  const auto make = [&](int rank, int readers) {
    return loader{data,
                  order,
                  make_host_device(),
                  {.batch_size = 2,
                   .partial_batch = partial_batch::keep,
                   .shard = {rank, 2},
                   .readers = readers}};
  };
  std::multiset<std::int64_t> seen;
  const auto take = [&](const batch& from) {
    const auto bytes = from[field].bytes();
    for (std::size_t i = 0; i < from.size(); ++i) {
      Label label{};
      std::memcpy(&label, bytes.data() + i * sizeof label, sizeof label);
      seen.insert(static_cast<std::int64_t>(label));
    }
  };
  for (int rank = 0; rank < 2; ++rank) {
    loader_state state;
    {
      loader begun = make(rank, 3);
      auto batches = begun.epoch(0);
      take(*batches.next());
      take(*batches.next());
      state = begun.state();
    }
    loader resumed = make(rank, 1);
    resumed.seek(state);
    auto batches = resumed.epoch(0);
    while (const auto batch = batches.next()) take(*batch);
  }
  return seen;
}

}  // namespace feedline::test
