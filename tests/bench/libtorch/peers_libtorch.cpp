/// libtorch's own loader on the shapes of `delivery`: batches/s and CPU time with an empty
/// consumer.
///
///     feedline_bench_peers_libtorch
///
/// The fastest use of it that we know: torch::data::make_data_loader over a dataset that fetches
/// whole batches by index_select straight into pinned memory of torch's caching allocator (no
/// collation, no copy to pin), workers with one thread each, copies on a side stream. Several
/// numbers of workers and of jobs in progress; the best is the peer.

#include "bench/support/delivered.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/torch.h>

using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<std::size_t> workers{8, 14};
  std::size_t jobs_a_worker = 2;
};

/// Shuffled rows in RAM; a batch is a pair of pinned tensors.
class rows : public torch::data::BatchDataset<rows, torch::data::Example<>> {
 public:
  explicit rows(const shape& shape) {
    std::vector<std::int64_t> extents{static_cast<std::int64_t>(shape.samples)};
    for (const auto extent : shape.row) extents.push_back(static_cast<std::int64_t>(extent));
    images_ = torch::randint(0, 256, extents, torch::kUInt8);
    labels_ = torch::randint(0, 10, extents.front(), torch::kUInt8);
  }

  torch::data::Example<> get_batch(torch::ArrayRef<std::size_t> samples) override {
    const auto count = static_cast<std::int64_t>(samples.size());
    // Only read, though from_blob does not say so.
    const auto index =
        torch::from_blob(const_cast<std::size_t*>(samples.data()), {count}, torch::kInt64);
    return {select(images_, index), select(labels_, index)};
  }

  torch::optional<std::size_t> size() const override {
    return static_cast<std::size_t>(labels_.size(0));
  }

 private:
  static torch::Tensor select(const torch::Tensor& values, const torch::Tensor& index) {
    auto extents = values.sizes().vec();
    extents.front() = index.size(0);
    auto out = torch::empty(extents, values.options().pinned_memory(true));
    torch::index_select_out(out, values, 0, index);
    return out;
  }

  torch::Tensor images_;
  torch::Tensor labels_;
};

/// Epoch after epoch for about this many seconds; stops within an epoch, for the small shapes' are
/// short and the large one's long.
template <class Loader>
delivered consume(Loader& loader, const shape& shape, const c10::cuda::CUDAStream& stream,
                  double seconds) {
  const c10::cuda::CUDAStreamGuard guard{stream};
  std::uint64_t batches = 0;
  const meter meter;
  while (meter.seconds() < seconds) {
    for (auto& batch : loader) {
      batch.data.to(torch::kCUDA, /*non_blocking=*/true);
      batch.target.to(torch::kCUDA, /*non_blocking=*/true);
      ++batches;
      if (meter.seconds() >= seconds) break;
    }
  }
  stream.synchronize();
  return meter.stop(batches, batches * shape.batch_size * sample_bytes(shape));
}

void run_cell(const shape& shape, const rows& data, std::size_t workers, const options& options,
              const c10::cuda::CUDAStream& stream, results& found) {
  // A run that stops within an epoch leaves its loader there, so each has its own.
  const auto run = [&](double seconds) {
    const auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        data, torch::data::DataLoaderOptions{}
                  .batch_size(shape.batch_size)
                  .workers(workers)
                  .max_jobs(workers * options.jobs_a_worker)
                  .drop_last(true));
    return consume(*loader, shape, stream, seconds);
  };
  (void)run(std::max(options.seconds, 1.0));  // the allocator pins its blocks
  const spread runs = repeat(options.runs, [&] { return run(options.seconds); });
  const delivered& median = runs.median();
  std::printf("%-12s %7zu %12.0f %8.2f %9.4f\n", shape.name.c_str(), workers,
              median.batches_per_second(), median.bytes_per_second() / 1e9,
              median.cpu_seconds_per_gb());
  std::fflush(stdout);
  found.add({{"shape", shape.name}, {"peer", "libtorch loader"}, {"workers", workers}}, runs);
}

void run(const options& options) {
  results found{"peers_libtorch"};
  torch::set_num_threads(1);  // one thread a worker; more threads slow each other down
  std::printf("method:    shuffled rows in RAM, empty consumer, median of %d runs of %.1f s\n\n",
              options.runs, options.seconds);
  std::printf("%-12s %7s %12s %8s %9s\n", "shape", "workers", "batches/s", "GB/s", "CPU s/GB");
  const auto stream = c10::cuda::getStreamFromPool();
  for (const shape& shape : main_shapes(options.shape)) {
    const rows data{shape};
    for (const std::size_t workers : options.workers)
      run_cell(shape, data, workers, options, stream, found);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  feedline::test::command_line line{"libtorch's loader, to compare with"};
  options options;
  add_common_options(line, options);
  line.add_option("--workers", options.workers, "numbers of workers to try");
  line.add_option("--jobs-per-worker", options.jobs_a_worker, "batches under way a worker");
  return run_program(
      line, argc, argv, [] { return torch::cuda::is_available(); }, [&] { run(options); });
}
