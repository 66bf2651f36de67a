#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/arithmetic.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::detail::divide_up;
using feedline::detail::resolve;
using feedline::test::make_identity_dataset;

namespace {

const device_capabilities in_place{.name = "host", .reads_staging = true};
const device_capabilities with_copies{.name = "gpu"};

/// 784 bytes and an id: 792 bytes a sample, nearly MNIST's size.
loader_plan plan(std::uint64_t samples, const loader_options& options,
                 const device_capabilities& device = with_copies) {
  return resolve(*make_identity_dataset(samples, 784), sequential{}, device, options).report;
}

std::string refusal(std::uint64_t samples, const loader_options& options,
                    const device_capabilities& device = with_copies) {
  return test::message_of<usage_error>([&] { (void)plan(samples, options, device); });
}

/// A dataset of any fields, with nothing to read.
class shaped_dataset final : public dataset {
 public:
  shaped_dataset(std::uint64_t size, std::vector<field> fields)
      : size_{size}, fields_{std::move(fields)} {}
  std::uint64_t size() const override { return size_; }
  std::vector<field> fields() const override { return fields_; }
  void do_read(const read_request&) const override {}

 private:
  std::uint64_t size_;
  std::vector<field> fields_;
};

std::string refusal_of(const shaped_dataset& data, const loader_options& options = {}) {
  return test::message_of<usage_error>(
      [&] { (void)resolve(data, sequential{}, with_copies, options); });
}

/// Default size of a piece: 9.5 MiB.
constexpr std::size_t usual_piece = std::size_t{19} << 19;

}  // namespace

