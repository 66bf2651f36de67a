/// How fast results come back to the CPU while batches go to the GPU, beside plain pinned
/// copies that do the same, measured in the same run.
///
///     feedline_bench_returning
///     feedline_bench_returning --mib 8 --slots 4 --json returning.json
///
/// Method: rows of 4 KiB in RAM, in sequential order, each word of which spells its row. "copies"
/// issues as many pinned copies of one size on a stream for each direction. "feedline" takes a
/// loader's batches of that size, pushes each into a result ring, and ends it after its source's
/// lease; a second thread takes the results and compares the first and the last word of every row
/// with what the batch must hold. Alone, the loader's batches are dropped, and the ring carries two
/// buffers of the GPU's in turn. Before the timed runs, every word of an epoch (2 GiB) goes there
/// and back and is compared. The clock stops when the last result was taken. Bytes of both
/// directions count; medians of the runs.

#include <feedline/cuda/device.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/results/ring.hpp>
#include <feedline/sampler/sequential.hpp>

#include "bench/support/gpu_stream.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"
#include "support/command_line.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

constexpr std::size_t row_bytes = 4096;
constexpr std::size_t row_words = row_bytes / sizeof(std::uint64_t);
constexpr std::uint64_t rows = std::uint64_t{512} << 10;

struct options : common_options {
  std::vector<std::size_t> mib{2, 8, 32};
  std::size_t slots = 4;
  int readers = automatic_readers;
};

std::uint64_t spelling(std::uint64_t row, std::size_t word) {
  return row * row_words + word;
}

dataset_ptr spelt_rows() {
  std::vector<std::uint64_t> words(rows * row_words);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i;  // = spelling(row, word)
  return make_memory_dataset({own("row", std::move(words), {row_words})});
}

/// Takes all results of a ring on a thread of its own, and looks whether each holds the rows of the
/// batch that its tag names.
class taker {
 public:
  /// @param every Words between two that are looked at: row_words − 1 sees a row's first and last.
  taker(result_ring& results, std::size_t every)
      : results_{results}, thread_{[this, every] {
          try {
            while (const auto seen = results_.next()) look_at(*seen, every);
          } catch (const std::exception& failure) {
            why_ = failure.what();
            results_.stop();
          }
        }} {}
  taker(const taker&) = delete;
  taker& operator=(const taker&) = delete;
  ~taker() {
    if (!thread_.joinable()) return;
    results_.stop();  // the pusher has failed
    thread_.join();
  }

  /// After the ring's `finish`: how many results came. @throws std::runtime_error if one was wrong.
  std::uint64_t join() {
    thread_.join();
    if (!why_.empty()) throw std::runtime_error{why_};
    return taken_;
  }

 private:
  void look_at(const result& seen, std::size_t every) {
    const auto words = seen.values<std::uint64_t>();
    const std::uint64_t first = seen.tag().batch * (words.size() / row_words);
    for (std::size_t at = 0; at < words.size(); at += row_words)
      for (std::size_t word = 0; word < row_words; word += every)
        if (words[at + word] != spelling(first + at / row_words, word))
          throw std::runtime_error{"a result does not hold the rows of batch " +
                                   std::to_string(seen.tag().batch)};
    ++taken_;
  }

  result_ring& results_;
  std::uint64_t taken_ = 0;
  std::string why_;
  std::thread thread_;  // the last member: it uses the others
};

/// The measurements at one size.
class both_ways {
 public:
  both_ways(const dataset_ptr& data, std::size_t bytes, const options& chosen)
      : bytes_{bytes},
        options_{chosen},
        loader_{data,
                sequential{},
                gpu_,
                {.batch_size = bytes / row_bytes,
                 .epochs = UINT64_MAX,
                 .readers = chosen.readers,
                 .placement = placement::stream,
                 .expert = {.device_slots = 8}}} {
    for (auto& memory : on_gpu_) memory = {gpu_, memory_kind::device, bytes};
    for (auto& memory : pinned_) memory = {gpu_, memory_kind::staging, bytes};
  }

