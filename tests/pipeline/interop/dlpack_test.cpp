/// Batches of a loader as DLPack tensors: on the host, and on a device that says it is a GPU.

#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/interop/dlpack.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "interop/dlpack_abi.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace abi = feedline::detail::dlpack;

static_assert(!std::is_copy_constructible_v<dlpack_tensor>);  // so no deleter is called twice

namespace {

const abi::versioned_tensor& inside(const dlpack_tensor& tensor) {
  return *reinterpret_cast<const abi::versioned_tensor*>(tensor.get());
}
const abi::managed_tensor& inside(const unversioned_dlpack_tensor& tensor) {
  return *reinterpret_cast<const abi::managed_tensor*>(tensor.get());
}

std::vector<std::int64_t> numbers(const std::int64_t* first, std::int32_t count) {
  return {first, first + count};
}

loader_options two_slots() {
  return {.batch_size = 8,
          .readers = 1,
          .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
}

std::shared_ptr<const batch> shared(optional_batch taken) {
  REQUIRE(taken);
  return std::make_shared<const batch>(std::move(*taken));
}

/// Looks at identity data that two tensors hold, in the order of a stream.
void look(recorder& record, const batch& batch, const dlpack_tensor& id, const dlpack_tensor& row) {
  CHECK(inside(id).tensor.data == batch["id"].bytes().data());
  CHECK(inside(row).tensor.data == batch["row"].bytes().data());
  record(batch);
}

}  // namespace

TEST_CASE("dlpack: a tensor describes its field: shape, strides, type, device, version",
          "[interop][host]") {
  loader loader{make_identity_dataset(20, 16), sequential{}, make_host_device(), two_slots()};
  auto range = loader.epoch(0);
  auto batch = shared(range.next());
  const auto row = to_dlpack(batch, "row");
  const abi::versioned_tensor& seen = inside(row);
  CHECK(seen.version.major == 1);
  CHECK(seen.version.minor == 0);
  CHECK(seen.flags == 0);  // written by whoever holds it, and no copy
  CHECK(seen.tensor.data == (*batch)["row"].bytes().data());
  CHECK(seen.tensor.byte_offset == 0);
  CHECK(numbers(seen.tensor.shape, seen.tensor.ndim) == std::vector<std::int64_t>{8, 16});
  CHECK(numbers(seen.tensor.strides, seen.tensor.ndim) == std::vector<std::int64_t>{16, 1});
  CHECK(seen.tensor.device.type == 1);
  CHECK(seen.tensor.device.id == 0);

  const auto id = to_unversioned_dlpack(batch, "id");
  const abi::tensor& scalars = inside(id).tensor;
  CHECK(numbers(scalars.shape, scalars.ndim) == std::vector<std::int64_t>{8});
  CHECK(numbers(scalars.strides, scalars.ndim) == std::vector<std::int64_t>{1});
  CHECK(scalars.dtype.code == abi::unsigned_int);
  CHECK(scalars.dtype.bits == 64);
  CHECK(scalars.dtype.lanes == 1);
}

TEST_CASE("dlpack: a tensor holds its batch, beyond the epoch and the loader", "[interop][host]") {
  const scripted on;
  std::optional<dlpack_tensor> kept;
  std::vector<std::uint64_t> ids(8);
  {
    loader loader{make_identity_dataset(80, 16), sequential{}, on.device, two_slots()};
    auto range = loader.epoch(0, on.stream);
    kept = to_dlpack(shared(range.next()), "id");
    int left = 0;
    while (range.next()) ++left;
    CHECK(left == 9);
  }
  on.device->drain(on.stream);
  const auto* const data = static_cast<const std::uint64_t*>(inside(*kept).tensor.data);
  for (std::uint64_t i = 0; i < 8; ++i) CHECK(data[i] == i);
  CHECK(on.device->allocated_bytes(memory_kind::device) != 0);
  kept.reset();
  CHECK(on.device->allocated_bytes(memory_kind::device) == 0);
  CHECK(on.device->freed_in_use() == 0);
}

TEST_CASE("dlpack: the slot is free once the last tensor is, whatever thread frees it",
          "[interop][host]") {
  const scripted on;
  const stream_ref further = on.device->make_stream();
  recorder record{scripted{on.device, further}};
  loader loader{make_identity_dataset(80, 16), sequential{}, on.device, two_slots()};
  auto range = loader.epoch(0, on.stream);
  while (auto taken = range.next()) {
    auto batch = shared(std::move(taken));
    auto id = to_dlpack(batch, "id", further);
    auto row = to_dlpack(batch, "row", further);
    look(record, *batch, id, row);
    batch.reset();
    id.reset();
    std::thread{[freed = std::move(row)]() mutable { freed.reset(); }}.join();
  }
  const auto seen = record.seen();
  CHECK(seen.size() == 10);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("dlpack: a slot with a live tensor is filled again only after a slow consumer is done",
          "[interop][host]") {
  const scripted on;
  const stream_ref further = on.device->make_stream();
  recorder record{scripted{on.device, further}};
  loader loader{make_identity_dataset(80, 16), sequential{}, on.device, two_slots()};
  auto range = loader.epoch(0, on.stream);
  auto batch = shared(range.next());
  auto row = to_dlpack(batch, "row", further);
  on.device->hold_work();
  record(*batch);  // issued on the further stream, and held
  batch.reset();
  REQUIRE(range.next());  // in the other slot, which is filled again
  on.device->wait_for_issued_copies(3);
  row.reset();
  on.device->wait_for_issued_copies(4);
  on.device->allow_all_work();
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("dlpack: handed on, a tensor is freed by its own deleter, once", "[interop][host]") {
  loader loader{make_identity_dataset(20, 16), sequential{}, make_host_device(), two_slots()};
  auto range = loader.epoch(0);
  auto batch = shared(range.next());
  auto tensor = to_dlpack(batch, "row");
  CHECK(batch.use_count() == 2);
  auto* const handed = reinterpret_cast<abi::versioned_tensor*>(tensor.release());
  tensor.reset();
  CHECK(batch.use_count() == 2);
  handed->deleter(handed);
  CHECK(batch.use_count() == 1);
}

TEST_CASE("dlpack: a field that cannot be exported is refused, and the batch is not held",
          "[interop][host]") {
  const scripted on;
  loader loader{make_identity_dataset(20, 16), sequential{}, on.device, two_slots()};
  auto range = loader.epoch(0, on.stream);
  const auto batch = shared(range.next());
  CHECK(message_of<usage_error>([&] { (void)to_dlpack(batch, "label"); }) ==
        "a batch has no field 'label': it has id, row");
  CHECK(message_of<usage_error>([&] { (void)to_dlpack(nullptr, "row"); }) ==
        "a DLPack tensor was asked for, but the batch is empty");
  CHECK(message_of<usage_error>([&] { (void)to_dlpack(batch, "row", stream_ref{}); }) ==
        "the scripted device needs a stream");
  CHECK(batch.use_count() == 1);
}

TEST_CASE("dlpack: a batch tells its device, and the meaning of Python's streams there",
          "[interop][host]") {
  const auto handle = [](std::uintptr_t value) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return stream_ref::from_raw(reinterpret_cast<void*>(value));
  };
  const scripted on;
  loader loader{make_identity_dataset(20, 16), sequential{}, on.device, two_slots()};
  auto range = loader.epoch(0, on.stream);
  const auto gpus = range.next();
  REQUIRE(gpus);
  CHECK(dlpack_device_of(*gpus) == dlpack_device{2, 7});
  CHECK(dlpack_stream(*gpus, std::nullopt) == handle(1));
  CHECK(dlpack_stream(*gpus, 1) == handle(1));
  CHECK(dlpack_stream(*gpus, 2) == handle(2));
  CHECK(dlpack_stream(*gpus, 4096) == handle(4096));
  CHECK(dlpack_stream(*gpus, -1) == std::nullopt);
  CHECK(message_of<usage_error>([&] { (void)dlpack_stream(*gpus, 0); }) ==
        "__dlpack__ was asked for stream 0, which may mean two streams: pass 1 for the legacy "
        "default stream, 2 for the thread's own, -1 for no order, or the address of a "
        "cudaStream_t");
  CHECK(message_of<usage_error>([&] {
          (void)dlpack_stream(*gpus, -2);
        }).starts_with("__dlpack__ was asked for stream -2, which is not a stream: pass 1"));

  feedline::loader at_home{make_identity_dataset(20, 16), sequential{}, make_host_device(),
                           two_slots()};
  auto home = at_home.epoch(0);
  const auto hosts = home.next();
  REQUIRE(hosts);
  CHECK(dlpack_device_of(*hosts) == dlpack_device{1, 0});
  CHECK(dlpack_stream(*hosts, std::nullopt) == std::nullopt);
  CHECK(dlpack_stream(*hosts, -1) == std::nullopt);
  CHECK(message_of<usage_error>([&] { (void)dlpack_stream(*hosts, 1); }) ==
        "a batch in host memory has no streams, but __dlpack__ was asked for stream 1: pass "
        "stream=None");
}
