/// A loader leaves the user's errors, the user's threads and other GPUs alone, and its end does not
/// wait for the user.

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/cuda/half.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "device/deferred_free.hpp"
#include "device/owned.hpp"
#include "gpu/gate.hpp"
#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "gpu/held_device.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/wrapped_device.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batch_size = 64;
constexpr std::size_t row_bytes = 4096;

/// Counts the blocks of memory that are allocated now, and the copies issued.
class tidy_device final : public wrapped_device {
 public:
  using wrapped_device::wrapped_device;

  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    void* const memory = wrapped_device::allocate(kind, bytes);
    ++blocks_;
    return memory;
  }
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    wrapped_device::free(kind, memory, bytes);
    if (memory != nullptr) --blocks_;
  }
  [[nodiscard]] int blocks() const noexcept { return blocks_; }

 private:
  std::atomic<int> blocks_{0};
};

/// Lets a call fail; its error is pending then, as after a kernel that could not be launched.
void leave_an_error() {
  CHECK(cudaSetDevice(4711) == cudaErrorInvalidDevice);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
}

/// Exit status of a program that lets a loader deliver from a GPU in a process of its own.
int run_in_new_process(int ordinal, int readers) {
  const std::string command = std::string{FEEDLINE_CUDA_CONTEXT_PROGRAM} + ' ' +
                              std::to_string(ordinal) + ' ' + std::to_string(readers);
  return std::system(command.c_str());
}

/// How often this process's threads but the calling one have gone to sleep so far.
std::uint64_t sleeps_of_other_threads() {
  std::uint64_t sleeps = 0;
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
    if (thread.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status{thread.path() / "status"};
    for (std::string word; status >> word;) {
      std::uint64_t count = 0;
      if (word == "voluntary_ctxt_switches:" && status >> count) sleeps += count;
    }
  }
  return sleeps;
}

}  // namespace

TEST_CASE("cuda: events that are done wake no thread of the driver's", "[device][gpu][threads]") {
  FEEDLINE_NEEDS_GPU();
  constexpr int records = 2000;
  const gpu_stream stream;
  const device_ptr device = make_cuda_device(0);
  for (const bool timed : {false, true}) {
    CAPTURE(timed);
    const detail::event event =
        timed ? detail::event{device, detail::with_time} : detail::event{device};
    const std::uint64_t before = sleeps_of_other_threads();
    for (int i = 0; i < records; ++i) {
      device->record(event.get(), stream.ref());
      while (!device->is_done(event.get())) {
      }
    }
    CHECK(sleeps_of_other_threads() - before < records / 4);
  }
}

TEST_CASE("cuda: streams have the least priority, or the greatest", "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const device_ptr device = make_cuda_device(0);
  const detail::stream usual{device};
  const detail::stream urgent{device, detail::high_priority};
  const auto priority_of = [](stream_ref stream) {
    int priority = 1;
    REQUIRE(cudaStreamGetPriority(static_cast<cudaStream_t>(stream.get()), &priority) ==
            cudaSuccess);
    return priority;
  };
  int least = 0;
  int greatest = 0;
  REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(greatest < least);
  CHECK(priority_of(usual.get()) == least);
  CHECK(priority_of(urgent.get()) == greatest);
}

