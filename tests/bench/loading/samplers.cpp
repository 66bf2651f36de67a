/// Cost of an order: nanoseconds a draw of every sampler. No GPU, no data.
///
///     feedline_bench_samplers [--seconds 0.1] [--runs 5] [--json FILE]
///
/// Method: one thread asks for positions as readers do, in consecutive runs of 256, and for single
/// random positions, as after a seek. `million` and `billion` are samples of the dataset; orders
/// with tables are drawn of a million. In a shard, rank 3 of 8 asks for its 256 of each global
/// batch of 2,048. `table` is the memory of the order, in bytes a sample. Time is the thread's CPU
/// time, so that other work on the machine counts little. Median of the runs.

#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/class_balanced.hpp>
#include <feedline/sampler/explicit_order.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/take.hpp>
#include <feedline/sampler/weighted.hpp>

#include "bench/processor.hpp"
#include "bench/support/delivered.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "sampler/epoch_share.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

constexpr std::uint64_t million = 1'000'000;
constexpr std::uint64_t batch_size = 256;
constexpr detail::epoch_share alone{.batch_size = batch_size};
constexpr detail::epoch_share rank_3_of_8{.batch_size = batch_size, .rank = 3, .world = 8};

/// A dataset that says it lies in chunks of 10 samples, and is never read.
class chunked final : public dataset {
 public:
  explicit chunked(std::uint64_t size) : size_{size} {}
  std::uint64_t size() const override { return size_; }
  std::vector<field> fields() const override { return {{"id", element_type::u64, {}}}; }
  chunking chunks() const override { return {.samples = 10, .bytes = 80, .kept = size_ / 10}; }
  void do_read(const read_request&) const override {}

 private:
  std::uint64_t size_;
};

/// Nanoseconds a draw. @param run Positions that are asked for at a time.
/// @param next The first of them, each time it is called.
template <class Next>
double time_of(const sampler& order, std::uint64_t samples, std::size_t run, Next next,
               const common_options& options) {
  std::array<sample_index, batch_size> found;
  const auto out = std::span{found}.first(run);
  return median_of(options.runs, [&] {
    const double begun = process_cpu_seconds();
    std::uint64_t draws = 0;
    double took = 0;
    for (; took < options.seconds; took = process_cpu_seconds() - begun)
      for (int i = 0; i < 64; ++i, draws += run) order.indices(samples, 1, position{next()}, out);
    return 1e9 * took / static_cast<double>(draws);
  });
}

class table {
 public:
  explicit table(const common_options& options)
      : options_{options},
        found_{"samplers",
               {{"processor", processor()},
                {"hardware_threads", std::thread::hardware_concurrency()}}} {
    std::printf("%s, %u hardware threads; %d runs of %.2f s; ns a draw\n\n", processor().c_str(),
                std::thread::hardware_concurrency(), options.runs, options.seconds);
    std::printf("%-36s %13s %10s %10s %9s\n", "order", "samples", "runs", "single", "table");
  }

  void add(const std::string& name, const sampler& unbound, std::uint64_t samples,
           detail::epoch_share share = alone, std::size_t table_bytes = 0) {
    const sampler order = unbound.bind(chunked{samples}, share.global_batch());
    share.positions = order.size(samples);
    std::uint64_t place = 0;
    const auto in_turn = [&] {
      const std::uint64_t first = share.at(place).value;
      place = (place + batch_size) % (share.whole_batches() * batch_size);
      return first;
    };
    std::minstd_rand engine{1};
    const auto anywhere = [&] { return (engine() * 0x7FFF'FFFFULL + engine()) % share.positions; };
    const double runs = time_of(order, samples, batch_size, in_turn, options_);
    const double single = time_of(order, samples, 1, anywhere, options_);
    const double bytes = static_cast<double>(table_bytes) / static_cast<double>(samples);
    std::printf("%-36s %13ju %10.2f %10.1f %9.0f\n", name.c_str(), std::uintmax_t{samples}, runs,
                single, bytes);
    std::fflush(stdout);
    found_.add({{"order", name},
                {"samples", samples},
                {"run_ns_a_draw", runs},
                {"single_ns_a_draw", single},
                {"table_bytes_a_sample", bytes}});
  }
  void write() const { found_.write(options_.json); }

 private:
  const common_options& options_;
  results found_;
};

void run(const common_options& options) {
  table all{options};
  const shuffle mixed{.seed = 1};
  for (const std::uint64_t samples : {million, 1000 * million}) {
    all.add("sequential", sequential{}, samples);
    all.add("shuffle", mixed, samples);
    all.add("shuffle, rank 3 of 8", mixed, samples, rank_3_of_8);
    all.add("shuffle within 8192 chunks", shuffle{.seed = 1, .within = chunks(8192)}, samples);
    all.add("shuffle within 8192 chunks, 8 lanes",
            shuffle{.seed = 1, .within = chunks(8192), .lanes = 8}, samples);
    all.add("the same, rank 3 of 8", shuffle{.seed = 1, .within = chunks(8192), .lanes = 8},
            samples, rank_3_of_8);
    all.add("take a tenth of a shuffle", take{mixed, 0.1}, samples);
    all.add("mixture of 3 parts",
            mixture{{samples / 2, samples / 4, samples / 4}, {1, 2, 3}, {.seed = 1}}, samples);
  }

  std::mt19937_64 engine{1};
  std::vector<double> weights(million);
  std::vector<std::int64_t> labels(million);
  std::vector<std::uint64_t> lengths(million);
  std::vector<std::uint64_t> places(million);
  std::iota(places.begin(), places.end(), 0);
  for (std::size_t i = 0; i < million; ++i) {
    weights[i] = static_cast<double>(engine() % 1000 + 1);
    labels[i] = static_cast<std::int64_t>(engine() % 100);
    lengths[i] = engine() % 2048 + 1;
    std::swap(places[i], places[engine() % (i + 1)]);
  }
  const weighted drawn{weights, {.seed = 1}};
  all.add("weighted", drawn, million, alone, drawn.table_bytes());
  const weighted different{weights, {.seed = 1, .epoch_size = million / 10, .replacement = false}};
  all.add("weighted, without replacement", different, million, alone, different.table_bytes());
  const class_balanced balanced{labels, {.seed = 1}};
  all.add("class_balanced, 100 classes", balanced, million, alone, balanced.table_bytes());
  const bucket_by_length buckets{lengths, {.seed = 1}};
  all.add("bucket_by_length, 8 buckets", buckets, million, alone, buckets.table_bytes());
  const explicit_order given{places};
  all.add("explicit_order", given, million, alone, given.table_bytes());
  all.write();
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Nanoseconds a draw of every sampler"};
  common_options options;
  options.seconds = 0.1;
  add_common_options(line, options);
  return run_program(
      line, argc, argv, [] { return true; }, [&] { run(options); });
}
