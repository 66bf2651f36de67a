/// How fast batches reach several GPUs of one host at once: a loader and a consumer for each,
/// out of one dataset in RAM, beside plain pinned copies to all of them and beside rings by hand.
///
///     feedline_bench_gpus                           # 1 to all GPUs, several numbers of readers
///     feedline_bench_gpus --shape cifar256 --readers 8 --gpus 2
///     feedline_bench_gpus --gpus 2 --all-reduce-mib 64     # and with NCCL running
///
/// Method: for each cell a thread for each GPU builds a loader (placement stream, `--readers`
/// readers each), consumes one epoch to warm up, waits for the others, and then consumes epochs
/// back to back for the time asked. Each thread's rate is its own bytes by its own time; what is
/// printed is their sum, median of the runs, with the slowest and the fastest GPU of that run.
/// Pinned copies go to all GPUs at once in the same way. Content is not checked here: the tests do
/// that.
///
/// Hosts differ in what their main memory and their neighbours leave. So a bare ring of pinned
/// pieces for each GPU, filled by as many threads, takes turns with the loaders, run by run: one
/// whose threads copy by hand, a `memcpy` a row, and one whose threads copy as readers do.
///
/// With `--all-reduce-mib N`, where the build has found NCCL: each cell is measured once more while
/// all-reduces of N MiB run on the same GPUs, back to back, each GPU's on a stream of its own. What
/// they reach alone is measured before, for the same time. Their rate is the bytes of one GPU by
/// the time.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#ifdef FEEDLINE_BENCH_NCCL
#include "bench/support/all_reduces.hpp"
#endif
#include "bench/support/bare/bare_ring.hpp"
#include "bench/support/bare/copies.hpp"
#include "bench/support/bare/cpu_gather.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"
#include "support/command_line.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<int> readers{4, 8, 12};
  std::vector<int> gpus;  ///< empty: 1, 2, 4 … and all
  std::size_t piece_bytes = 0;
  std::size_t staging_slots = 0;
  std::size_t all_reduce_mib = 0;  ///< 0: none
};

/// Bytes a second of each GPU, in one run.
using rates = std::vector<double>;

double sum(const rates& each) {
  return std::accumulate(each.begin(), each.end(), 0.0);
}

/// The measurements on one GPU, in turn: each gives bytes a second.
using works = std::vector<std::function<double()>>;

/// Runs the same kinds of work on each GPU, on a thread for each, in turn, run after run, all
/// begun together; the first exception is thrown here, when all threads have ended.
/// @param prepare Makes a GPU's works, on its thread, before the first run.
/// @return The runs of each kind, the slowest first.
std::vector<std::vector<rates>> on_all(int gpus, int runs, std::size_t kinds,
                                       const std::function<works(int gpu)>& prepare) {
  std::vector found(
      kinds, std::vector(static_cast<std::size_t>(runs), rates(static_cast<std::size_t>(gpus))));
  std::barrier together{gpus};
  std::mutex mutex;
  std::exception_ptr failed;
  const auto drive = [&](int gpu) {
    try {
      FEEDLINE_CUDA_CHECK(cudaSetDevice(gpu));
      const works all = prepare(gpu);
      for (std::size_t run = 0; run < static_cast<std::size_t>(runs); ++run)
        for (std::size_t kind = 0; kind < kinds; ++kind) {
          together.arrive_and_wait();
          found[kind][run][static_cast<std::size_t>(gpu)] = all[kind]();
        }
    } catch (...) {
      const std::scoped_lock lock{mutex};
      if (!failed) failed = std::current_exception();
      together.arrive_and_drop();
    }
  };
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < gpus; ++gpu) threads.emplace_back(drive, gpu);
  for (std::thread& thread : threads) thread.join();
  if (failed) std::rethrow_exception(failed);
  for (auto& kind : found)
    std::ranges::sort(kind, [](const rates& a, const rates& b) { return sum(a) < sum(b); });
  return found;
}

