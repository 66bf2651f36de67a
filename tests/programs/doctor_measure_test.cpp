#include <feedline/device/host_device.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "programs/doctor/measure.hpp"
#include "programs/doctor_runs.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <chrono>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

constexpr doctor::limits short_time{.time = 50ms};

/// The host's device instead of a GPU. It records the work that it should compute, and does not
/// compute it.
struct pretended_gpu {
  std::vector<std::chrono::nanoseconds> computed;
  unsigned syncs = 0;
  doctor::gpu gpu;

  pretended_gpu() {
    gpu.device = make_host_device();
    gpu.ordinal = 3;
    gpu.name = "pretended";
    gpu.free_bytes = 1000;
    gpu.compute = [this](std::chrono::nanoseconds time) { computed.push_back(time); };
    gpu.sync = [this] { ++syncs; };
  }
};

}  // namespace

TEST_CASE("doctor: a loop computes its step on each batch, and waits for the GPU at its end",
          "[programs][host]") {
  pretended_gpu pretended;
  std::vector<doctor::damage> damages;
  const auto loop =
      doctor::measure_loop(make_identity_dataset(100, 16), sequential{}, {.batch_size = 10},
                           &pretended.gpu, 5us, {.time = 10s, .one_epoch = true}, damages);
  CHECK(loop.batches == 10);
  CHECK(loop.samples == 100);
  CHECK(pretended.computed == std::vector<std::chrono::nanoseconds>(10, 5us));
  CHECK(pretended.syncs == 1);
  CHECK(loop.trace.lanes.empty());
}

TEST_CASE("doctor: a loop ends with its time or its samples, whichever is first",
          "[programs][host]") {
  const auto samples = make_identity_dataset(100, 16);
  std::vector<doctor::damage> damages;
  const auto by_samples = doctor::measure_loop(samples, sequential{}, {.batch_size = 10}, nullptr,
                                               0ns, {.time = 100s, .samples = 250}, damages);
  CHECK(by_samples.batches == 25);
  const auto by_time = doctor::measure_loop(samples, sequential{}, {.batch_size = 10}, nullptr,
                                            10ms, short_time, damages);
  CHECK(by_time.batches >= 2);
  CHECK(by_time.batches <= 6);
}

TEST_CASE("doctor: only what follows the first epoch is measured, if that is asked for and ends",
          "[programs][host]") {
  std::vector<doctor::damage> damages;
  const auto of = [&](bool later) {
    return doctor::measure_loop(make_identity_dataset(100, 16), sequential{}, {.batch_size = 10},
                                nullptr, 0ns, {.time = 100s, .samples = 250, .later = later},
                                damages);
  };
  const auto later = of(true);
  CHECK(later.later);
  CHECK(later.batches == 25);
  CHECK(later.seen.consumer.batches == 25);
  const auto amid =
      doctor::measure_loop(make_identity_dataset(1000, 16), sequential{}, {.batch_size = 10},
                           nullptr, 3ms, {.time = 40ms, .later = true}, damages);
  CHECK(amid.batches < 100);
  CHECK_FALSE(amid.later);  // the first epoch has not ended
  const auto whole = of(false);
  CHECK(whole.batches == 25);
  CHECK_FALSE(whole.later);
}

TEST_CASE("doctor: copies to the GPU are timed, and the GPU is named", "[programs][host]") {
  pretended_gpu pretended;
  const auto facts = doctor::measure_copies(pretended.gpu, 5ms);
  CHECK(facts.ordinal == 3);
  CHECK(facts.name == "pretended");
  CHECK(facts.free_bytes == 1000);
  CHECK(facts.copied_bytes == 8U << 20);
  CHECK(facts.copy_rate > 0);
  CHECK(pretended.syncs >= 2);
}

TEST_CASE("doctor: the files are counted, and their share in the page cache", "[programs][host]") {
  const temporary_directory folder;
  const auto file = folder.write("bytes", counting_bytes(3 << 20));
  const auto facts = doctor::examine_storage({file.string()});
  CHECK(facts.files == 1);
  CHECK(facts.bytes == 3U << 20);
  CHECK(facts.cached.value_or(1) == 1);  // it was just written
  CHECK(doctor::examine_storage({folder.path().string()}).bytes == facts.bytes);
  const temporary_directory empty;
  CHECK(doctor::examine_storage({empty.path().string()}).files == 0);
}
