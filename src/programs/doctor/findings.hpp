#pragma once

#include <feedline/dataset/chunking.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/statistics/statistics.hpp>
#include <feedline/statistics/trace.hpp>

#include "programs/doctor/decoding/chunk_use.hpp"
#include "programs/doctor/decoding/images.hpp"

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
  bool in_memory = false;              ///< all samples lie in memory
  bool serialized = false;             ///< one thread at a time reads
  bool varies_by_epoch = false;        ///< samples are not the same in each epoch
  std::vector<chunk_use> arrays = {};  ///< arrays in chunks that samples are windows of
  std::vector<image_decoding> images = {};
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

/// Rate of a loader with some readers.
struct work_rate {
  int workers = 1;         ///< readers; 0: the loop's own thread
  std::uint64_t done = 0;  ///< samples that were read
  seconds took{};
  [[nodiscard]] double rate() const {
    return took.count() <= 0 ? 0 : static_cast<double>(done) / took.count();
  }
};

/// The files, and where they are.
struct storage_facts {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool local = false;                 ///< on a file system of this machine
  std::optional<double> cached = {};  ///< share in the page cache; empty: not known
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

/// A loop over a loader's batches.
struct loop_facts {
  std::string name;   ///< "as it is", "as recommended"
  std::string order;  ///< order of its samples
  feedline::loader_plan plan;
  std::uint64_t batches = 0;  ///< batches taken
  seconds took{};
  feedline::loader_statistics seen = {};
  feedline::loader_verdict verdict = {};
  std::uint64_t samples = 0;  ///< counted as in `work_rate`
  bool later = false;         ///< only epochs after the first one were measured
  feedline::trace trace = {};

  [[nodiscard]] seconds of_batch() const {
    return batches == 0 ? seconds{} : took / static_cast<double>(batches);
  }
  /// Share of the consumer's time.
  [[nodiscard]] double exposed() const {
    const seconds time = seen.consumer.time();
    return time.count() <= 0 ? 0 : std::min(1.0, seconds{seen.exposed} / time);
  }
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
  work_rate in_order = {};              ///< one thread that reads samples in order
  std::string readers_order;            ///< order that `readers` used
  std::vector<work_rate> readers = {};  ///< loaders without a consumer's step
  std::optional<device_facts> device = {};
  std::string no_device;                          ///< why there is none
  std::optional<std::size_t> device_budget = {};  ///< bytes asked for
  std::vector<loop_facts> loops = {};
  std::string not_run;  ///< why the loop as recommended was not; empty: it was
  std::vector<damage> damages = {};
};

}  // namespace doctor
