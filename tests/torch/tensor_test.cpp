#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"
#include "torch/support.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using libtorch::batch_tensors;

namespace {

constexpr std::uint64_t batch_size = 8;
constexpr std::size_t row_bytes = 40;

/// Two staging slots of one batch each, which the host reads in place.
loader_options two_slots(int readers = no_readers) {
  return {.batch_size = batch_size,
          .readers = readers,
          .expert = {.batches_per_slot = 1, .staging_slots = 2}};
}

loader make_loader(std::uint64_t batches, int readers = no_readers) {
  return {make_identity_dataset(batches * batch_size, row_bytes), sequential{}, make_host_device(),
          two_slots(readers)};
}

/// Whether tensors hold the samples of one batch.
bool is_batch(std::uint64_t index, const torch::Tensor& ids, const torch::Tensor& rows) {
  const auto* const id = ids.const_data_ptr<std::uint64_t>();
  const auto* const row = static_cast<const std::byte*>(rows.const_data_ptr());
  for (std::size_t i = 0; i < batch_size; ++i) {
    if (!is_identity(index * batch_size + i, std::as_bytes(std::span{id + i, 1}),
                     {row + i * row_bytes, row_bytes}))
      return false;
  }
  return true;
}

/// Whether all slots are held, so that no batch can come. Takes a batch where not.
bool is_full(epoch_range& range) {
  try {
    (void)range.next(std::chrono::steady_clock::now());
    return false;
  } catch (const deadline_error&) {
    return true;
  }
}

/// Makes tensors on a thread of its own, keeps them until the gate is open, and tells whether they
/// held their batch then.
std::future<bool> keep(batch_tensors fields, std::latch& made, std::shared_future<void> gate) {
  return std::async(std::launch::async,
                    [fields = std::optional{std::move(fields)}, &made, gate]() mutable {
                      const std::uint64_t index = fields->batch().index();
                      const torch::Tensor ids = (*fields)["id"];
                      const torch::Tensor rows = (*fields)["row"];
                      fields.reset();
                      made.count_down();
                      gate.wait();
                      return is_batch(index, ids, rows);
                    });
}

}  // namespace

TEST_CASE("torch: a batch's fields are tensors of its memory, for each element type",
          "[batch][host]") {
  for (int value = 0; value <= static_cast<int>(element_type::boolean); ++value) {
    const auto type = static_cast<element_type>(value);
    INFO(to_string(type));
    std::vector<std::byte> bytes(6 * 2 * 3 * size_bytes(type));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = std::byte(type == element_type::boolean ? i % 2 : i);
    const auto data = make_memory_dataset({{{"values", type, {2, 3}}, bytes}});
    loader loader{data, sequential{}, make_host_device(), {.batch_size = 6}};
    auto range = loader.epoch(0);
    auto batch = range.next();
    const void* const memory = (*batch)["values"].bytes().data();
    const batch_tensors fields{std::move(*batch)};
    const torch::Tensor values = fields["values"];
    CHECK(values.const_data_ptr() == memory);
    CHECK(values.device() == torch::kCPU);
    CHECK(values.scalar_type() == libtorch::scalar_type(type));
    CHECK(values.sizes() == c10::IntArrayRef({6, 2, 3}));
    CHECK(values.is_contiguous());
    CHECK(values.nbytes() == bytes.size());
    CHECK(std::memcmp(values.const_data_ptr(), bytes.data(), bytes.size()) == 0);
    CHECK(fields.all().size() == 1);
    CHECK(fields.batch().size() == 6);
  }
}

TEST_CASE("torch: tensors outlive their batch, the epoch and the loader", "[batch][host]") {
  std::vector<torch::Tensor> kept;
  {
    loader loader = make_loader(2);
    for (batch& batch : loader.epoch(0)) {
      const batch_tensors fields{std::move(batch)};
      CHECK(fields.batch().index() * 2 == kept.size());
      for (const torch::Tensor& each : fields.all()) kept.push_back(each);
    }
  }
  REQUIRE(kept.size() == 4);
  CHECK(is_batch(0, kept[0], kept[1]));
  CHECK(is_batch(1, kept[2], kept[3]));
}

