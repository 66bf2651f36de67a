/// Tests a user's own work on the copy side: its input, when it runs, and how its errors are
/// handled.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 101;

/// Writes what later stages should see: the id, and the position of the sample within the epoch.
void number_samples(const std::vector<tensor_view>& in, std::byte* out, std::uint64_t index) {
  const auto* const ids = in[0].data<std::uint64_t>();
  for (std::uint64_t i = 0; i < in[0].samples(); ++i) {
    const std::uint64_t row[2]{ids[i], index * 8 + i};
    std::memcpy(out + i * sizeof row, row, sizeof row);
  }
}

/// On a scripted device the work is queued on the call's stream, as a kernel would be.
batch_transform numbering(const std::shared_ptr<scripted_device>& on) {
  return {.fields = {{"numbered", element_type::u64, {2}}},
          .run = [on](const batch_function_call& call) {
            const auto work = [in = std::vector<tensor_view>{call.in.begin(), call.in.end()},
                               out = call.out[0].data(),
                               index = call.index] { number_samples(in, out, index); };
            if (on) {
              on->launch(call.stream, work);
            } else {
              work();
            }
          }};
}

loader_options options_with(batch_transform function, int readers, placement placement) {
  return {.batch_size = 8,
          .readers = readers,
          .placement = placement,
          .expert = {.batches_per_slot = 3,
                     .staging_slots = 2,
                     .device_slots = 2,
                     .batch_transform = std::move(function)}};
}

/// The rows of "numbered" in two epochs, in order.
std::vector<std::uint64_t> consume(loader& loader, const std::shared_ptr<scripted_device>& on,
                                   stream_ref stream) {
  std::vector<std::uint64_t> seen;
  std::mutex mutex;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    for (batch& batch : loader.epoch(epoch, stream)) {
      const auto look = [&, view = batch["numbered"]] {
        const std::scoped_lock lock{mutex};
        const auto values = view.values<std::uint64_t>();
        seen.insert(seen.end(), values.begin(), values.end());
      };
      if (on) {
        on->launch(stream, look);
      } else {
        look();
      }
    }
  }
  if (on) on->drain(stream);
  return seen;
}

std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<sample_index> order(sample_count);
    shuffle{.seed = 5}.indices(sample_count, epoch, position{0}, order);
    for (std::uint64_t i = 0; i < sample_count; ++i) {
      numbers.push_back(order[i].value);
      numbers.push_back(i);
    }
  }
  return numbers;
}

}  // namespace

TEST_CASE("batch transform: batches hold its output, with every placement", "[transfer][host]") {
  const int readers = GENERATE(0, 2);
  const placement from = GENERATE(placement::stream, placement::resident);
  const scripted on;
  loader loader{make_identity_dataset(sample_count, 12), shuffle{.seed = 5}, on.device,
                options_with(numbering(on.device), readers, from)};
  CHECK(loader.plan().assembled);
  REQUIRE(loader.plan().fields.size() == 1);
  CHECK(on.device->allocated_bytes(memory_kind::device) == loader.plan().device_bytes);
  CHECK(consume(loader, on.device, on.stream) == expected());
}

TEST_CASE("batch transform: on the host it works before the call returns", "[transfer][host]") {
  const int readers = GENERATE(0, 2);
  loader loader{make_identity_dataset(sample_count, 12), shuffle{.seed = 5}, make_host_device(),
                options_with(numbering(nullptr), readers, placement::stream)};
  CHECK(consume(loader, nullptr, {}) == expected());
}

TEST_CASE("batch transform: it sees the output of the transforms", "[transfer][host]") {
  element_type seen = element_type::u8;
  std::vector<std::uint64_t> shape;
  loader_options options = options_with({.fields = {{"out", element_type::u8, {}}},
                                         .run =
                                             [&](const batch_function_call& call) {
                                               seen = call.in[1].type();
                                               shape = call.in[1].shape();
                                               std::memset(call.out[0].data(), 7, call.samples);
                                             }},
                                        0, placement::stream);
  options.transforms = {{.field = "row", .to = element_type::f32}};
  loader loader{make_identity_dataset(8, 12), shuffle{.seed = 5}, make_host_device(), options};
  for (batch& batch : loader.epoch(0)) CHECK(batch["out"].values<std::uint8_t>()[7] == 7);
  CHECK(seen == element_type::f32);
  CHECK(shape == std::vector<std::uint64_t>{8, 12});
}

TEST_CASE("batch transform: its exception ends the epoch as the transfer's failure, in order",
          "[transfer][host]") {
  const int readers = GENERATE(0, 2);
  const scripted on;
  loader loader{make_identity_dataset(sample_count, 12), shuffle{.seed = 5}, on.device,
                options_with({.fields = {{"out", element_type::u8, {}}},
                              .run =
                                  [](const batch_function_call& call) {
                                    if (call.index == 7) throw std::runtime_error{"no kernel"};
                                  }},
                             readers, placement::stream)};
  auto range = loader.epoch(0, on.stream);
  std::uint64_t batches = 0;
  const std::string message = message_of<stage_error>([&] {
    while (range.next()) ++batches;
  });
  CHECK(batches == 7);  // one of the third slot, which batch 7 is in, too
  CHECK(message.find("no kernel") != std::string::npos);
  CHECK(message.find("transfer") != std::string::npos);
}

TEST_CASE("batch transform: one without run or fields is refused", "[loader][host]") {
  const auto refusal = [](batch_transform function) {
    return message_of<usage_error>([&] {
      loader{make_identity_dataset(8, 12), shuffle{.seed = 5}, make_host_device(),
             options_with(std::move(function), 0, placement::stream)};
    });
  };
  CHECK(refusal({.fields = {{"out", element_type::u8, {}}}, .run = {}}) ==
        "loader_options::expert.batch_transform has no run: give it one, or leave it out");
  CHECK(refusal({.fields = {}, .run = [](const batch_function_call&) {}}) ==
        "loader_options::expert.batch_transform has no fields: it must name at least one");
}
