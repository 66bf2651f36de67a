/// A user's kernel breaks the GPU's context in the middle of an epoch. The loader must say so, and
/// end. Arguments: the placement, and how many readers. Prints the loader's report. Its exit
/// status: 0: all is well, 3: there is no GPU, and others say what was wrong.

#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/broken_kernel.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace {

using namespace feedline;

constexpr int wrong = 1;
constexpr int no_gpu = 3;
constexpr int no_failure = 4;
constexpr int no_cuda_error = 5;
constexpr int failure_is_forgotten = 6;

placement named(std::string_view name) {
  if (name == "gather") return placement::gather;
  if (name == "resident") return placement::resident;
  return placement::stream;
}

bool is_cuda_error(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const cuda_error& refusal) {
    return refusal.code() == cudaErrorIllegalAddress;
  } catch (...) {
    return false;
  }
}

/// Errors of a consumer that continues after such a kernel.
int consume(loader& loader, cudaStream_t stream) {
  for (std::uint64_t epoch = 0; epoch < 1000; ++epoch) {
    auto range = loader.epoch(epoch, stream_ref{stream});
    try {
      for (std::uint64_t count = 0; auto taken = range.next(); ++count) {
        if (epoch == 0 && count == 3) test::break_context(stream);
      }
    } catch (const stage_error& failure) {
      std::printf("%s\n", failure.what());
      if (!is_cuda_error(failure.cause())) return no_cuda_error;
      try {
        (void)range.next();
      } catch (const stage_error&) {
        return 0;
      }
      return failure_is_forgotten;
    }
  }
  return no_failure;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return wrong;
  ::alarm(60);  // a program that hangs is ended by a signal
  try {
    if (cuda_device_count() == 0) return no_gpu;
    cudaStream_t stream = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return wrong;
    loader loader{test::make_identity_rows(4096, 1024),
                  shuffle{.seed = 1},
                  make_cuda_device(0),
                  {.batch_size = 16,
                   .readers = std::atoi(arguments[2]),
                   .placement = named(arguments[1]),
                   .expert = {.batches_per_slot = 1}}};
    return consume(loader, stream);
  } catch (
      const cuda_error& refusal) {  // where the consumer's own call meets it, at an epoch's begin
    std::printf("%s\n", refusal.what());
    return refusal.code() == cudaErrorIllegalAddress ? 0 : no_cuda_error;
  } catch (const std::exception& exception) {
    std::printf("%s\n", exception.what());
    return wrong;
  }
}
