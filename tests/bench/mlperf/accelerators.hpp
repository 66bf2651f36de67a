#pragma once

#include <feedline/dataset/dataset.hpp>

#include "bench/mlperf/workload.hpp"

#include <cstdint>

namespace feedline::bench {

/// How the system schedules the threads of loaders beside those of accelerators.
enum class thread_policy : std::uint8_t {
  other,  ///< alike
  batch,  ///< SCHED_BATCH: they do not interrupt accelerators when they wake up
  idle,   ///< SCHED_IDLE: they run where nothing else does
};

/// How a training is emulated.
struct emulation {
  int accelerators = 1;
  int readers = 1;  ///< threads for each accelerator; `automatic_readers`: the loader chooses
  thread_policy policy = thread_policy::other;
  std::uint64_t steps = 100;
  std::uint64_t request_bytes = 0;  ///< `expert_options::request_bytes`
  bool takes_batches = true;        ///< else steps have no batch: what the machine itself allows
  bool on_gpu = false;              ///< batches go to GPU 0, else they stay in host memory
  bool decodes_on_gpu = false;      ///< with `on_gpu`: the GPU decodes images
  std::uint64_t chunk_window = 0;   ///< order: a shuffle within this many chunks; 0: a full shuffle
};

/// Where steps spend time, in seconds: for each step the accelerator that took longest, on average
/// over all steps except the first.
struct step_parts {
  double start = 0;    ///< from the last accelerator's arrival at the barrier until this one runs
  double batch = 0;    ///< taking the next batch
  double stream = 0;   ///< waiting until it is on the GPU
  double compute = 0;  ///< sleeping longer than the time of computation
};

/// The outcome of a run.
struct measured {
  double utilisation = 0;  ///< mean of the accelerators
  double samples_per_second = 0;
  double cores = 0;  ///< CPU seconds of the process per second
  double seconds = 0;
  step_parts parts = {};
  bool is_sharded = false;  ///< each accelerator read a part of the samples, else all
};

/// Emulates a training on several accelerators in this process. Each has a thread and a loader. A
/// step takes a batch, waits until it is there, sleeps for the published time of computation, and
/// meets the other accelerators at a barrier, as gradients do. Accelerators read disjoint parts of
/// each pass over the samples if there are enough for a batch of each, else each reads all samples
/// in an order of its own. Passes follow each other until all steps are done.
/// @throws What a loader throws.
[[nodiscard]] measured emulate(const workload& of, const dataset_ptr& data, const emulation& how);

}  // namespace feedline::bench
