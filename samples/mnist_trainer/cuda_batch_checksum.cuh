#pragma once

#include "batch_checksum.hpp"
#include "cuda_support.cuh"

#include <memory>

namespace mnist {

/// For batches in the current GPU's memory: one kernel a batch, ahead of the network's.
class cuda_batch_checksum final : public batch_checksum {
 public:
  cuda_batch_checksum(std::size_t pixels, std::shared_ptr<const cuda_stream> stream);

  void add(const digits_view& batch) override;
  [[nodiscard]] std::uint64_t value() override;

 private:
  std::size_t pixels_;
  std::shared_ptr<const cuda_stream> stream_;
  device_array<unsigned long long> sum_;
  std::uint64_t position_ = 0;
};

}  // namespace mnist
