/// The way back on a real GPU: both edges held open, each proof put to the test by a device that
/// forgets the event it guards, and identity data that goes to the GPU and back at once.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/results/ring.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "device/owned.hpp"
#include "gpu/gate.hpp"
#include "gpu/gpu_stream.hpp"
#include "gpu/held_device.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/forgetful_device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t bytes = std::size_t{1} << 20;
constexpr result_options two_slots{.slot_bytes = bytes, .slots = 2};

/// A ring on a GPU that may forget an edge, a consumer's stream and a buffer that it writes.
struct returning {
  returning(const device_ptr& real, forgotten edge)
      : buffer{real, memory_kind::device, bytes},
        results{std::make_shared<forgetful_device>(real, consumer.ref(), edge), two_slots} {}

  void produce(int value) {
    FEEDLINE_CUDA_CHECK(cudaMemsetAsync(buffer.data(), value, bytes, consumer.get()));
  }
  std::optional<source_lease> push() { return results.push(buffer.data(), bytes, consumer.ref()); }

  gpu_stream consumer{};
  detail::device_memory buffer;
  result_ring results;
};

bool all_are(const std::optional<result>& seen, std::byte value) {
  REQUIRE(seen);
  const auto held = seen->bytes();
  return held.size() == bytes &&
         std::all_of(held.begin(), held.end(), [&](std::byte each) { return each == value; });
}

/// The kernel before the work that makes a result is held until the copy could have run.
bool push_before_the_work(forgotten edge) {
  gpu_gate gate;
  returning back{make_cuda_device(0), edge};
  gate.hold(back.consumer.get());
  back.produce(7);
  (void)back.push();
  std::optional<result> seen;
  if (edge == forgotten::copy_waits_for_consumer) seen = back.results.next();
  CHECK_FALSE(back.results.try_next());
  gate.open();
  if (!seen) seen = back.results.next();
  return all_are(seen, std::byte{7});
}

/// The copy is held until work that overwrites its source could have run.
bool overwrite_during_the_copy(forgotten edge) {
  gpu_gate gate;
  returning back{std::make_shared<held_device>(make_cuda_device(0), gate), edge};
  back.produce(7);
  auto copying = back.push();
  copying.reset();
  back.produce(8);
  if (edge == forgotten::consumer_waits_for_copy) {
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(back.consumer.get()));
  } else {
    CHECK(cudaStreamQuery(back.consumer.get()) == cudaErrorNotReady);
    (void)cudaGetLastError();
  }
  gate.open();
  return all_are(back.results.next(), std::byte{7});
}

/// The copy is held until the CPU could have read its target.
bool take_before_the_copy(forgotten edge) {
  gpu_gate gate;
  returning back{std::make_shared<held_device>(make_cuda_device(0), gate), edge};
  back.produce(7);
  (void)back.push();
  std::optional<std::byte> early;
  if (edge == forgotten::reader_waits_for_copy) {
    const auto seen = back.results.next();
    REQUIRE(seen);
    early = seen->bytes()[0];
  }
  CHECK_FALSE(back.results.try_next());
  gate.open();
  if (early) return *early == std::byte{7};
  return all_are(back.results.next(), std::byte{7});
}

}  // namespace

TEST_CASE("cuda results: a copy does not begin before the work that makes the result is done",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(push_before_the_work(forgotten::nothing));
}

TEST_CASE("cuda results: a source is not overwritten while its copy is held open",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(overwrite_during_the_copy(forgotten::nothing));
}

TEST_CASE("cuda results: a result whose copy is held open is not handed to the CPU",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(take_before_the_copy(forgotten::nothing));
}

TEST_CASE("cuda results mutant: a copy that does not wait for the work is caught",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK_FALSE(push_before_the_work(forgotten::copy_waits_for_consumer));
}

TEST_CASE("cuda results mutant: work that does not wait for the copy of its target is caught",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK_FALSE(overwrite_during_the_copy(forgotten::consumer_waits_for_copy));
}

TEST_CASE("cuda results mutant: a CPU that does not wait for the copy is caught",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK_FALSE(take_before_the_copy(forgotten::reader_waits_for_copy));
}