TEST_CASE("torch: a slot goes back when the last tensor, view or graph has gone", "[batch][host]") {
  loader loader = make_loader(8);
  auto range = loader.epoch(0);
  std::optional<batch_tensors> first{std::move(*range.next())};
  torch::Tensor ids = (*first)["id"];
  torch::Tensor rows = (*first)["row"];
  const batch_tensors second{std::move(*range.next())};
  CHECK(is_full(range));
  first.reset();
  CHECK(is_full(range));
  ids.reset();
  CHECK(is_full(range));
  torch::Tensor view = rows.slice(1, 3, 5).t();
  rows.reset();
  CHECK(is_full(range));
  torch::Tensor weights = torch::ones({2, batch_size}, torch::requires_grad());
  torch::Tensor sum = (weights * view.to(torch::kUInt8)).sum();  // saves what it was given
  view.reset();
  const auto* const saved = sum.grad_fn().get();
  CHECK(saved != nullptr);
  CHECK(is_full(range));
  sum.backward();
  sum.reset();
  CHECK(!is_full(range));
}

TEST_CASE("torch: tensors are kept and freed by other threads while the loop continues",
          "[batch][host]") {
  const int readers = GENERATE(0, 2);
  loader loader = make_loader(8, readers);
  auto range = loader.epoch(0);
  for (int round = 0; round < 4; ++round) {
    std::latch made{2};
    std::promise<void> first_gate;
    std::promise<void> second_gate;
    auto first = keep(batch_tensors{std::move(*range.next())}, made, first_gate.get_future());
    auto second = keep(batch_tensors{std::move(*range.next())}, made, second_gate.get_future());
    made.wait();
    const bool full =
        round == 3 || is_full(range);  // at the epoch's end there is nothing to wait for
    second_gate.set_value();
    const bool second_right = second.get();
    first_gate.set_value();
    CHECK(full);
    CHECK(first.get());
    CHECK(second_right);
  }
  CHECK(!range.next());
}

TEST_CASE("torch: a slot is not written while a thread keeps a tensor of it", "[batch][host]") {
  loader loader = make_loader(6, 2);
  auto range = loader.epoch(0);
  std::latch made{1};
  std::promise<void> gate;
  auto kept = keep(batch_tensors{std::move(*range.next())}, made, gate.get_future());
  made.wait();
  for (std::uint64_t index = 1; index < 6; ++index) {  // through the other slot alone
    const auto batch = range.next();
    REQUIRE(batch);
    CHECK(batch->index() == index);
  }
  gate.set_value();
  CHECK(kept.get());
}

TEST_CASE("torch: memory is not overwritten before each stream that was named has read it",
          "[batch][host]") {
  const scripted on;
  scripted_device& device = *on.device;
  const stream_ref beside = device.make_stream();
  loader loader{make_identity_dataset(4 * batch_size, row_bytes),
                sequential{},
                on.device,
                {.batch_size = batch_size, .expert = {.batches_per_slot = 1, .device_slots = 2}}};
  auto range = loader.epoch(0, on.stream);
  auto owner = std::make_shared<libtorch::tensor_owner>(std::move(*range.next()));
  const std::size_t handles = device.handles();
  owner->use_on(on.stream);
  CHECK(device.handles() == handles);  // nothing is to be ordered
  owner->use_on(beside);
  const std::size_t used = device.handles();
  owner->use_on(beside);
  CHECK(device.handles() == used);

  device.hold_work();
  bool intact = false;
  const auto* const id = owner->held()["id"].data<std::uint64_t>();
  const auto* const row = owner->held()["row"].bytes().data();
  device.launch(beside, [&] {
    intact = true;
    for (std::uint64_t i = 0; i < batch_size; ++i) {
      intact = intact && is_identity(i, std::as_bytes(std::span{id + i, 1}),
                                     {row + i * row_bytes, row_bytes});
    }
  });
  std::thread{[&] { owner.reset(); }}.join();
  CHECK(range.next().value().index() == 1);
  device.wait_for_issued_copies(3);  // the third is to overwrite what `beside` reads
  CHECK(device.started_copies() == 2);
  device.allow_all_work();
  device.drain(beside);
  CHECK(intact);
  CHECK(range.next().value().index() == 2);
}