std::vector<rates> copy_to_all(int gpus, const options& options) {
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  const auto prepare = [&](int gpu) -> works {
    return {[&options, copies = std::make_shared<pinned_copies>(gpu, bytes)] {
      return copies->rate(options.seconds);
    }};
  };
  return on_all(gpus, options.runs, 1, prepare).front();
}

/// A loader for a GPU, which continues from run to run.
std::function<double()> loading(const shape& shape, const dataset_ptr& data, int gpu, int readers,
                                const options& options) {
  const loader_options all{
      .batch_size = shape.batch_size,
      .epochs = UINT64_MAX,
      .readers = readers,
      .placement = placement::stream,
      .expert = {.piece_bytes = options.piece_bytes, .staging_slots = options.staging_slots}};
  auto from = std::make_shared<loader>(data, shuffle{.seed = 1}, make_cuda_device(gpu), all);
  auto stream = std::make_shared<gpu_stream>();
  std::uint64_t epoch = 0;
  (void)consume(*from, epoch, *stream, 0);  // warm up
  return [&options, from, stream, epoch]() mutable {
    return consume_in_turn(*from, epoch, *stream, options.seconds).bytes_per_second();
  };
}

/// The feeds that take turns in a cell, the loader last.
constexpr std::array kinds{", by hand", ", by gather", ""};

std::vector<std::vector<rates>> feed_all(int gpus, const shape& shape, const dataset_ptr& data,
                                         const cpu_gather& gather, int readers,
                                         const options& options) {
  return on_all(gpus, options.runs, kinds.size(), [&](int gpu) {
    works turns;
    for (const row_copies copies : {row_copies::by_hand, row_copies::by_gather})
      turns.emplace_back([&options, ring = std::make_shared<bare_ring>(make_cuda_device(gpu),
                                                                       gather, readers, copies)] {
        return ring->rate(options.seconds);
      });
    turns.push_back(loading(shape, data, gpu, readers, options));
    return turns;
  });
}

void report(const std::string& name, int gpus, int readers, const std::vector<rates>& runs,
            double copies, results& found) {
  const rates& median = runs[runs.size() / 2];
  const auto [slowest, fastest] = std::minmax_element(median.begin(), median.end());
  std::printf("%-22s %5d %8d %9.1f [%7.1f, %7.1f] %9.1f %9.1f %9.1f %%\n", name.c_str(), gpus,
              readers, sum(median) / 1e9, sum(runs.front()) / 1e9, sum(runs.back()) / 1e9,
              *slowest / 1e9, *fastest / 1e9, 100 * sum(median) / copies);
  std::fflush(stdout);
  found.add({{"shape", name},
             {"gpus", gpus},
             {"readers", readers},
             {"bytes_per_second", sum(median)},
             {"least_bytes_per_second", sum(runs.front())},
             {"most_bytes_per_second", sum(runs.back())},
             {"slowest_gpu_bytes_per_second", *slowest},
             {"fastest_gpu_bytes_per_second", *fastest},
             {"of_copies", sum(median) / copies}});
}

#ifdef FEEDLINE_BENCH_NCCL
/// The rate of all-reduces, run by run.
class reduce_meter {
 public:
  reduce_meter(int gpus, std::size_t mib) : bytes_{mib << 20}, reduces_{gpus, bytes_} {}

  /// Around a run.
  void note(bool begins) {
    reduces_.start();
    if (begins) {
      done_ = reduces_.done();
      begun_ = clock_type::now();
    } else {
      const auto bytes = static_cast<double>((reduces_.done() - done_) * bytes_);
      rates_.push_back(bytes / seconds_since(begun_));
    }
  }
  double alone(const options& options) {
    for (int run = 0; run <= options.runs; ++run) {
      note(true);
      std::this_thread::sleep_for(std::chrono::duration<double>{options.seconds});
      note(false);
      if (run == 0) rates_.clear();  // the first one warms up
    }
    return take_rate();
  }
  /// The median since the last call.
  double take_rate() { return median(std::exchange(rates_, {})); }

 private:
  std::size_t bytes_;
  std::uint64_t done_ = 0;
  clock_type::time_point begun_;
  std::vector<double> rates_;
  all_reduces reduces_;
};

