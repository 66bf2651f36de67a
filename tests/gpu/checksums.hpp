#pragma once

#include <feedline/batch/batch.hpp>

#include "cuda/check.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::test {

/// Loads the kernels below: else the first launch of each may wait for a gate that it is to come
/// before.
void load_checksum_kernels();
/// Issues a kernel that reads a batch's "row" through mdspans and writes a number for each sample,
/// which depends on each byte and its index.
void issue_checksums(const tensor_view& rows, std::uint64_t* out, cudaStream_t stream);
/// Issues a kernel that turns over all bits of a batch's "row", through mdspans.
void issue_inversion(const tensor_view& rows, cudaStream_t stream);

/// The number of a row in host memory.
[[nodiscard]] inline std::uint64_t checksum(std::span<const std::byte> row) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    sum += (i + 1) * std::to_integer<std::uint64_t>(row[i]);
  return sum;
}

/// Lets kernels look at batches of identity data, in the order of `samples`, on given streams.
class checksum_recorder {
 public:
  explicit checksum_recorder(std::uint64_t samples, std::size_t row_bytes)
      : samples_{samples}, row_bytes_{row_bytes} {
    load_checksum_kernels();
    void* memory = nullptr;
    FEEDLINE_CUDA_CHECK(cudaHostAlloc(&memory, samples * sizeof(std::uint64_t),
                                      cudaHostAllocMapped | cudaHostAllocPortable));
    seen_ = static_cast<std::uint64_t*>(memory);
    for (std::uint64_t i = 0; i < samples; ++i) seen_[i] = 0;
  }
  checksum_recorder(const checksum_recorder&) = delete;
  checksum_recorder& operator=(const checksum_recorder&) = delete;
  ~checksum_recorder() { FEEDLINE_CUDA_LOG(cudaFreeHost(seen_)); }

  /// Issues the look at a batch of sequential samples; the batch may be destroyed right after.
  void operator()(const batch& batch, std::uint64_t batch_size, cudaStream_t stream) {
    issue_checksums(batch["row"], seen_ + batch.index() * batch_size, stream);
  }
  /// Waits for the GPU; samples whose rows were not their own.
  [[nodiscard]] std::vector<std::uint64_t> wrong() const {
    FEEDLINE_CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<std::uint64_t> wrong;
    std::vector<std::byte> row(row_bytes_);
    for (std::uint64_t i = 0; i < samples_; ++i) {
      write_identity_row(i, row);
      if (seen_[i] != checksum(row)) wrong.push_back(i);
    }
    return wrong;
  }

 private:
  std::uint64_t samples_;
  std::size_t row_bytes_;
  std::uint64_t* seen_ = nullptr;
};

}  // namespace feedline::test
