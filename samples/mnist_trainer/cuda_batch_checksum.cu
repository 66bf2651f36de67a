#include "cuda_batch_checksum.cuh"

#include <utility>

namespace mnist {
namespace {

constexpr unsigned warp_threads = 32;

/// A thread a word; each warp adds up its own before it touches the common sum.
__global__ void add_hashes(digits_view batch, std::size_t pixels, std::uint64_t position,
                           unsigned long long* sum) {
  const std::size_t words = words_per_digit(pixels);
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t digit = thread / words;
  unsigned long long hash = 0;
  if (digit < batch.count)
    hash = word_hash(position + digit, batch.images + digit * pixels, pixels, batch.labels[digit],
                     thread % words);
  for (unsigned step = warp_threads / 2; step > 0; step /= 2)
    hash += __shfl_down_sync(0xffffffffU, hash, step);
  if (threadIdx.x % warp_threads == 0) atomicAdd(sum, hash);
}

}  // namespace

cuda_batch_checksum::cuda_batch_checksum(std::size_t pixels,
                                         std::shared_ptr<const cuda_stream> stream)
    : pixels_{pixels}, stream_{std::move(stream)}, sum_{1, *stream_} {}

void cuda_batch_checksum::add(const digits_view& batch) {
  const std::size_t words = batch.count * words_per_digit(pixels_);
  add_hashes<<<blocks_for(words), block_threads, 0, stream_->get()>>>(batch, pixels_, position_,
                                                                      sum_.data());
  FEEDLINE_SAMPLE_CHECK(cudaGetLastError());
  position_ += batch.count;
}

std::uint64_t cuda_batch_checksum::value() {
  return sum_.first(*stream_);
}

}  // namespace mnist
