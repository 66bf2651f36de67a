/// Devices that cannot assemble slots: what would be done on them is done before slots are copied.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/mixing/mixed_images.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/devices/wrapped_device.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// A device with copies and no kernels.
struct plain_device final : wrapped_device {
  using wrapped_device::wrapped_device;
  [[nodiscard]] device_capabilities capabilities() const override {
    device_capabilities can = wrapped_device::capabilities();
    can.name = "plain";
    can.assembles = false;
    return can;
  }
  void assemble(const assembly& work, stream_ref stream) override {
    device::assemble(work, stream);  // NOLINT(bugprone-parent-virtual-call): it throws
  }
};

/// A way of batches through such a device.
path_setup plain() {
  path_setup by{data_path::stream};
  by.device = std::make_shared<plain_device>(by.on.device);
  return by;
}

std::vector<mixed_batch> deliver(const path_setup& by, const dataset_ptr& data,
                                 const loader_options& options) {
  loader loader = load_mixed(by, data, shuffle{.seed = 5}, options);
  CHECK_FALSE(loader.plan().assembled);
  std::vector<mixed_batch> seen;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) take_batches(loader, by, epoch, seen);
  return seen;
}

std::string refusal_of(const loader_options& options) {
  const path_setup by = plain();
  return message_of<usage_error>([&] {
    const loader refused{mixed_images::make(), shuffle{}, by.device, options};
  });
}

}  // namespace

TEST_CASE("without assembly: converted and mixed batches are those of other devices, to the bit",
          "[loader][host]") {
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t batch_size = GENERATE(7U, 8U, 45U);
  const std::size_t piece_bytes = GENERATE(0U, 1'000U, 4'000U);
  CAPTURE(readers, batch_size, piece_bytes);
  loader_options options = mixed_images::mixed(batch_size, readers);
  options.expert.piece_bytes = piece_bytes;
  const auto expected = deliver(path_setup{data_path::in_place}, mixed_images::make(), options);
  CHECK((deliver(plain(), mixed_images::make(), options) == expected));
}

TEST_CASE("without assembly: samples that replace unreadable ones are mixed by their own draws",
          "[loader][host]") {
  const log_capture unheard;
  const std::size_t piece_bytes = GENERATE(0U, 2'000U);
  CAPTURE(piece_bytes);
  loader_options options = mixed_images::mixed(12, 2);
  options.expert.piece_bytes = piece_bytes;
  options.errors = {.action = error_action::substitute,
                    .substitute = 3,
                    .first_pause = std::chrono::milliseconds{0},
                    .max_share = 1};
  const auto data = [] {
    return make_damaged(make_damaged(mixed_images::make(), sample_index{11}), sample_index{40});
  };
  const auto expected = deliver(path_setup{data_path::in_place}, data(), options);
  CHECK((deliver(plain(), data(), options) == expected));
}

TEST_CASE("without assembly: a placement that needs it is refused, and automatic streams",
          "[loader][host]") {
  for (const placement wanted : {placement::gather, placement::resident, placement::cached})
    CHECK(refusal_of({.batch_size = 4, .placement = wanted}) ==
          "loader_options::placement is " + std::string{to_string(wanted)} +
              ", but plain cannot assemble slots (device_capabilities::assembles): choose "
              "placement::stream");
  const path_setup by = plain();
  const loader automatic{
      mixed_images::make(), shuffle{}, by.device, {.batch_size = 4, .memory = {.cache = 1U << 20}}};
  CHECK(automatic.plan().placement == placement::stream);
}

TEST_CASE("without assembly: a batch transform is refused, and blocks are decoded by readers",
          "[loader][host]") {
  loader_options options{.batch_size = 4};
  options.expert.batch_transform =
      batch_transform{.fields = mixed_images::make()->fields(), .run = [](const auto&) {}};
  CHECK(refusal_of(options) ==
        "loader_options::expert.batch_transform needs a device that assembles slots, and this one "
        "cannot (device_capabilities::assembles): transform the batches that the loader delivers");
  const path_setup by = plain();
  const loader decoding{make_encoded(mixed_images::make(), 5),
                        sequential{},
                        by.device,
                        {.batch_size = 4, .decode_on = decode_on::device}};
  CHECK(decoding.plan().decode_on == decode_on::cpu);
  CHECK(decoding.plan().decode_note == "plain cannot assemble slots from decoded rows");
  CHECK_FALSE(decoding.plan().device_could_decode);
}