TEST_CASE("cuda: an error that the user's own call left is still there after an epoch",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const bool transformed = GENERATE(false, true);
  CAPTURE(transformed);
  const gpu_stream consumer;
  loader_options options{.batch_size = batch_size, .readers = 0, .expert = {.batches_per_slot = 1}};
  if (transformed) options.transforms = {{.field = "row"}};
  loader loader{make_identity_dataset(16 * batch_size, row_bytes), sequential{},
                make_cuda_device(0), options};
  leave_an_error();
  std::uint64_t batches = 0;
  for ([[maybe_unused]] batch& batch : loader.epoch(0, consumer.ref())) ++batches;
  CHECK(batches == 16);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("cuda: asking after an event that is not done leaves errors as they are",
          "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  gpu_gate gate;
  const device_ptr device = make_cuda_device(0);
  const detail::event event{device};
  gate.hold(stream.get());
  device->record(event.get(), stream.ref());
  CHECK_FALSE(device->is_done(event.get()));
  CHECK(cudaGetLastError() == cudaSuccess);
  leave_an_error();
  CHECK_FALSE(device->is_done(event.get()));
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  gate.open();
  device->sync(event.get());
  CHECK(device->is_done(event.get()));
}

TEST_CASE("cuda: a loader can be destroyed while a kernel of the consumer's waits for this thread",
          "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const bool transformed = GENERATE(false, true);
  CAPTURE(transformed);
  const gpu_stream consumer;
  gpu_gate gate;
  const auto tidy = std::make_shared<tidy_device>(make_cuda_device(0));
  const auto counted = std::make_shared<counted_device>(tidy);
  loader_options options{.batch_size = batch_size,
                         .readers = 2,
                         .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
  if (transformed) options.transforms = {{.field = "row"}};
  std::optional<loader> destroyed{std::in_place, make_identity_dataset(8 * batch_size, row_bytes),
                                  sequential{}, counted, options};
  {
    auto range = destroyed->epoch(0, consumer.ref());
    for (int i = 0; i < 2; ++i) {
      const auto batch = range.next();
      REQUIRE(batch);
      if (i == 0) gate.hold(consumer.get());
    }
    counted->wait_for_copies(4);  // two of them wait for the kernel, or their assemblies do
  }
  destroyed.reset();
  CHECK(cudaStreamQuery(consumer.get()) == cudaErrorNotReady);
  (void)cudaGetLastError();
  CHECK(tidy->blocks() != 0);
  gate.open();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  detail::poll_until([&] {
    detail::free_deferred();
    return tidy->blocks() == 0 || std::chrono::steady_clock::now() >= until;
  });
  CHECK(tidy->blocks() == 0);
}

TEST_CASE("cuda: halves are given as CUDA's types, labels as they were cast, and may be written",
          "[batch][gpu]") {
  static_assert(element_type_of<__half>() == element_type::f16);
  static_assert(element_type_of<__nv_bfloat16>() == element_type::bf16);
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  loader loader{make_identity_dataset(batch_size, row_bytes),
                sequential{},
                make_cuda_device(0),
                {.batch_size = batch_size,
                 .transforms = {{.field = "row", .to = element_type::f16},
                                {.field = "id", .to = element_type::i32}}}};
  auto range = loader.epoch(0, consumer.ref());
  const auto batch = range.next();
  REQUIRE(batch);
  std::int32_t last = 0;
  const auto* const ids = (*batch)["id"].data<std::int32_t>();
  FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(&last, ids + batch_size - 1, sizeof last,
                                      cudaMemcpyDeviceToHost, consumer.get()));
  FEEDLINE_CUDA_CHECK(cudaMemsetAsync((*batch)["row"].mutable_data<__half>(), 0,
                                      (*batch)["row"].mutable_bytes().size(), consumer.get()));
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(consumer.get()));
  CHECK(last == batch_size - 1);
}

TEST_CASE("cuda: the error for a null stream names the legacy default stream", "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const cudaStream_t stream_of_libtorch = nullptr;
  const auto message =
      message_of<usage_error>([&] { make_cuda_device(0)->check(stream_ref{stream_of_libtorch}); });
  CHECK(message.find("feedline::stream_ref{cudaStreamLegacy}") != std::string::npos);
  CHECK(message.find("null") != std::string::npos);
}

TEST_CASE("cuda: a thread that had no context has none after a loader's epoch", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  CHECK(run_in_new_process(0, readers) == 0);
}

TEST_CASE("cuda: a loader of one GPU makes no context on another", "[cuda][gpu][two_gpus]") {
  if (cuda_device_count() < 2) FEEDLINE_SKIP("fewer than two GPUs");
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  CHECK(run_in_new_process(1, readers) == 0);
}