TEST_CASE("plan: small batches share a slot of about 9.5 MiB, four deep", "[loader][host]") {
  const loader_plan planned = plan(600'000, {.batch_size = 64});
  CHECK(planned.batches_per_epoch == 9'375);
  CHECK(planned.batch_bytes == 512 + 50'176);
  CHECK(planned.batches_per_slot == 196);  // 9.5 MiB, which makes 48 slots
  CHECK(planned.slots_per_epoch == divide_up<std::uint64_t>(9'375, planned.batches_per_slot));
  CHECK(planned.slot_bytes == planned.batches_per_slot * planned.batch_bytes);
  CHECK(planned.staging_slots == 4);
  CHECK(planned.device_slots == 4);
  CHECK(planned.staging_bytes == 4 * planned.slot_bytes);
  CHECK(planned.device_bytes == 4 * planned.slot_bytes);
  CHECK(planned.staging_bytes <= 4 * usual_piece);
  CHECK(planned.request_samples == (std::size_t{512} << 10) / 792 / 64 * 64);  // whole batches
}

TEST_CASE("plan: an epoch's slots are of one size, as near as can be", "[loader][host]") {
  // Slots of 196 batches, which are 9.5 MiB, would leave a last one of 20.
  const loader_plan planned = plan(1000 * 64, {.batch_size = 64});
  CHECK(planned.batches_per_epoch == 1000);
  CHECK(planned.batches_per_slot == 167);
  CHECK(planned.slots_per_epoch == 6);
  CHECK(plan(1003 * 64, {.batch_size = 64}).batches_per_slot == 168);
}

TEST_CASE("plan: slots of rows that stay on the device are larger, and three deep",
          "[loader][host]") {
  const loader_plan planned = plan(600'000, {.batch_size = 64, .placement = placement::resident});
  CHECK(planned.batches_per_slot == 782);  // 848 are 41 MiB, which makes 12 slots
  CHECK(planned.staging_slots == 4);       // rows are staged in pieces when they first come
  CHECK(planned.device_slots == 3);
  CHECK(planned.staging_bytes <= std::size_t{40} << 20);
}

TEST_CASE("plan: slots are sized by the larger of the staged and the delivered bytes",
          "[loader][host]") {
  constexpr std::size_t max_slot = std::size_t{31} << 20;
  const shaped_dataset mnist{
      60'000, {{"image", element_type::u8, {28, 28}}, {"label", element_type::u8, {}}}};
  const shaped_dataset labels{10'000'000, {{"label", element_type::u8, {}}}};
  const field_transform to_float{.field = "image"};
  const field_transform to_classes{.field = "label", .one_hot = 1000};
  struct example {
    const dataset& data;
    const field_transform& transform;
    std::uint64_t batch_size;
  };
  for (const auto& [data, transform, batch_size] :
       {example{mnist, to_float, 64}, example{mnist, to_float, 1}, example{labels, to_classes, 1},
        example{labels, to_classes, 64}, example{labels, to_classes, 1024}}) {
    for (const device_capabilities& device : {in_place, with_copies}) {
      const loader_plan planned =
          resolve(data, sequential{}, device, {.batch_size = batch_size, .transforms = {transform}})
              .report;
      CAPTURE(to_string(planned));
      CHECK(planned.batches_per_slot > 1);
      CHECK((planned.slot_bytes > usual_piece / 2 || planned.device_slot_bytes > max_slot / 2));
      CHECK(planned.batches_per_slot * planned.batch_bytes <= max_slot);
      CHECK(planned.slot_bytes <= max_slot);
      CHECK(planned.device_slot_bytes <= max_slot);
      CHECK(planned.staging_slots == 4);
      CHECK(planned.device_slots == (device.reads_staging ? 0 : 4));
    }
  }
}

TEST_CASE("plan: if transforms make samples smaller, slots are sized by the bytes read",
          "[loader][host]") {
  const shaped_dataset images{60'000, {{"image", element_type::u8, {256, 256, 3}}}};
  const field_transform small{
      .field = "image", .layout = image_layout::hwc, .crop = image_crop{.height = 8, .width = 8}};
  const loader_plan planned =
      resolve(images, sequential{}, with_copies, {.batch_size = 8, .transforms = {small}}).report;
  CHECK(planned.batches_per_slot == 6);  // batches of 1.5 MiB
  CHECK(planned.slot_bytes <= usual_piece);
}

TEST_CASE("plan: a short epoch is still spread over the ring", "[loader][host]") {
  const loader_plan planned = plan(640, {.batch_size = 64});
  CHECK(planned.batches_per_epoch == 10);
  CHECK(planned.batches_per_slot == 3);
  CHECK(planned.slots_per_epoch == 4);
  CHECK(plan(10, {.batch_size = 64}).batches_per_slot == 1);
}

TEST_CASE("plan: a short epoch that another follows is spread over two slots", "[loader][host]") {
  CHECK(plan(640, {.batch_size = 64, .epochs = 2}).batches_per_slot == 5);
  CHECK(plan(640, {.batch_size = 64, .epochs = 1}).batches_per_slot == 3);
}

TEST_CASE(
    "plan: large device slots are three or two deep, so that 128 MiB do, or two that need more, "
    "and are staged in pieces",
    "[loader][host]") {
  const auto depth_with = [](std::uint64_t batch_size) {
    const loader_plan planned = plan(1'000'000, {.batch_size = batch_size});
    REQUIRE(planned.batches_per_slot == 1);
    CHECK(planned.staging_slots == 4);
    CHECK(planned.slot_bytes <= usual_piece);
    return planned.device_slots;
  };
  CHECK(depth_with(40'000) == 4);  // 30 MiB
  CHECK(depth_with(50'000) == 3);
  CHECK(depth_with(80'000) == 2);
  CHECK(depth_with(200'000) == 2);
}

TEST_CASE("plan: options that are set are kept", "[loader][host]") {
  const loader_plan planned = plan(
      6'400,
      {.batch_size = 64,
       .readers = 3,
       .expert = {
           .batches_per_slot = 5, .request_bytes = 7'920, .staging_slots = 7, .device_slots = 2}});
  CHECK(planned.batches_per_slot == 5);
  CHECK(planned.staging_slots == 7);
  CHECK(planned.device_slots == 2);
  CHECK(planned.request_samples == 10);
  CHECK(planned.readers == 3);
  CHECK(planned.slots_per_epoch == 20);
}

TEST_CASE("plan: slots grow unless their size was asked for, is one batch, or needs no reading",
          "[loader][host]") {
  CHECK(plan(6'400, {.batch_size = 64}).slots_grow);
  CHECK(plan(6'400, {.batch_size = 64}, in_place).slots_grow);
  CHECK(plan(6'400, {.batch_size = 64, .placement = placement::resident}).slots_grow);
  CHECK_FALSE(plan(6'400, {.batch_size = 64, .expert = {.batches_per_slot = 5}}).slots_grow);
  CHECK_FALSE(plan(6'400, {.batch_size = 6'400}).slots_grow);
  CHECK_FALSE(resolve(*test::make_identity_rows(6'400, 16), sequential{}, with_copies,
                      {.batch_size = 64, .placement = placement::gather})
                  .report.slots_grow);
}

TEST_CASE("plan: a slot holds no more batches than an epoch", "[loader][host]") {
  CHECK(plan(640, {.batch_size = 64, .expert = {.batches_per_slot = 1'000}}).batches_per_slot ==
        10);
}

TEST_CASE("plan: if batches are read in place there is no device memory, nor its limits",
          "[loader][host]") {
  const loader_plan planned = plan(
      6'400, {.batch_size = 64, .memory = {.device = 1}, .expert = {.device_slots = 9}}, in_place);
  CHECK(planned.device_slots == 0);
  CHECK(planned.device_bytes == 0);
  CHECK(planned.staging_slots == 4);
}

TEST_CASE("plan: a request is at least a sample, at most a slot, and their number is bounded",
          "[loader][host]") {
  CHECK(plan(640, {.batch_size = 64, .expert = {.request_bytes = 1}}).request_samples == 1);
  CHECK(plan(640, {.batch_size = 64, .expert = {.batches_per_slot = 2, .request_bytes = 1 << 30}})
            .request_samples == 128);
  const loader_plan planned = plan(
      10'000'000, {.batch_size = 1'000'000,
                   .expert = {.batches_per_slot = 1, .request_bytes = 1, .staging_slots = 4'096}});
  CHECK(planned.staging_slots * divide_up<std::uint64_t>(1'000'000, planned.request_samples) <=
        60'000);
}

TEST_CASE("plan: readers share small slots, unless requests were sized by the user",
          "[loader][host]") {
  CHECK(plan(6'400, {.batch_size = 64, .readers = 8}).min_requests == 32);
  CHECK(plan(6'400, {.batch_size = 64, .readers = 1}).min_requests == 4);
  CHECK(plan(6'400, {.batch_size = 64, .readers = 0}).min_requests == 0);
  CHECK(plan(6'400, {.batch_size = 64, .readers = 8, .expert = {.request_bytes = 1'000}})
            .min_requests == 0);
  CHECK(plan(6'400, {.batch_size = 64, .readers = 8, .expert = {.batches_per_slot = 2}})
            .min_requests == 0);
  for (const std::size_t slots : {2U, 100U, 4'096U}) {
    const loader_plan planned =
        plan(640'000, {.batch_size = 1, .readers = 1'024, .expert = {.staging_slots = slots}});
    CHECK(slots * detail::request_partition::more_requests(planned.min_requests) <= 5'000);
  }
}

TEST_CASE("plan: a last batch is kept, left out, or refused with a remedy", "[loader][host]") {
  CHECK(plan(10, {.batch_size = 4}).batches_per_epoch == 3);
  CHECK(plan(10, {.batch_size = 4}).samples_per_epoch == 10);
  CHECK(plan(10, {.batch_size = 4, .partial_batch = partial_batch::drop}).batches_per_epoch == 2);
  CHECK(plan(10, {.batch_size = 4, .partial_batch = partial_batch::drop}).samples_per_epoch == 8);
  CHECK(plan(12, {.batch_size = 4, .partial_batch = partial_batch::error}).batches_per_epoch == 3);
  CHECK(refusal(10, {.batch_size = 4, .partial_batch = partial_batch::error}) ==
        "batch_size 4 leaves a last batch of 2 of the epoch's 10 samples, and partial_batch::error "
        "forbids one: choose a divisor, or keep, fill or drop it");
  CHECK(refusal(10, {.batch_size = 11, .partial_batch = partial_batch::drop}) ==
        "batch_size 11 is larger than the epoch's 10 samples, and partial_batch::drop would leave "
        "nothing: lower batch_size, or keep the last batch");
  CHECK(plan(10, {.batch_size = 11}).batches_per_epoch == 1);
}

TEST_CASE("plan: a substitute that the dataset does not have is refused", "[loader][host]") {
  loader_options options;
  options.errors = {.action = error_action::substitute, .substitute = 10};
  CHECK(refusal(10, options) ==
        "loader_options::errors.substitute is 10, and the dataset has 10 samples: name one of "
        "them, from 0");
  options.errors.substitute = 9;
  CHECK_NOTHROW(plan(10, options));
}

TEST_CASE("plan: the sampler says how long an epoch is", "[loader][host]") {
  struct half {
    std::uint64_t size(std::uint64_t samples) const { return samples / 2; }
    void indices(std::uint64_t, std::uint64_t, position, std::span<sample_index>) const {}
  };
  const auto data = make_identity_dataset(100, 8);
  CHECK(resolve(*data, half{}, in_place, {.batch_size = 10}).report.batches_per_epoch == 5);
  CHECK(test::message_of<usage_error>([&] {
          (void)resolve(*make_identity_dataset(1, 8), half{}, in_place, {.batch_size = 10});
        }) ==
        "the sampler has no positions over the dataset's 1 samples, its size() is 0: there is "
        "nothing "
        "to load");
}

TEST_CASE("plan: a dataset that cannot be batched is refused", "[loader][host]") {
  CHECK(refusal_of({0, {{"x", element_type::u8, {}}}}) ==
        "the dataset has no samples: there is nothing to load");
  CHECK(refusal_of({5, {}}) == "the dataset has no fields: it must name at least one");
  CHECK(refusal_of({5, {{"x", element_type::u8, {}}, {"x", element_type::f32, {}}}}) ==
        "the dataset has two fields named 'x': rename one");
  CHECK_FALSE(refusal_of({5, {{"x", element_type::u8, {0}}}}).empty());
  CHECK(refusal_of({5, {{"x", element_type::u8, {std::uint64_t{1} << 40}}}},
                   {.batch_size = std::uint64_t{1} << 30})
            .find("batch_size 1073741824") == 0);
}

TEST_CASE("plan: rings that fit in no address space are refused before anything is allocated",
          "[loader][host]") {
  CHECK(refusal_of({std::uint64_t{1} << 62, {{"x", element_type::u8, {}}}},
                   {.batch_size = std::uint64_t{1} << 61, .expert = {.device_slots = 4'096}}) ==
        "4096 slots of 2305843009213693952 bytes do not fit in 64 bits: lower batch_size, "
        "batches_per_slot or the number of slots");
}

TEST_CASE("plan: a budget makes slots smaller, then fewer, and is never overdrawn",
          "[loader][host]") {
  const std::size_t batch = plan(60'000, {.batch_size = 64}).batch_bytes;
  for (const std::size_t budget : {2 * batch, 2 * batch + 1, 3 * batch, 5 * batch, 40 * batch,
                                   std::size_t{32} << 20, std::size_t{1} << 40}) {
    CAPTURE(budget);
    const loader_plan staged = plan(60'000, {.batch_size = 64, .memory = {.pinned = budget}});
    CHECK(staged.staging_bytes <= budget);
    CHECK(staged.staging_slots >= 2);
    const loader_plan on_device = plan(60'000, {.batch_size = 64, .memory = {.device = budget}});
    CHECK(on_device.device_bytes <= budget);
    CHECK(on_device.device_slots >= 2);
  }
}

TEST_CASE("plan: under a budget four slots are kept as long as each can hold a batch",
          "[loader][host]") {
  const std::size_t batch = plan(60'000, {.batch_size = 64}).batch_bytes;
  const auto within = [&](std::size_t batches) {
    const auto planned = plan(60'000, {.batch_size = 64, .memory = {.pinned = batches * batch}});
    return std::pair{planned.staging_slots, planned.batches_per_slot};
  };
  CHECK(within(41) == std::pair{std::size_t{4}, std::uint64_t{10}});
  CHECK(within(4) == std::pair{std::size_t{4}, std::uint64_t{1}});
}

TEST_CASE("plan: a staging budget of less than four batches makes pieces smaller, to a sample",
          "[loader][host]") {
  const std::size_t batch = plan(60'000, {.batch_size = 64}).batch_bytes;
  const auto within = [&](std::size_t budget) {
    const auto planned = plan(60'000, {.batch_size = 64, .memory = {.pinned = budget}});
    CHECK(planned.staging_bytes <= budget);
    return std::pair{planned.staging_slots, planned.piece_samples};
  };
  CHECK(within(3 * batch) == std::pair{std::size_t{4}, std::uint64_t{32}});
  CHECK(within(batch) == std::pair{std::size_t{3}, std::uint64_t{16}});
  CHECK(within(4 * 1024) == std::pair{std::size_t{3}, std::uint64_t{1}});
}

TEST_CASE("plan: a budget too small is refused with the bytes that are needed", "[loader][host]") {
  // Two slots of one sample of 1,280 bytes.
  CHECK(refusal(60'000, {.batch_size = 64, .memory = {.pinned = 2'559}}) ==
        "memory.pinned is 2559 bytes, but 2 slots of 1280 bytes need 2560: raise it");
  CHECK(refusal(60'000,
                {.batch_size = 64, .memory = {.pinned = 2'560}, .expert = {.staging_slots = 3}}) ==
        "memory.pinned is 2560 bytes, but 3 slots of 1280 bytes need 3840: raise it, or lower "
        "the number of slots");
  CHECK_NOTHROW(plan(60'000, {.batch_size = 64, .memory = {.pinned = 2'560}}));
  CHECK(refusal(60'000, {.batch_size = 64,
                         .memory = {.device = 1'000'000},
                         .expert = {.batches_per_slot = 10, .device_slots = 3}}) ==
        "memory.device is 1000000 bytes, but 3 slots of 506880 bytes need "
        "1520640: raise it, or lower batch_size, batches_per_slot or the number of slots");
}

TEST_CASE("plan: readers are chosen by the machine, or one where reads take turns",
          "[loader][host]") {
  const int chosen = plan(640, {}).first_readers;
  CHECK(chosen >= 1);
  CHECK(chosen <= 8);
  CHECK(plan(640, {.readers = 0}).readers == 0);
  const test::serialized_dataset serial{make_identity_dataset(640, 8)};
  CHECK(resolve(serial, sequential{}, in_place, {}).report.readers == 1);
  CHECK(resolve(serial, sequential{}, in_place, {.readers = 4}).report.readers == 4);
}
