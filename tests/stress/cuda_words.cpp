/// Batches on a GPU, each compared word by word by a kernel on the consumer's stream, with random
/// delays at every stage: on the host as in delays.cpp, in the copies and in the consumer's work on
/// the GPU. Each round draws a loader; rounds take the placements in turn.
///
///     feedline_stress_cuda_words --batches 1000000
///     feedline_stress_cuda_words --seed 1234 --rounds 1   # one round again
///
/// One of these must end with differences, which shows that it can fail:
///
///     feedline_stress_cuda_words --batches 20000 --flip 1000       # a bit in each 1000th
///     feedline_stress_cuda_words --batches 20000 --forget-waits 2  # a stream wait in two

#include "stress/cuda_words.hpp"

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>

#include "cuda/check.hpp"
#include "stress/slow_stages.hpp"
#include "support/command_line.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t pause_cycles = 50'000;  // some 30 µs

struct settings {
  std::uint64_t batches = 1'000'000;
  std::uint64_t seed = std::random_device{}();
  std::uint64_t rounds = UINT64_MAX;
  std::uint64_t flip = 0;
  std::uint64_t forget_waits = 0;
};

/// The GPU: its calls are late on the host, and its copies begin late on their stream.
class paused_device final : public slow_device {
 public:
  paused_device(delays& by, std::uint64_t forget_waits)
      : slow_device{make_cuda_device(0), by}, by_{by}, forget_waits_{forget_waits} {}

  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    pause(stream);
    slow_device::copy(to, from, bytes, stream);
  }
  void assemble(const assembly& work, stream_ref stream) override {
    pause(stream);
    slow_device::assemble(work, stream);
  }
  void wait(stream_ref stream, event_handle event) override {
    if (forget_waits_ != 0 && by_.one_in(forget_waits_)) return;
    slow_device::wait(stream, event);
  }

 private:
  void pause(stream_ref stream) {
    if (by_.one_in(16)) pause_stream(pause_cycles, static_cast<cudaStream_t>(stream.get()));
  }

  delays& by_;
  std::uint64_t forget_waits_;
};

/// The consumer's stream, and the counts of its kernels.
class checker {
 public:
  checker() {
    FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    FEEDLINE_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&counts_), sizeof(word_counts)));
    const word_counts none;
    FEEDLINE_CUDA_CHECK(cudaMemcpy(counts_, &none, sizeof none, cudaMemcpyHostToDevice));
  }
  checker(const checker&) = delete;
  checker& operator=(const checker&) = delete;
  ~checker() {
    FEEDLINE_CUDA_LOG(cudaFree(counts_));
    FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] stream_ref stream() const noexcept { return stream_ref{stream_}; }

  /// Issues the comparison of a batch with the samples that it must hold.
  /// @param pause Whether the GPU takes its time before.
  /// @param flip Whether one bit is changed before.
  void issue(const batch& taken, const std::vector<sample_index>& expected, bool pause, bool flip) {
    const tensor_view rows = taken["row"];
    const tensor_view notes = taken["note"];
    const bool floats = notes.bytes().size() == taken.size() * sizeof(float);
    compared_batch work{
        .number = batches_++,
        .samples = static_cast<std::uint32_t>(taken.size()),
        .row_words = static_cast<std::uint32_t>(rows.bytes().size() / taken.size() / 8),
        .ids = taken["id"].data<std::uint64_t>(),
        .rows = reinterpret_cast<const std::uint64_t*>(rows.bytes().data()),
        .notes = notes.bytes().data(),
        .notes_are_floats = floats,
        .expected = {}};
    for (std::size_t i = 0; i < expected.size(); ++i) work.expected.at(i) = expected[i].value;
    if (flip) {
      const std::uint64_t words = std::uint64_t{work.samples} * work.row_words;
      flip_bit(const_cast<std::uint64_t*>(work.rows) + work.number % words,
               static_cast<unsigned>(work.number % 64), stream_);
      ++flipped_;
    }
    compare_words(work, pause ? pause_cycles : 0, counts_, stream_);
    words_ += std::uint64_t{work.samples} * (work.row_words + 2);
  }

  /// Waits for the kernels. @return Their total counts.
  /// @throws std::runtime_error if they did not look at each word.
  [[nodiscard]] word_counts counts() const {
    word_counts now;
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream_));
    FEEDLINE_CUDA_CHECK(cudaMemcpy(&now, counts_, sizeof now, cudaMemcpyDeviceToHost));
    if (now.compared != words_) throw std::runtime_error{"words that no kernel looked at"};
    return now;
  }
  [[nodiscard]] std::uint64_t batches() const noexcept { return batches_; }
  [[nodiscard]] std::uint64_t flipped() const noexcept { return flipped_; }

 private:
  cudaStream_t stream_ = nullptr;
  word_counts* counts_ = nullptr;
  std::uint64_t batches_ = 0;
  std::uint64_t flipped_ = 0;
  std::uint64_t words_ = 0;
};

