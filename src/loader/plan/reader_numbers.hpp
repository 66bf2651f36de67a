#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>

#include <vector>

namespace feedline::detail {

/// How many readers a loader has.
struct reader_numbers {
  int most;         ///< reader threads; with tuning, for the whole budget
  int first;        ///< readers that take requests at first
  int of_requests;  ///< readers among which slots are divided: with a budget, all that it allows
  bool tuned;       ///< readers and staging slots are tuned
};

/// @param where The chosen placement.
[[nodiscard]] reader_numbers count_readers(const loader_options& options, placement where,
                                           const dataset& of, const device_capabilities& device);

/// Cores for the loader's threads: near the device, if there is one for each reader.
[[nodiscard]] std::vector<unsigned> cores_for(int readers, const device_capabilities& device);

}  // namespace feedline::detail
