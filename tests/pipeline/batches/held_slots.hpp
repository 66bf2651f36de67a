#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/planned_pipeline.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// A consumer that is refused a batch, or warned, at once if all slots are held.
constexpr planned_pipeline::wait_limits no_wait{std::chrono::milliseconds{0},
                                                std::chrono::milliseconds{0}};

/// Batches of 8 samples in rings of two slots.
inline loader_options two_slots(int readers, std::uint64_t batches_per_slot) {
  return {.batch_size = 8,
          .readers = readers,
          .expert = {.batches_per_slot = batches_per_slot, .staging_slots = 2, .device_slots = 2}};
}

/// The same; if all are held, the loader allocates up to so many bytes. @param max_held_bytes 0: a
/// quarter of what is free.
inline loader_options keeping(int readers, std::uint64_t batches_per_slot = 1,
                              std::size_t max_held_bytes = std::size_t{1} << 30) {
  loader_options options = two_slots(readers, batches_per_slot);
  options.expert.on_held = on_held::allocate;
  options.expert.max_held_bytes = max_held_bytes;
  options.expert.held_warning = [](const std::string&) {};
  return options;
}

/// A consumer of 20 batches of 8 samples, which may hold them in every slot.
struct holding {
  holding(data_path through, const loader_options& options,
          planned_pipeline::wait_limits how_long = no_wait)
      : by{through} {
    under_test.emplace(stored_for(through, data, sequential{}), sequential{}, by.device,
                       on_data_path(through, *data, options));
    under_test->set(how_long);
    pass = under_test->claim(0, by.stream);
  }
  std::optional<batch> next() { return under_test->next(pass, by.stream); }
  std::vector<batch> take(int count) {
    std::vector<batch> taken;
    for (int i = 0; i < count; ++i) taken.push_back(std::move(next().value()));
    return taken;
  }

  path_setup by;
  dataset_ptr data = make_identity_rows(160, 8);
  std::optional<planned_pipeline> under_test;
  std::shared_ptr<detail::epoch_pass> pass;
};

}  // namespace feedline::test