TEST_CASE("cuda results: while a source is leased, the stream's work runs beside the copy",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  gpu_gate gate;
  returning back{std::make_shared<held_device>(make_cuda_device(0), gate), forgotten::nothing};
  const detail::device_memory other{make_cuda_device(0), memory_kind::device, bytes};
  back.produce(7);
  auto copying = back.push();
  FEEDLINE_CUDA_CHECK(cudaMemsetAsync(other.data(), 9, bytes, back.consumer.get()));
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(back.consumer.get()));  // the copy is held meanwhile
  CHECK_FALSE(back.results.try_next());
  gate.open();
  CHECK(all_are(back.results.next(), std::byte{7}));
}

TEST_CASE(
    "cuda results: batches that go to the GPU come back whole and in order, in both directions at "
    "once",
    "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  constexpr std::uint64_t batch_size = 256;
  constexpr std::uint64_t batches = 200;
  constexpr std::size_t row_bytes = 4096;
  const gpu_stream consumer;
  const auto gpu = make_cuda_device(0);
  const shuffle order{.seed = 11};
  loader loader{make_identity_dataset(batches * batch_size, row_bytes),
                order,
                gpu,
                {.batch_size = batch_size, .expert = {.batches_per_slot = 1, .device_slots = 6}}};
  result_ring results{gpu, {.slot_bytes = batch_size * row_bytes, .slots = 6}};

  std::thread pusher{[&] {
    std::deque<std::pair<batch, std::optional<source_lease>>> under_way;
    for (batch& taken : loader.epoch(0, consumer.ref())) {
      batch mine = std::move(taken);
      const result_tag ids{.batch = mine.index(), .kind = 0};
      const result_tag rows{.batch = mine.index(), .kind = 1};
      const auto id = mine["id"].bytes();
      const auto row = mine["row"].bytes();
      (void)results.push(id.data(), id.size(), consumer.ref(), ids);
      auto copying = results.push(row.data(), row.size(), consumer.ref(), rows);
      if (!copying) break;
      under_way.emplace_back(std::move(mine), std::move(copying));
      // A batch ends after the lease on it: its slot is then filled again after the copy.
      if (under_way.size() > 2) {
        under_way.front().second.reset();
        under_way.pop_front();
      }
    }
    while (!under_way.empty()) {
      under_way.front().second.reset();
      under_way.pop_front();
    }
    results.finish();
  }};

  bool in_order = true;
  bool intact = true;
  std::uint64_t expected = 0;
  while (const auto ids = results.next()) {
    const auto rows = results.next();
    if (!rows) {
      results.stop();  // or the pusher would wait for room
      break;
    }
    in_order = in_order && ids->tag().kind == 0 && ids->tag().batch == expected &&
               rows->tag().kind == 1 && rows->tag().batch == expected &&
               rows->number() == 2 * expected + 1;
    const auto id = ids->values<std::uint64_t>();
    for (std::size_t i = 0; i < id.size(); ++i)
      intact = intact && is_identity(id[i], ids->bytes().subspan(i * sizeof id[i], sizeof id[i]),
                                     rows->bytes().subspan(i * row_bytes, row_bytes));
    ++expected;
  }
  pusher.join();
  CHECK(expected == batches);
  CHECK(in_order);
  CHECK(intact);
}

TEST_CASE("cuda results: a capture is left alone by a push and by the end of a lease",
          "[results][gpu]") {
  FEEDLINE_NEEDS_GPU();
  returning back{make_cuda_device(0), forgotten::nothing};
  back.produce(1);
  auto copying = back.push();
  FEEDLINE_CUDA_CHECK(cudaStreamBeginCapture(back.consumer.get(), cudaStreamCaptureModeGlobal));
  back.produce(2);
  CHECK_THROWS_AS(back.push(), usage_error);
  copying.reset();
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(back.consumer.get(), &graph) == cudaSuccess);
  (void)cudaGetLastError();
  REQUIRE(graph != nullptr);
  std::size_t nodes = 0;
  FEEDLINE_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 1);
  FEEDLINE_CUDA_CHECK(cudaGraphDestroy(graph));
  CHECK(all_are(back.results.next(), std::byte{1}));
  back.produce(3);
  (void)back.push();
  CHECK(all_are(back.results.next(), std::byte{3}));
}
