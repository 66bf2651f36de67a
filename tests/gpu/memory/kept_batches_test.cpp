/// Batches that are kept on a GPU: they get memory of their own, which is freed after the work of a
/// slow consumer.

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/statistics/statistics.hpp>

#include "gpu/checksums.hpp"
#include "gpu/gate.hpp"
#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batches = 24;
constexpr std::uint64_t batch_size = 64;
constexpr std::size_t row_bytes = 16384;

loader_options keeping(int readers, placement where, std::uint64_t batches_per_slot) {
  return {.batch_size = batch_size,
          .readers = readers,
          .placement = where,
          .expert = {.batches_per_slot = batches_per_slot,
                     .staging_slots = 2,
                     .device_slots = 2,
                     .on_held = on_held::allocate,
                     .held_warning = [](const std::string&) {}}};
}

std::vector<batch> all_of(epoch_range range) {
  std::vector<batch> kept;
  while (auto taken = range.next()) kept.push_back(std::move(*taken));
  return kept;
}

}  // namespace

TEST_CASE("kept batches on the GPU: a kernel finds the bytes of each, however late it runs",
          "[cuda]") {
  FEEDLINE_NEEDS_GPU();
  const int readers = GENERATE(0, 2);
  const placement where = GENERATE(placement::stream, placement::gather, placement::resident);
  const std::uint64_t batches_per_slot = GENERATE(1U, 3U);
  CAPTURE(readers, to_string(where), batches_per_slot);
  const gpu_stream stream;
  checksum_recorder looks{batches * batch_size, row_bytes};
  gpu_recorder record{stream.get()};
  loader loader{make_identity_rows(batches * batch_size, row_bytes), sequential{},
                make_cuda_device(0), keeping(readers, where, batches_per_slot)};
  const std::size_t batch_bytes = loader.plan().batch_bytes;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<batch> kept = all_of(loader.epoch(epoch, stream.ref()));
    REQUIRE(kept.size() == batches);
    const held_statistics held = loader.statistics().held;
    CHECK(held.slots > 0);
    CHECK(held.bytes >= held.slots * batch_bytes);
    gpu_gate gate;
    gate.hold(stream.get());
    for (const batch& each : kept) {
      looks(each, batch_size, stream.get());
      record(each);
    }
    kept.clear();  // their work has not begun
    CHECK(loader.statistics().held.bytes == held.bytes);
    gate.open();
    CHECK(looks.wrong().empty());
  }
  const auto seen = record.seen();
  CHECK(seen.size() == 3 * batches);
  CHECK(all_intact(seen));
  auto range = loader.epoch(3, stream.ref());
  REQUIRE(range.next());
  CHECK(loader.statistics().held.bytes == 0);
}

TEST_CASE("kept batches on the GPU: letting go of them waits for no other work on the GPU",
          "[cuda]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  const gpu_stream other;
  loader loader{make_identity_rows(batches * batch_size, row_bytes), sequential{},
                make_cuda_device(0), keeping(2, placement::stream, 1)};
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<batch> kept = all_of(loader.epoch(epoch, stream.ref()));
    REQUIRE(loader.statistics().held.slots > 0);
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    gpu_gate gate;
    gate.hold(other.get());
    std::promise<void> ended;
    std::atomic<bool> waited{false};
    std::thread watchdog{[&, has_ended = ended.get_future()] {
      if (has_ended.wait_for(std::chrono::seconds{20}) == std::future_status::ready) return;
      waited = true;
      gate.open();
    }};
    kept.clear();
    // Beside other processes an event is seen late, even after its stream was waited for: memory is
    // given back when one of the next batches is taken.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    do {
      auto range = loader.epoch(epoch, stream.ref());
      (void)range.next();
    } while (loader.statistics().held.bytes != 0 && std::chrono::steady_clock::now() < until);
    ended.set_value();
    watchdog.join();
    CHECK_FALSE(waited);
    CHECK(cudaStreamQuery(other.get()) == cudaErrorNotReady);  // the gate is still closed
    CHECK(loader.statistics().held.bytes == 0);
  }
}

TEST_CASE("kept batches on the GPU: by default they may take a quarter of what is free", "[cuda]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  const auto device = make_cuda_device(0);
  std::size_t left = 0;
  std::size_t all = 0;
  FEEDLINE_CUDA_CHECK(cudaMemGetInfo(&left, &all));
  CHECK(device->free_bytes(memory_kind::device).value() <= all);
  CHECK(device->free_bytes(memory_kind::device).value() > left / 2);
  CHECK(device->free_bytes(memory_kind::staging).value_or(1) > 0);
  std::string told;
  loader_options options = keeping(2, placement::stream, 1);
  options.expert.held_warning = [&](const std::string& text) { told = text; };
  loader loader{make_identity_rows(batches * batch_size, row_bytes), sequential{}, device, options};
  const std::vector<batch> kept = all_of(loader.epoch(0, stream.ref()));
  CHECK(told.find("expert.max_held_bytes (by default a quarter of what is free)") !=
        std::string::npos);
  CHECK(kept.size() == batches);
}
