#pragma once

#include <feedline/loader/loader.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <vector>

namespace feedline::test {

/// Batches of some epochs as a consumer got them: by the data, and by the batches' own members.
struct batch_log {
  std::vector<std::vector<std::uint64_t>> batches;  ///< samples of each, all epochs' in order
  std::vector<std::uint64_t> repeats;               ///< repeats of each batch

  friend bool operator==(const batch_log&, const batch_log&) = default;
};

/// Takes all batches of epochs `first` to `end` - 1, or `most`. Each must be intact, follow the one
/// before, and say of itself which samples it holds.
[[nodiscard]] inline batch_log take_epochs(loader& loader, const path_setup& by,
                                           std::uint64_t first, std::uint64_t end,
                                           std::uint64_t most = UINT64_MAX) {
  batch_log log;
  recorder record{by.looks()};
  std::vector<std::vector<std::uint64_t>> told;
  for (std::uint64_t epoch = first; epoch < end && told.size() < most; ++epoch) {
    for (batch& batch : loader.epoch(epoch, by.stream)) {
      record(batch);
      CHECK(batch.epoch() == epoch);
      told.emplace_back();
      for (const sample_index each : batch.samples()) told.back().push_back(each.value);
      log.repeats.push_back(batch.repeats());
      if (told.size() == most) break;
    }
  }
  for (const seen_batch& each : record.seen()) {
    CHECK(each.intact);
    log.batches.push_back(each.samples);
  }
  CHECK(log.batches == told);
  return log;
}

}  // namespace feedline::test
