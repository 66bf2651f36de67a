#pragma once

#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "staging/device_row_cache.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

// Identity data in blocks, and loaders that have the device decode them.

namespace feedline::test {

inline constexpr std::uint64_t sample_count = 331;  // a prime: nothing divides it
inline constexpr std::size_t row_bytes = 37;

/// Results of a loop over some epochs, until they ended or an error came.
struct run_result {
  std::vector<seen_batch> batches;
  std::optional<std::string> error;
};

inline run_result consume(loader& loader, const scripted& on, std::uint64_t epochs,
                          std::uint64_t first = 0) {
  recorder record{on};
  run_result seen;
  try {
    for (std::uint64_t epoch = first; epoch < first + epochs; ++epoch)
      for (batch& batch : loader.epoch(epoch, on.stream)) record(batch);
  } catch (const stage_error& failure) {
    seen.error = failure.what();
  }
  seen.batches = record.seen();
  return seen;
}

/// The same with blocks decoded by the device, or by readers.
inline run_result deliver(decode_on who, std::uint64_t rows, const sampler& order,
                          loader_options options, const std::shared_ptr<encoded_script>& script,
                          std::uint64_t epochs = 3) {
  const scripted on;
  options.decode_on = who;
  options.placement = placement::stream;
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), rows, script), order,
                on.device, options};
  REQUIRE(loader.plan().decode_on == who);
  return consume(loader, on, epochs);
}

inline run_result deliver(decode_on who, std::uint64_t rows, const sampler& order,
                          const loader_options& options) {
  return deliver(who, rows, order, options, std::make_shared<encoded_script>());
}

inline std::uint64_t blocks_of(std::uint64_t rows) {
  return (sample_count + rows - 1) / rows;
}

inline sampler order_of(bool shuffled) {
  return shuffled ? sampler{shuffle{.seed = 9, .within = chunks(2)}} : sampler{sequential{}};
}

/// A limit of cached bytes that leaves room for this many blocks. In `sequential` order a loader
/// wants 2 + ahead + 2 × the blocks of a slot + 3.
inline std::size_t room_for(std::uint64_t blocks, std::uint64_t rows) {
  const std::vector<std::size_t> of_sample{sizeof(std::uint64_t), row_bytes, 1};
  return detail::device_row_cache::bytes(of_sample, blocks * rows);
}

}  // namespace feedline::test
