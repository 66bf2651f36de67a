#pragma once

#include <feedline/dataset/chunking.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/statistics/statistics.hpp>
#include <feedline/statistics/trace.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace doctor {

using seconds = std::chrono::duration<double>;

/// How the samples lie, and how they are read: what the dataset says of itself.
struct layout_facts {
  std::vector<feedline::field> fields;  ///< fields as opened
  std::uint64_t samples = 0;
  std::uint64_t sample_bytes = 0;
  feedline::chunking chunking = {};
  bool in_memory = false;        ///< all samples lie in memory
  bool serialized = false;       ///< one thread at a time reads
  bool varies_by_epoch = false;  ///< samples are not the same in each epoch
  seconds opening{};
  std::string way;  ///< how it is read, and why

  [[nodiscard]] std::uint64_t chunks() const {
    return (samples + chunking.samples - 1) / chunking.samples;
  }
  /// Samples come in chunks that are read or decoded as one.
  [[nodiscard]] bool in_chunks() const { return chunking.samples > 1 && !in_memory; }
  /// The dataset keeps chunks that it has read, but not all of them.
  [[nodiscard]] bool forgets_chunks() const { return in_chunks() && chunking.kept < chunks(); }
};

/// Rate of some workers over a time.
struct work_rate {
  int workers = 1;         ///< threads that read blocks, or readers of a loader
  std::uint64_t done = 0;  ///< bytes, or samples that were read, or delivered if the GPU decodes
  seconds took{};
  [[nodiscard]] double rate() const {
    return took.count() <= 0 ? 0 : static_cast<double>(done) / took.count();
  }
};

/// Throughput of the storage, read directly, without feedline and the page cache.
struct storage_facts {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool local = false;                 ///< on a file system of this machine
  std::optional<double> cached = {};  ///< share in the page cache; empty: not known
  std::vector<work_rate> rates;       ///< one thread, and several
  std::string not_measured;           ///< why; empty: measured
};

/// One thread that reads samples, and does nothing else.
struct reading_facts {
  std::string order;  ///< "in order", "shuffled"
  std::uint64_t samples = 0;
  seconds took{};
  double cpu_share = 0;  ///< share of a read on a core; NaN if unknown
  [[nodiscard]] seconds of_sample() const {
    return samples == 0 ? seconds{} : took / static_cast<double>(samples);
  }
};

/// Loaders whose blocks the GPU decodes, run without a consumer's step.
struct decoder_facts {
  std::optional<std::uint64_t> window;  ///< chunks of `shuffle{.within = …}`; empty: a full shuffle
  std::vector<work_rate> readers;
  std::string not_measured;  ///< why there is none; empty: there are
};

/// The GPU, and copies to it from pinned memory.
struct device_facts {
  int ordinal = 0;  ///< CUDA's ordinal
  std::string name;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  std::size_t copied_bytes = 0;  ///< bytes of each copy
  double copy_rate = 0;          ///< bytes a second
};

/// A part of a loop.
struct loop_part {
  std::uint64_t batches = 0;  ///< batches taken
  seconds took{};
  feedline::loader_statistics seen = {};
  feedline::loader_verdict verdict = {};

  [[nodiscard]] seconds of_batch() const {
    return batches == 0 ? seconds{} : took / static_cast<double>(batches);
  }
  /// Share of the consumer's time.
  [[nodiscard]] double exposed() const {
    const seconds time = seen.consumer.time();
    return time.count() <= 0 ? 0 : std::min(1.0, seconds{seen.exposed} / time);
  }
};

/// A loop over a loader's batches; statistics start after its first batch.
struct loop_facts : loop_part {
  std::string name;   ///< "as it is", "as recommended"
  std::string order;  ///< order of its samples
  feedline::loader_plan plan;
  std::uint64_t samples = 0;            ///< counted as in `work_rate`
  std::optional<loop_part> later = {};  ///< later epochs, if measured separately
  feedline::trace trace = {};

  /// Figures that represent most of a long run.
  [[nodiscard]] seconds lasting() const { return later ? later->of_batch() : of_batch(); }
};

/// Samples that could not be read, and why.
struct damage {
  std::optional<std::uint64_t> sample;
  std::string message;
};

/// All that was measured. Pure values: advice and reports are made of them alone.
struct findings {
  layout_facts layout;
  std::uint64_t batch_size = 1;
  std::optional<std::chrono::nanoseconds> step = {};
  unsigned cores = 1;
  std::uint64_t host_free_bytes = 0;  ///< available memory of the machine
  storage_facts storage = {};
  std::vector<reading_facts> reading = {};
  std::string readers_order;            ///< order that `readers` used
  std::vector<work_rate> readers = {};  ///< loaders without a consumer's step
  std::optional<device_facts> device = {};
  std::string no_device;                          ///< why there is none
  std::optional<std::size_t> device_budget = {};  ///< bytes asked for
  decoder_facts decoder = {};                     ///< nothing is in it where there is no GPU
  std::vector<loop_facts> loops = {};
  std::string not_run;  ///< why the loop as recommended was not; empty: it was
  std::vector<damage> damages = {};
};

}  // namespace doctor
