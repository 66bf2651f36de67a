#include "cuda_wait_meter.cuh"

#include <cstdio>
#include <utility>

namespace mnist {
namespace {

/// Batches that may be on their way before the host must wait for the GPU to measure the oldest.
constexpr std::size_t ring_size = 1024;

}  // namespace

cuda_wait_meter::cuda_wait_meter(std::shared_ptr<const cuda_stream> stream)
    : stream_{std::move(stream)}, marks_(ring_size) {
  try {
    for (mark& pair : marks_) {
      FEEDLINE_SAMPLE_CHECK(cudaEventCreateWithFlags(&pair.before, cudaEventBlockingSync));
      FEEDLINE_SAMPLE_CHECK(cudaEventCreateWithFlags(&pair.after, cudaEventBlockingSync));
    }
  } catch (...) {
    destroy();
    throw;
  }
}

cuda_wait_meter::~cuda_wait_meter() {
  destroy();
}

void cuda_wait_meter::destroy() noexcept {
  for (const mark& pair : marks_)
    for (cudaEvent_t event : {pair.before, pair.after})
      if (event != nullptr && cudaEventDestroy(event) != cudaSuccess)
        std::fprintf(stderr, "mnist_trainer: cudaEventDestroy failed\n");
}

void cuda_wait_meter::begin() {
  if (pending_ == marks_.size()) count_oldest();
  FEEDLINE_SAMPLE_CHECK(cudaEventRecord(marks_[next_].before, stream_->get()));
}

void cuda_wait_meter::end() {
  FEEDLINE_SAMPLE_CHECK(cudaEventRecord(marks_[next_].after, stream_->get()));
  next_ = (next_ + 1) % marks_.size();
  ++pending_;
}

void cuda_wait_meter::count_oldest() {
  const mark& oldest = marks_[(next_ + marks_.size() - pending_) % marks_.size()];
  FEEDLINE_SAMPLE_CHECK(cudaEventSynchronize(oldest.after));
  float milliseconds = 0.0F;
  FEEDLINE_SAMPLE_CHECK(cudaEventElapsedTime(&milliseconds, oldest.before, oldest.after));
  waited_ += std::chrono::duration<double, std::milli>{milliseconds};
  --pending_;
}

wait_meter::seconds cuda_wait_meter::take() {
  while (pending_ > 0) count_oldest();
  return std::exchange(waited_, seconds{});
}

}  // namespace mnist