  /// Plain copies; both directions at once on two streams.
  delivered copies(bool to_gpu, bool from_gpu) {
    const gpu_stream there;
    const gpu_stream back;
    const std::uint64_t at_once = (std::size_t{256} << 20) / bytes_;
    std::uint64_t count = 0;
    const meter meter;
    while (meter.seconds() < options_.seconds) {
      for (std::uint64_t i = 0; i < at_once; ++i) {
        if (to_gpu)
          FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(on_gpu_[0].data(), pinned_[0].data(), bytes_,
                                              cudaMemcpyHostToDevice, there.get()));
        if (from_gpu)
          FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(pinned_[1].data(), on_gpu_[1].data(), bytes_,
                                              cudaMemcpyDeviceToHost, back.get()));
      }
      count += at_once;
      there.sync();
      back.sync();
    }
    return meter.stop(count, count * bytes_ * (std::size_t{to_gpu} + std::size_t{from_gpu}));
  }

  delivered loader_alone() {
    const meter meter;
    std::uint64_t batches = 0;
    while (meter.seconds() < options_.seconds)
      for (const batch& taken : loader_.epoch(epoch_++, stream_ref{stream_.get()})) {
        ++batches;
        (void)taken;
        if (meter.seconds() >= options_.seconds) break;
      }
    stream_.sync();
    return meter.stop(batches, batches * bytes_);
  }

  delivered ring_alone() {
    for (auto& memory : on_gpu_) fill_with_batch_0(memory);
    result_ring results{gpu_, {.slot_bytes = bytes_, .slots = options_.slots}};
    taker taking{results, row_words - 1};
    std::array<std::optional<source_lease>, 2> copying;
    const meter meter;
    for (std::size_t i = 0; meter.seconds() < options_.seconds; ++i) {
      copying.at(i % 2).reset();
      copying.at(i % 2) = results.push(on_gpu_.at(i % 2).data(), bytes_, stream_ref{stream_.get()});
      if (!copying.at(i % 2)) break;  // the taker has stopped the ring, and says why
    }
    results.finish();
    const std::uint64_t taken = taking.join();
    return meter.stop(taken, taken * bytes_);
  }

  /// One epoch there and back, every word compared. @throws std::runtime_error if one is wrong.
  void compare_all() { (void)there_and_back(0, 1); }

  /// @param seconds 0: one epoch.
  /// @param every Same as for the thread that takes results.
  delivered there_and_back(double seconds, std::size_t every = row_words - 1) {
    result_ring results{gpu_, {.slot_bytes = bytes_, .slots = options_.slots}};
    taker taking{results, every};
    const meter meter;
    bool goes_on = true;
    do {
      std::deque<std::pair<batch, std::optional<source_lease>>> under_way;  // leases end first
      for (batch& taken : loader_.epoch(epoch_++, stream_ref{stream_.get()})) {
        batch mine = std::move(taken);
        const auto held = mine["row"].bytes();
        auto copying = results.push(held.data(), held.size(), stream_ref{stream_.get()},
                                    {.epoch = mine.epoch(), .batch = mine.index()});
        goes_on = copying.has_value();
        under_way.emplace_back(std::move(mine), std::move(copying));
        if (under_way.size() > 3) under_way.pop_front();
        if (!goes_on || (seconds > 0 && meter.seconds() >= seconds)) break;
      }
    } while (goes_on && meter.seconds() < seconds);
    results.finish();
    const std::uint64_t taken = taking.join();
    return meter.stop(taken, 2 * taken * bytes_);
  }

 private:
  void fill_with_batch_0(detail::device_memory& memory) {
    std::vector<std::uint64_t> words(bytes_ / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = i;
    FEEDLINE_CUDA_CHECK(cudaMemcpy(memory.data(), words.data(), bytes_, cudaMemcpyDefault));
  }

  const device_ptr gpu_ = make_cuda_device(0);
  const gpu_stream stream_;
  std::size_t bytes_;
  options options_;
  std::array<detail::device_memory, 2> on_gpu_;
  std::array<detail::device_memory, 2> pinned_;
  loader loader_;
  std::uint64_t epoch_ = 0;
};

