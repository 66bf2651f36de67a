/// Throughput of readers compared with threads that only gather: a loader, and as many bare
/// threads that copy random rows of the same dataset into a pinned ring of 32 MiB, in turn. The
/// threads copy by hand, a `memcpy` a row, and then like readers.
///
///     feedline_bench_readers                        # all shapes, four readers
///     feedline_bench_readers --shape mnist64 --readers 1,2,4
///
/// Method: a loader with placement stream consumes one epoch to warm up; then runs of the threads
/// and one of the loader take turns, so that all meet the same machine. Before each of its runs the
/// loader consumes untimed for a quarter as long: what it made ready in others' turns is gone then.
/// The threads take requests in turn, too, but know their order beforehand and gather no labels,
/// and nothing leaves their ring. The medians are printed, and those of the ratios of neighbours,
/// with the least and the most.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/bare/cpu_gather.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "device/owned.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<int> readers{4};
  std::vector<std::size_t> request_bytes{0};
};

/// Throughput of each run's loader, divided by that of its threads.
std::vector<double> ratios(const std::vector<double>& of, const std::vector<double>& by) {
  std::vector<double> shares(of.size());
  std::ranges::transform(of, by, shares.begin(), std::divides{});
  return shares;
}

void print_share(const std::vector<double>& shares) {
  const auto [least, most] = std::ranges::minmax(shares);
  std::printf("%7.1f %% [%5.1f, %5.1f]", 100 * median(shares), 100 * least, 100 * most);
}

struct setting {
  int readers;
  std::size_t request_bytes;
};

void run_cell(const shape& shape, const dataset_ptr& data, setting of, const options& options,
              const gpu_stream& stream, results& found) {
  const device_ptr device = make_cuda_device(0);
  const detail::device_memory ring{device, memory_kind::staging, ring_bytes};
  const cpu_gather gather{shape, data};
  loader loader{data,
                shuffle{.seed = 1},
                device,
                {.batch_size = shape.batch_size,
                 .epochs = UINT64_MAX,
                 .readers = of.readers,
                 .placement = placement::stream,
                 .expert = {.request_bytes = of.request_bytes}}};
  std::uint64_t epoch = 0;
  (void)consume(loader, epoch, stream, 0);
  std::vector<double> by_hand;
  std::vector<double> by_gather;
  std::vector<double> fed;
  const auto bare = [&](row_copies copies) {
    return gather.rate(ring.data(), static_cast<std::size_t>(of.readers), options.seconds, copies);
  };
  for (int run = 0; run < options.runs; ++run) {
    by_hand.push_back(bare(row_copies::by_hand));
    by_gather.push_back(bare(row_copies::by_gather));
    fed.push_back(consume_in_turn(loader, epoch, stream, options.seconds).bytes_per_second());
  }
  const std::vector<double> of_hand = ratios(fed, by_hand);
  const std::vector<double> of_gather = ratios(fed, by_gather);
  std::printf("%-12s %7d %7zu %9.2f %9.2f %9.2f ", shape.name.c_str(), of.readers,
              of.request_bytes >> 10, median(by_hand) / 1e9, median(by_gather) / 1e9,
              median(fed) / 1e9);
  print_share(of_hand);
  print_share(of_gather);
  std::printf("\n");
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"readers", of.readers},
             {"request_bytes", of.request_bytes},
             {"by_hand_bytes_per_second", median(by_hand)},
             {"by_gather_bytes_per_second", median(by_gather)},
             {"bytes_per_second", median(fed)},
             {"of_hand", median(of_hand)},
             {"of_gather", median(of_gather)}});
}

void run(const options& options) {
  results found{"readers", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled rows in RAM; bare threads and a loader in turn, GB/s, medians of %d "
      "runs of %.2f s each\n\n",
      options.runs, options.seconds);
  std::printf("%-12s %7s %7s %9s %9s %9s %9s %25s\n", "shape", "readers", "KiB", "by hand",
              "by gather", "loader", "of hand", "of gather");
  const gpu_stream stream;
  for (const shape& shape : shapes_named(options.shape)) {
    const auto data = make_data(shape);
    for (const int readers : options.readers)
      for (const std::size_t bytes : options.request_bytes)
        run_cell(shape, data, {readers, bytes}, options, stream, found);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Readers of a loader, beside as many threads that only gather"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "numbers of readers to try, and of threads");
  line.add_option("--request-bytes", options.request_bytes,
                  "sizes of requests to try, of readers alone; 0: the default");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
