/// Whole loaders on a real GPU: the same batches as the host's, on every kind of stream.

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/device_contract.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 5003;

std::vector<seen_batch> on_host() {
  loader loader{make_identity_dataset(sample_count, 300),
                shuffle{.seed = 9},
                make_host_device(),
                {.batch_size = 48, .readers = 0}};
  recorder record;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    for (batch& batch : loader.epoch(epoch)) record(batch);
  }
  return record.seen();
}

std::vector<seen_batch> on_gpu(cudaStream_t stream, const loader_options& options,
                               int ordinal = 0) {
  loader loader{make_identity_dataset(sample_count, 300), shuffle{.seed = 9},
                make_cuda_device(ordinal), options};
  gpu_recorder record{stream};
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    for (batch& batch : loader.epoch(epoch, stream_ref{stream})) record(batch);
  }
  return record.seen();
}

std::vector<std::byte> read_gpu(const void* memory, std::size_t bytes) {
  std::vector<std::byte> host(bytes);
  FEEDLINE_CUDA_CHECK(cudaMemcpy(host.data(), memory, bytes, cudaMemcpyDeviceToHost));
  return host;
}

}  // namespace

TEST_CASE("device contract: the CUDA device", "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  check_device_contract({make_cuda_device(0), stream.ref(), read_gpu});
}

TEST_CASE("cuda: any readers, slots and depths deliver the host's batches", "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  const int readers = GENERATE(0, 1, 8);
  const std::uint64_t batches_per_slot = GENERATE(0, 1, 5);
  const std::size_t slots = GENERATE(2, 4);
  CAPTURE(readers, batches_per_slot, slots);
  CHECK(on_gpu(stream.get(), {.batch_size = 48,
                              .epochs = 2,
                              .readers = readers,
                              .expert = {.batches_per_slot = batches_per_slot,
                                         .staging_slots = slots,
                                         .device_slots = slots}}) == on_host());
}

TEST_CASE("cuda: batches that come in pieces are the host's, wherever rows are", "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  const int readers = GENERATE(0, 1, 8);
  const std::size_t piece_samples = GENERATE(1, 7, 47);
  const placement where = GENERATE(placement::stream, placement::resident, placement::cached);
  CAPTURE(readers, piece_samples, to_string(where));
  CHECK(on_gpu(stream.get(), {.batch_size = 48,
                              .readers = readers,
                              .placement = where,
                              .memory = {.cache = where == placement::cached ? 2'000U * 308 : 0},
                              .expert = {.piece_bytes = piece_samples * 308}}) == on_host());
}

TEST_CASE("cuda: the legacy and the per-thread default stream serve as consumer's streams",
          "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(on_gpu(cudaStreamLegacy, {.batch_size = 48, .readers = 3}) == on_host());
  CHECK(on_gpu(cudaStreamPerThread, {.batch_size = 48, .readers = 3}) == on_host());
}

TEST_CASE("cuda: each epoch may have a stream of its own", "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream first;
  const gpu_stream second;
  gpu_recorder record_first{first.get()};
  gpu_recorder record_second{second.get()};
  loader loader{make_identity_dataset(sample_count, 300),
                shuffle{.seed = 9},
                make_cuda_device(0),
                {.batch_size = 48, .epochs = 2, .readers = 4, .expert = {.batches_per_slot = 1}}};
  for (batch& batch : loader.epoch(0, first.ref())) record_first(batch);
  for (batch& batch : loader.epoch(1, second.ref())) record_second(batch);
  auto seen = record_first.seen();
  const auto rest = record_second.seen();
  seen.insert(seen.end(), rest.begin(), rest.end());
  CHECK(seen == on_host());
}

TEST_CASE("cuda: a batch outlives its loader", "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  gpu_recorder record{stream.get()};
  std::optional<batch> cached;
  {
    loader loader{make_identity_dataset(sample_count, 300),
                  shuffle{.seed = 9},
                  make_cuda_device(0),
                  {.batch_size = 48, .readers = 4}};
    auto range = loader.epoch(0, stream.ref());
    for (int i = 0; i < 5; ++i) cached = range.next();
  }
  REQUIRE(cached);
  record(*cached);
  cached.reset();
  const auto seen = record.seen();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0] == on_host()[4]);
}

TEST_CASE(
    "cuda: a read that fails is a stage_error after the good batches, and the GPU stays usable",
    "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  gpu_recorder record{stream.get()};
  const auto data =
      gated(make_identity_dataset(sample_count, 300), [](std::span<const sample_index> samples) {
        for (const auto sample : samples) {
          if (sample.value == 4000) throw std::runtime_error{"told to fail"};
        }
      });
  {
    loader loader{data,
                  sequential{},
                  make_cuda_device(0),
                  {.batch_size = 40, .readers = 4, .expert = {.batches_per_slot = 3}}};
    auto range = loader.epoch(0, stream.ref());
    const auto consume = [&] {
      while (auto batch = range.next()) record(*batch);
    };
    CHECK_THROWS_AS(consume(), stage_error);
  }
  CHECK(record.seen().size() == 100);
  CHECK(all_intact(record.seen()));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE(
    "cuda: a stream is asked for, and a GPU that is not there is named with how many there are",
    "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  loader loader{
      make_identity_dataset(100, 8), sequential{}, make_cuda_device(0), {.batch_size = 10}};
  CHECK_THROWS_AS((void)loader.epoch(0), usage_error);
  CHECK_THROWS_AS((void)make_cuda_device(cuda_device_count()), usage_error);
  CHECK_THROWS_AS((void)make_cuda_device(-1), usage_error);
}

TEST_CASE("cuda: a GPU that is not the current one serves, and the current one stays",
          "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const int last = cuda_device_count() - 1;
  if (last == 0) FEEDLINE_SKIP("one GPU only");
  const gpu_stream here;
  FEEDLINE_CUDA_CHECK(cudaSetDevice(last));
  const gpu_stream there;
  FEEDLINE_CUDA_CHECK(cudaSetDevice(0));
  CHECK(on_gpu(there.get(), {.batch_size = 48, .epochs = 2, .readers = 4}, last) == on_host());
  int current = -1;
  FEEDLINE_CUDA_CHECK(cudaGetDevice(&current));
  CHECK(current == 0);
  CHECK_THROWS_AS(make_cuda_device(last)->check(here.ref()), usage_error);
}

TEST_CASE("cuda: memory that no GPU has is out_of_memory, and the next loader works",
          "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto device = make_cuda_device(0);
  CHECK_THROWS_AS((void)device->allocate(memory_kind::device, std::size_t{1} << 50), out_of_memory);
  CHECK(cudaGetLastError() == cudaSuccess);
  const gpu_stream stream;
  CHECK(on_gpu(stream.get(), {.batch_size = 48, .readers = 2}) == on_host());
}

TEST_CASE("cuda: with no GPU there is none to make, and the message says so", "[device][host]") {
  if (cuda_device_count() != 0) FEEDLINE_SKIP("there is a GPU");
  std::string message;
  try {
    (void)make_cuda_device(0);
  } catch (const usage_error& failure) {
    message = failure.what();
  }
  CHECK(message.find("can use 0") != std::string::npos);
}
