#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/index.hpp>
#include <feedline/loader/loader_plan.hpp>

#include "device/device_ring.hpp"
#include "reader/request.hpp"
#include "staging/staging_ring.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace feedline::detail {

/// Fills requests: asks the sampler which samples they are and the dataset to read them into the
/// staging slot. Threads: `fill` by any number of readers, `stop` by any thread.
class filler {
 public:
  /// Borrows plan and staging for its life.
  filler(const loader_plan& plan, dataset_ptr dataset, std::shared_ptr<const batch_format> format,
         staging_ring& staging);

  /// Fills one request and counts it as done; true if it was its slot's last. A read that fails
  /// marks the slot, no more: the transfer meets the mark when all before it was delivered.
  bool fill(request request);

  /// Requests that were not begun are not read any more.
  void stop() noexcept { stopping_.store(true); }

 private:
  void read(staging_slot& slot, std::uint64_t begin, std::uint64_t end);
  void read_within_batch(staging_slot& slot, std::uint64_t begin, std::uint64_t end);
  void fail(staging_slot& slot, std::uint64_t begin) noexcept;

  const loader_plan& plan_;
  dataset_ptr dataset_;
  std::shared_ptr<const batch_format> format_;
  staging_ring& staging_;
  const bool serialized_;
  std::mutex turn_;  ///< for datasets that are read by one thread at a time
  std::atomic<bool> stopping_{false};
};

}  // namespace feedline::detail