void feed_beside_reduces(int gpus, const shape& shape, const dataset_ptr& data, int readers,
                         const options& options, double copies, results& found) {
  // The all-reduce runs alone first, and is destroyed before a loader is made: its end may wait for
  // the GPU to be idle.
  const double alone = reduce_meter{gpus, options.all_reduce_mib}.alone(options);
  reduce_meter meter{gpus, options.all_reduce_mib};
  const auto prepare = [&](int gpu) -> works {
    const auto load = loading(shape, data, gpu, readers, options);
    if (gpu != 0) return {load};
    return {[&meter, load] {
      meter.note(true);
      const double rate = load();
      meter.note(false);
      return rate;
    }};
  };
  const auto runs = on_all(gpus, options.runs, 1, prepare).front();
  const double beside = meter.take_rate();
  report(shape.name + "+nccl", gpus, readers, runs, copies, found);
  std::printf(
      "%-22s all-reduces of %zu MiB: alone %.1f GB/s, beside delivery %.1f GB/s (%.1f %%)\n", "",
      options.all_reduce_mib, alone / 1e9, beside / 1e9, 100 * beside / alone);
  std::fflush(stdout);
  found.add({{"limit", "all-reduce"},
             {"gpus", gpus},
             {"mib", options.all_reduce_mib},
             {"bytes_per_second", alone},
             {"beside_bytes_per_second", beside}});
}
#endif

std::vector<int> numbers_of_gpus(const options& options) {
  if (!options.gpus.empty()) return options.gpus;
  int all = 0;
  FEEDLINE_CUDA_CHECK(cudaGetDeviceCount(&all));
  std::vector<int> numbers;
  for (int gpus = 1; gpus < all; gpus *= 2) numbers.push_back(gpus);
  numbers.push_back(all);
  return numbers;
}

void run(const options& options) {
  results found{"gpus", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled rows in RAM, one dataset, a loader and an empty consumer a GPU; sum "
      "over "
      "GPUs, median of %d runs of %.1f s [least, most]\n\n",
      options.runs, options.seconds);
  std::printf("%-22s %5s %8s %9s %18s %9s %9s %11s\n", "shape", "GPUs", "readers", "GB/s", "",
              "slowest", "fastest", "of copies");
  const std::vector<int> numbers = numbers_of_gpus(options);
  std::vector<double> copies;
  for (const int gpus : numbers) {
    const auto runs = copy_to_all(gpus, options);
    copies.push_back(sum(runs[runs.size() / 2]));
    report("copies", gpus, 0, runs, copies.back(), found);
  }
  for (const shape& shape : main_shapes(options.shape)) {
    const auto data = make_data(shape);
    const cpu_gather gather{shape, data};
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (const int readers : options.readers) {
        const auto fed = feed_all(numbers[i], shape, data, gather, readers, options);
        for (std::size_t kind = 0; kind < kinds.size(); ++kind)
          report(shape.name + kinds[kind], numbers[i], readers, fed[kind], copies[i], found);
#ifdef FEEDLINE_BENCH_NCCL
        if (options.all_reduce_mib != 0)
          feed_beside_reduces(numbers[i], shape, data, readers, options, copies[i], found);
#endif
      }
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{
      "Delivery of batches to several GPUs at once, beside pinned copies to all of them"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "numbers of reader threads to try, for each GPU");
  line.add_option("--gpus", options.gpus, "numbers of GPUs to try; all powers of two, and all");
  line.add_option("--piece-bytes", options.piece_bytes, "0: automatic");
  line.add_option("--staging-slots", options.staging_slots, "0: automatic");
#ifdef FEEDLINE_BENCH_NCCL
  // A kernel that is loaded when it is first called may wait for a sum that waits for another GPU.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  line.add_option("--all-reduce-mib", options.all_reduce_mib,
                  "MiB that NCCL sums over the GPUs, back to back, beside the delivery; 0: nothing")
      .between(0, 16384);
#endif
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
