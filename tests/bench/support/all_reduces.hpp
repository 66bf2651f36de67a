#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace feedline::bench {

/// NCCL's all-reduces of floats over all GPUs of this process, back to back, each GPU's on a
/// stream of its own: what a training does beside its loaders. Thread-safe.
class all_reduces {
 public:
  /// Over GPUs 0 to `gpus` - 1. Allocates; issues nothing yet.
  /// @param bytes Bytes of each GPU in one all-reduce.
  /// @throws std::runtime_error with NCCL's words; device_error.
  all_reduces(int gpus, std::size_t bytes);
  all_reduces(const all_reduces&) = delete;
  all_reduces& operator=(const all_reduces&) = delete;
  /// Waits for those that were issued.
  ~all_reduces();

  /// Issues them from now on, by a thread of its own, a few ahead. Does nothing if it does already.
  void start();
  /// How many are done, on all GPUs. @throws what ended them.
  [[nodiscard]] std::uint64_t done() const;

 private:
  class engine;
  std::unique_ptr<engine> engine_;
};

}  // namespace feedline::bench