/// Microseconds of the pushing thread for a push of a few bytes, lease included.
double push_microseconds(const options& chosen) {
  constexpr int pushes = 20'000;
  const auto gpu = make_cuda_device(0);
  const gpu_stream stream;
  const detail::device_memory loss{gpu, memory_kind::device, 4};
  return median_of(chosen.runs, [&] {
    result_ring results{gpu, {.slot_bytes = 4, .slots = 256}};
    std::thread taking{[&] {
      while (results.next()) continue;
    }};
    const auto start = clock_type::now();
    for (int i = 0; i < pushes; ++i) (void)results.push(loss.data(), 4, stream_ref{stream.get()});
    const double seconds = seconds_since(start);
    results.finish();
    taking.join();
    return 1e6 * seconds / pushes;
  });
}

void run(const options& chosen) {
  results found{"returning", machine_facts()};
  std::printf(
      "%smethod:    rows of 4 KiB in RAM, %zu result slots; medians of %d runs of %.2f s; every "
      "row's first and last word compared, and before that every word of 2 GiB\n\n",
      describe_machine().c_str(), chosen.slots, chosen.runs, chosen.seconds);
  std::printf("%6s %-10s %12s %12s %12s\n", "MiB", "GB/s", "to GPU", "from GPU", "both at once");
  const auto data = spelt_rows();
  for (const std::size_t mib : chosen.mib) {
    both_ways size{data, mib << 20, chosen};
    size.compare_all();
    std::array<std::array<double, 3>, 2> rates{};
    const auto measure = [&](std::size_t line, std::size_t column, auto&& once) {
      const spread runs = repeat(chosen.runs, once);
      rates.at(line).at(column) = runs.median().bytes_per_second();
      found.add({{"path", line == 0 ? "copies" : "feedline"},
                 {"direction", column == 0 ? "to GPU" : (column == 1 ? "from GPU" : "both")},
                 {"bytes", mib << 20}},
                runs);
    };
    measure(0, 0, [&] { return size.copies(true, false); });
    measure(0, 1, [&] { return size.copies(false, true); });
    measure(0, 2, [&] { return size.copies(true, true); });
    measure(1, 0, [&] { return size.loader_alone(); });
    measure(1, 1, [&] { return size.ring_alone(); });
    measure(1, 2, [&] { return size.there_and_back(chosen.seconds); });
    for (std::size_t line = 0; line < 2; ++line)
      std::printf("%6zu %-10s %12.2f %12.2f %12.2f\n", mib, line == 0 ? "copies" : "feedline",
                  rates.at(line)[0] / 1e9, rates.at(line)[1] / 1e9, rates.at(line)[2] / 1e9);
    std::printf("%6zu %-10s %10.1f %% %10.1f %% %10.1f %%\n", mib, "share",
                100 * rates[1][0] / rates[0][0], 100 * rates[1][1] / rates[0][1],
                100 * rates[1][2] / rates[0][2]);
    std::fflush(stdout);
  }
  std::printf("\na push of 4 bytes takes its thread %.2f us\n", push_microseconds(chosen));
  found.write(chosen.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{
      "Results back to the CPU while batches go to the GPU, beside plain copies"};
  options chosen;
  add_common_options(line, chosen);
  line.add_option("--mib", chosen.mib, "sizes of a batch and its result, MiB").between(1, 1024);
  line.add_option("--slots", chosen.slots, "of the result ring");
  line.add_option("--readers", chosen.readers, "reader threads; -1: automatic");
  return run_program(line, argc, argv, has_gpu, [&] { run(chosen); });
}