/// The ways on which samples reach a GPU.
constexpr std::array gpu_ways{data_path::stream,   data_path::transformed, data_path::gather,
                              data_path::resident, data_path::cached_half, data_path::cached_few};

/// A loader from its making to its end.
void run(std::uint64_t seed, const settings& asked, checker& check, delay_counts& counts) {
  std::mt19937_64 engine{seed};
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>{low, high}(engine);
  };
  delays delay{seed, std::uint64_t{2} << between(0, 9), counts};
  const std::uint64_t samples = between(1, 100'000);
  const std::uint64_t epochs = between(1, 8);
  const std::size_t row_bytes = 8 * between(1, 32);
  const auto read = [&](auto) { delay(late::read); };
  const auto rows = make_identity_rows(samples, row_bytes);
  const data_path through = gpu_ways.at(seed % gpu_ways.size());
  const bool tells_rows = through == data_path::gather || seed / gpu_ways.size() % 4 == 0;
  const auto data = tells_rows ? gated_rows(rows, read) : gated(rows, read);
  const slow_sampler order{&delay, {.seed = seed}};
  const auto device = std::make_shared<paused_device>(delay, asked.forget_waits);
  loader_options options{.batch_size = between(1, max_compared_samples),
                         .epochs = epochs,
                         .readers = static_cast<int>(between(0, 8)),
                         .expert = {.batches_per_slot = between(0, 3)}};
  loader loader{data, order, device, on_data_path(through, *data, options)};
  std::optional<late_end> ender;
  if (between(0, 1) == 0) ender.emplace(delay);

  std::vector<sample_index> expected;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    auto range = loader.epoch(epoch, check.stream());
    std::uint64_t next = 0;
    while (auto taken = range.next()) {
      expected.resize(taken->size());
      order.order.indices(samples, epoch, position{next}, expected);
      next += taken->size();
      check.issue(*taken, expected, delay.one_in(16),
                  asked.flip != 0 && check.batches() % asked.flip == asked.flip - 1);
      delay(late::consumer);
      if (ender) ender->give(std::move(*taken));
    }
    if (next != samples) throw std::runtime_error{"an epoch that is not whole"};
  }
}

int run_all(const settings& asked) {
  checker check;
  delay_counts counts{};
  std::array<std::uint64_t, gpu_ways.size()> by_way{};
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  bool failed = false;
  for (; done < asked.rounds && check.batches() < asked.batches && !failed; ++done) {
    ::alarm(300);  // a round that hangs is ended by a signal
    const std::uint64_t seed = asked.seed + done;
    const std::uint64_t before = check.batches();
    run(seed, asked, check, counts);
    by_way.at(seed % gpu_ways.size()) += check.batches() - before;
    const word_counts now = check.counts();
    if (now.different == 0 || asked.flip != 0) continue;
    failed = true;
    std::printf(
        "words: FAILED: %llu words differ, first in batch %llu of a round by %s (again: "
        "--seed %llu --rounds 1)\n",
        now.different, now.first_batch - before,
        to_string(gpu_ways.at(seed % gpu_ways.size())).c_str(),
        static_cast<unsigned long long>(seed));
  }
  const word_counts all = check.counts();
  if (asked.flip != 0) {
    failed = true;
    std::printf("words: FAILED: %llu words differ, %llu were changed\n", all.different,
                static_cast<unsigned long long>(check.flipped()));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf(
      "words: %llu batches of %llu loaders, %llu words, %llu differences, %.1f s, from seed "
      "%llu\nwords: batches:",
      static_cast<unsigned long long>(check.batches()), static_cast<unsigned long long>(done),
      all.compared, all.different, took.count(), static_cast<unsigned long long>(asked.seed));
  for (std::size_t i = 0; i < gpu_ways.size(); ++i) {
    std::printf("%s %s %llu", i == 0 ? "" : ",", to_string(gpu_ways[i]).c_str(),
                static_cast<unsigned long long>(by_way[i]));
  }
  std::printf("\nwords: delayed calls: %s\n", to_string(counts).c_str());
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char* argv[]) {
  command_line line{"Batches on a GPU, compared word by word"};
  settings asked;
  line.add_option("--batches", asked.batches, "to compare, at least");
  line.add_option("--seed", asked.seed, "seed of the first round; each next one's is one more");
  line.add_option("--rounds", asked.rounds, "rounds at most");
  line.add_option("--flip", asked.flip, "change a bit in one of so many batches");
  line.add_option("--forget-waits", asked.forget_waits, "leave out one in so many stream waits");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  if (cuda_device_count() == 0) {
    std::puts("[feedline skip] no GPU");
    return 0;
  }
  try {
    return run_all(asked);
  } catch (const std::exception& failure) {
    std::printf("words: FAILED: %s\n", failure.what());
    return 1;
  }
}