TEST_CASE("torch: images that lie channels last are seen as libtorch's convolutions want them",
          "[batch][host]") {
  constexpr std::int64_t height = 4;
  constexpr std::int64_t width = 5;
  std::vector<float> images(6 * height * width * 3);
  std::vector<float> grey(6 * height * width);
  std::vector<float> rows(6 * 7);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < grey.size(); ++i) grey[i] = static_cast<float>(i);
  loader loader{make_memory_dataset({own("image", images, {height, width, 3}),
                                     own("grey", grey, {height, width}), own("row", rows, {7})}),
                sequential{},
                make_host_device(),
                {.batch_size = 6}};
  auto range = loader.epoch(0);
  const batch_tensors fields{std::move(*range.next())};

  const torch::Tensor seen = fields.channels_last("image");
  CHECK(seen.sizes() == c10::IntArrayRef({6, 3, height, width}));
  CHECK(seen.strides() == c10::IntArrayRef({height * width * 3, 1, width * 3, 3}));
  CHECK(seen.is_contiguous(torch::MemoryFormat::ChannelsLast));
  CHECK(seen.const_data_ptr() == fields["image"].const_data_ptr());
  CHECK(seen[2][1][3][4].item<float>() == images[((2 * height + 3) * width + 4) * 3 + 1]);

  const torch::Tensor one = fields.channels_last("grey");
  CHECK(one.sizes() == c10::IntArrayRef({6, 1, height, width}));
  CHECK(one.is_contiguous(torch::MemoryFormat::ChannelsLast));
  CHECK(one[5][0][3][4].item<float>() == grey.back());

  CHECK(message_of<usage_error>([&] { (void)fields.channels_last("row"); }) ==
        "field 'row' has 1 dimensions a sample: images have height, width and channels, or two");
}

TEST_CASE(
    "torch: a field or type that the batch or libtorch lacks is refused, and the batch is unharmed",
    "[batch][host]") {
  loader loader = make_loader(2);
  auto range = loader.epoch(0);
  auto first = range.next();
  const batch_tensors fields{std::move(*first)};
  CHECK(message_of<usage_error>([&] { (void)fields["image"]; }) ==
        "a batch has no field 'image': it has id, row");
  CHECK_THROWS_AS(batch_tensors{std::move(*first)}, usage_error);  // moved from

  const std::string seen = std::to_string(torch::cuda::device_count());
  CHECK(message_of<usage_error>([] {
          (void)libtorch::torch_device({device_kind::cuda, 99});
        }) == "a batch lies on cuda:99, and libtorch sees " + seen +
                  " GPUs: use a libtorch with CUDA, or take batches on the host device");
  CHECK(message_of<usage_error>([] {
          (void)libtorch::torch_device({device_kind::other, 0});
        }) == "a batch is on a device for which libtorch has no device type");

  const scripted on;  // says that it is a GPU
  feedline::loader elsewhere{
      make_identity_dataset(8, row_bytes), sequential{}, on.device, {.batch_size = 8}};
  auto there = elsewhere.epoch(0, on.stream);
  auto batch = there.next();
  if (torch::cuda::device_count() > batch->device().ordinal) return;
  CHECK_THROWS_AS(batch_tensors{std::move(*batch)}, usage_error);
  CHECK(batch->size() == 8);
}

TEST_CASE("torch: on the host there are no streams, and nothing is ordered", "[batch][host]") {
  const c10::Stream stream{c10::Stream::DEFAULT, torch::kCPU};
  CHECK(!libtorch::stream_of(stream));
  CHECK(!libtorch::current_stream(torch::kCPU));
  loader loader = make_loader(1);
  auto range = loader.epoch(0, libtorch::current_stream(torch::kCPU));
  const batch_tensors fields{std::move(*range.next())};
  CHECK_NOTHROW(libtorch::record_stream(fields["row"].slice(1, 2), stream));
  for (const torch::Tensor& none : {torch::Tensor{}, torch::ones({2})}) {
    CHECK(message_of<usage_error>([&] { libtorch::record_stream(none, stream); }) ==
          "record_stream of feedline's was given a tensor that lies in no batch: call "
          "tensor.record_stream(stream) for a tensor of libtorch's own");
  }
}
