#include "cuda/side_stream.hpp"

#include "cuda/check.hpp"

#include <new>
#include <utility>

namespace feedline::detail {

side_stream::side_stream(std::shared_ptr<cuda_context> context) : context_{std::move(context)} {
  FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  const cudaError_t made = cudaEventCreateWithFlags(&done_, cudaEventDisableTiming);
  if (made != cudaSuccess) FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream_));
  FEEDLINE_CUDA_CHECK(made);
}

side_stream::~side_stream() {
  const cuda_current_device current{*context_, std::nothrow};
  FEEDLINE_CUDA_LOG(cudaStreamSynchronize(stream_));
  FEEDLINE_CUDA_LOG(cudaEventDestroy(done_));
  FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream_));
}

void side_stream::join(cudaStream_t other) {
  FEEDLINE_CUDA_CHECK(cudaEventRecord(done_, stream_));
  FEEDLINE_CUDA_CHECK(cudaStreamWaitEvent(other, done_));
}

}  // namespace feedline::detail
