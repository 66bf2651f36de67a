/// How fast batches reach the GPU: shuffled rows in RAM, delivered through a loader to a
/// consumer that does nothing, beside the rate of plain pinned copies measured in the same run.
///
///     feedline_bench_delivery                       # all shapes, placements, several numbers of
///     readers feedline_bench_delivery --shape mnist64 --placement stream --readers 8
///
/// Method: for each cell a loader is built, one epoch is consumed to warm up (and to upload what is
/// kept), then epochs are consumed back to back for the time asked; the clock stops when the
/// consumer's stream has passed the last batch. The median of the runs is printed, with the least
/// and the most, and its share of the copies measured right before the loader was made and right
/// after it has gone. Content is not checked here: the tests do that.

#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/bare/copies.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<std::string> placements{"stream", "gather", "cached", "resident"};
  std::vector<int> readers{0, 1, 2, 4, 8, 14};
  int other_readers = automatic_readers;
  double cached_share = 0.5;
  std::uint64_t batches_per_slot = 0;
  std::size_t piece_bytes = 0;
  std::size_t staging_slots = 0;
  std::size_t device_slots = 0;
};

placement placement_named(const std::string& name) {
  for (const auto each :
       {placement::stream, placement::gather, placement::cached, placement::resident}) {
    if (to_string(each) == name) return each;
  }
  throw usage_error{"no placement '" + name + "': there are stream, gather, cached, resident"};
}

loader_options loading(const shape& shape, placement placement, int readers,
                       const options& options) {
  const auto rows_bytes = static_cast<double>(sample_bytes(shape) * shape.samples);
  return {.batch_size = shape.batch_size,
          .epochs = UINT64_MAX,
          .readers = readers,
          .placement = placement,
          .memory = {.cache = placement == placement::cached
                                  ? static_cast<std::size_t>(options.cached_share * rows_bytes)
                                  : 0},
          .expert = {.batches_per_slot = options.batches_per_slot,
                     .piece_bytes = options.piece_bytes,
                     .staging_slots = options.staging_slots,
                     .device_slots = options.device_slots}};
}

void report(const shape& shape, const loader_plan& plan, const spread& runs, double copies,
            results& found) {
  const delivered& median = runs.median();
  const double of_copies = median.bytes_per_second() / copies;
  const std::string placement{to_string(plan.placement)};
  const double cached_share =
      static_cast<double>(plan.cached_samples) / static_cast<double>(shape.samples);
  std::printf("%-12s %-9s %7d %12.0f %8.2f [%7.2f, %7.2f] %8.1f %% %8.1f %9.1f %9.1f\n",
              shape.name.c_str(), placement.c_str(), plan.readers, median.batches_per_second(),
              median.bytes_per_second() / 1e9, runs.least().bytes_per_second() / 1e9,
              runs.most().bytes_per_second() / 1e9, 100 * of_copies,
              static_cast<double>(plan.device_slot_bytes) / (1 << 20),
              static_cast<double>(plan.staging_bytes) / (1 << 20),
              static_cast<double>(plan.device_bytes) / (1 << 20));
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"placement", placement},
             {"readers", plan.readers},
             {"batch_size", shape.batch_size},
             {"sample_bytes", sample_bytes(shape)},
             {"cached_share", cached_share},
             {"slot_bytes", plan.slot_bytes},
             {"staging_bytes", plan.staging_bytes},
             {"device_bytes", plan.device_bytes},
             {"of_copies", of_copies}},
            runs);
}

void run_cell(const shape& shape, const dataset_ptr& data, placement placement, int readers,
              const options& options, const pinned_copies& limit, const gpu_stream& stream,
              results& found) {
  const double copies_before = limit.rate(options.seconds);
  std::optional<loader> feed{std::in_place, data, shuffle{.seed = 1}, make_cuda_device(0),
                             loading(shape, placement, readers, options)};
  const loader_plan plan = feed->plan();
  std::uint64_t epoch = 0;
  (void)consume(*feed, epoch, stream, 0);  // warm up, which uploads cached rows
  const spread runs =
      repeat(options.runs, [&] { return consume(*feed, epoch, stream, options.seconds); });
  feed.reset();
  report(shape, plan, runs, (copies_before + limit.rate(options.seconds)) / 2, found);
}

void run(const options& options) {
  results found{"delivery", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled rows in RAM, empty consumer, median of %d runs of %.1f s [least, "
      "most]; cached: %.0f %% of the rows kept\n\n",
      options.runs, options.seconds, 100 * options.cached_share);
  const gpu_stream stream;
  constexpr std::size_t large = std::size_t{64} << 20;
  const pinned_copies limit{0, large};
  const double copies = median_of(options.runs, [&] { return limit.rate(options.seconds); });
  found.add({{"limit", "bus"},
             {"memory", "pinned"},
             {"direction", "to GPU"},
             {"bytes", large},
             {"bytes_per_second", copies}});
  std::printf("pinned copies of 64 MiB: %.2f GB/s; of 8 MiB: %.2f GB/s\n\n", copies / 1e9,
              pinned_copies{0, std::size_t{8} << 20}.rate(options.seconds) / 1e9);
  std::printf("%-12s %-9s %7s %12s %8s %18s %10s %8s %9s %9s\n", "shape", "placement", "readers",
              "batches/s", "GB/s", "", "of copies", "slot MiB", "pinned MiB", "GPU MiB");
  for (const shape& shape : shapes_named(options.shape)) {
    const auto data = make_data(shape);
    for (const std::string& name : options.placements) {
      const placement placement = placement_named(name);
      const auto readers =
          placement == placement::stream ? options.readers : std::vector{options.other_readers};
      for (const int each : readers)
        run_cell(shape, data, placement, each, options, limit, stream, found);
    }
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Delivery of batches to the GPU, beside the rate of plain pinned copies"};
  options options;
  add_common_options(line, options);
  line.add_option("--placement", options.placements, "of stream, gather, cached, resident");
  line.add_option("--readers", options.readers,
                  "numbers of reader threads to try with the stream placement");
  line.add_option("--other-readers", options.other_readers,
                  "reader threads of the other placements; -1: automatic");
  line.add_option("--cached-share", options.cached_share, "of the rows' bytes, for cached")
      .between(0.0, 1.0);
  line.add_option("--batches-per-slot", options.batches_per_slot, "0: automatic");
  line.add_option("--piece-bytes", options.piece_bytes, "0: automatic");
  line.add_option("--staging-slots", options.staging_slots, "0: automatic");
  line.add_option("--device-slots", options.device_slots, "0: automatic");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
