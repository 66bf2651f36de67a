#pragma once

#include "support/datasets/gated_dataset.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace feedline::test {

/// A gate that reads of one sample wait at. Reads may outlive the test's loader, so the dataset
/// shares it.
class read_gate {
 public:
  void pass() {
    reached_.store(true);
    reached_.notify_all();
    open_.wait(false);
  }
  /// Blocks until a read has come to it.
  void await_reader() const { reached_.wait(false); }
  void open() {
    open_.store(true);
    open_.notify_all();
  }

 private:
  std::atomic<bool> reached_{false};
  std::atomic<bool> open_{false};
};

/// A dataset of which the reads of one sample hang until the gate is opened; at the end of this at
/// the latest.
struct hanging_dataset {
  hanging_dataset(dataset_ptr of, std::uint64_t sample)
      : data{gated(std::move(of), [at = gate, sample](auto samples) {
          if (std::ranges::count(samples, sample, &sample_index::value) != 0) at->pass();
        })} {}
  hanging_dataset(const hanging_dataset&) = delete;
  hanging_dataset& operator=(const hanging_dataset&) = delete;
  ~hanging_dataset() { gate->open(); }

  std::shared_ptr<read_gate> gate = std::make_shared<read_gate>();
  dataset_ptr data;
};

}  // namespace feedline::test
