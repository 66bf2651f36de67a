// feedline-doctor on a real GPU.

#include <feedline/sampler/shuffle.hpp>

#include "programs/doctor/measure.hpp"
#include "programs/doctor_runs.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <chrono>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

TEST_CASE("doctor on a GPU: a step keeps the stream busy for its time, and copies are fast",
          "[programs][gpu]") {
  const doctor::gpu_search search = doctor::find_gpu(0);
  if (!search.found) FEEDLINE_SKIP(search.refusal);
  doctor::gpu& gpu = *search.found;
  CHECK(gpu.total_bytes >= gpu.free_bytes);
  CHECK(gpu.free_bytes > 0);
  gpu.compute(1ms);
  gpu.sync();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) gpu.compute(5ms);
  gpu.sync();
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took >= 98ms);
  CHECK(took < 150ms);
  CHECK(doctor::measure_copies(gpu, 20ms).copy_rate > 1e9);
}

TEST_CASE("doctor on a GPU: a long step hides the loader, and is seen on the stream",
          "[programs][gpu]") {
  const doctor::gpu_search search = doctor::find_gpu(0);
  if (!search.found) FEEDLINE_SKIP(search.refusal);
  std::vector<doctor::damage> damages;
  const auto loop =
      doctor::measure_loop(make_identity_dataset(10'000, 1000), shuffle{.seed = 1},
                           {.batch_size = 100}, search.found.get(), 3ms, {.time = 500ms}, damages);
  CHECK(loop.batches > 50);
  CHECK(loop.of_batch() >= 2.9ms);
  CHECK(loop.seen.exposed_on_stream);
  CHECK(loop.verdict.limit == bottleneck::consumer);
  CHECK(damages.empty());
}

TEST_CASE("doctor on a GPU: rows that fit are recommended to stay there", "[programs][gpu]") {
  if (!doctor::find_gpu(0).found) FEEDLINE_SKIP(doctor::find_gpu(0).refusal);
  const temporary_directory folder;
  const auto run =
      run_doctor({write_rows(folder).string(), "--json", "-", "--batch-size", "100", "--gpu", "0"});
  REQUIRE(run.code == 0);
  const auto json = run.json();
  CHECK(json["copies"]["bytes_per_second"] > 1e9);
  CHECK(json["recommended"]["placement"] == "resident");
  REQUIRE(json["loops"].size() == 2);
  CHECK(json["loops"][0]["placement"] == "stream");
  CHECK(json["loops"][1]["placement"] == "resident");
  CHECK(json["loops"][1]["statistics"]["exposed_on_stream"] == true);
  CHECK(says(json["recommended"]["code"], "feedline::make_cuda_device(0)"));
  const auto missing = run_doctor({write_rows(folder).string(), "--gpu", "99"});
  CHECK(missing.code == 2);
  CHECK(says(missing.err, "--gpu 99: there is no GPU 99: there "));
}
