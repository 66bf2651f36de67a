#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/wrapped_device.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace feedline::test {

/// The host's memory as that of a device with copies, which are done at once. It has no threads and
/// allocates nothing but what it is asked for.
class copying_host final : public wrapped_device {
 public:
  copying_host() : wrapped_device{make_host_device()} {}
  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = "copying", .reads_staging = false};
  }
};

/// The parts of a small loader, all made before anything is refused.
struct starved_loader {
  data_path through;
  int readers;
  dataset_ptr data = make_identity_rows(16, 8);
  sampler order = shuffle{.seed = 8};
  device_ptr device =
      through == data_path::in_place ? make_host_device() : std::make_shared<copying_host>();
  loader_options options =
      on_data_path(through, *data,
                   {.batch_size = 4,
                    .epochs = epochs,
                    .readers = readers,
                    .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}});

  static constexpr std::uint64_t epochs = 2;
  static constexpr std::uint64_t batches = epochs * 4;
  static constexpr int max_readers = 3;

  [[nodiscard]] loader load() const { return {data, order, device, options}; }
};

/// Whether a batch on the host holds identity data. Allocates nothing.
[[nodiscard]] inline bool is_intact(const batch& taken) {
  const tensor_view ids = taken["id"];
  const auto rows = taken["row"].bytes();
  const std::size_t row_bytes = rows.size() / ids.samples();
  bool intact = true;
  for (std::uint64_t i = 0; i < ids.samples(); ++i)
    intact = intact && is_identity(ids.data<std::uint64_t>()[i], ids.bytes().subspan(i * 8, 8),
                                   rows.subspan(i * row_bytes, row_bytes));
  return intact;
}

}  // namespace feedline::test
