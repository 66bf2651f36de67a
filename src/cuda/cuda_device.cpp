#include <feedline/cuda/cuda_device.hpp>
#include <feedline/error.hpp>

#include "cuda/cuda_check.hpp"
#include "cuda/cuda_current_device.hpp"

#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <string>

namespace feedline {
namespace {

using detail::cuda_current_device;

cudaStream_t native(stream_ref stream) noexcept {
  return static_cast<cudaStream_t>(stream.get());
}

cudaEvent_t native(event_handle event) noexcept {
  return reinterpret_cast<cudaEvent_t>(event);
}

std::string name_of(int ordinal) {
  cudaDeviceProp properties{};
  FEEDLINE_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  return "cuda:" + std::to_string(ordinal) + " " + properties.name;
}

/// Allocates with `call`; turns CUDA's refusal for want of memory into out_of_memory.
template <class Call>
void* allocate_with(Call&& call, memory_kind kind, std::size_t bytes, const std::string& device) {
  void* memory = nullptr;
  const cudaError_t status = call(&memory);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw out_of_memory{
        bytes, kind,
        device + " has no " + std::to_string(bytes) + " bytes of " + std::string{to_string(kind)} +
            (kind == memory_kind::staging ? " (pinned host)" : "") +
            " memory: lower batches_per_slot, the number of slots, or set a budget (CUDA: " +
            cudaGetErrorString(status) + ")"};
  }
  FEEDLINE_CUDA_CHECK(status);
  return memory;
}

class cuda_device final : public device {
 public:
  explicit cuda_device(int ordinal) : ordinal_{ordinal}, name_{name_of(ordinal)} {}

  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = name_, .reads_staging = false};
  }

  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    const cuda_current_device current{ordinal_};
    const auto call = [&](void** memory) {
      return kind == memory_kind::staging ? cudaHostAlloc(memory, bytes, cudaHostAllocDefault)
                                          : cudaMalloc(memory, bytes);
    };
    void* memory = allocate_with(call, kind, bytes, name_);
    try {
      zero(kind, memory, bytes);
    } catch (...) {
      free(kind, memory, bytes);
      throw;
    }
    return memory;
  }

  void free(memory_kind kind, void* memory, std::size_t) noexcept override {
    if (kind == memory_kind::staging) {
      FEEDLINE_CUDA_LOG(cudaFreeHost(memory));
    } else {
      FEEDLINE_CUDA_LOG(cudaFree(memory));
    }
  }

  [[nodiscard]] stream_ref make_stream() override {
    const cuda_current_device current{ordinal_};
    cudaStream_t stream = nullptr;
    FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream_ref::from_raw(stream);
  }
  void destroy_stream(stream_ref stream) noexcept override {
    FEEDLINE_CUDA_LOG(cudaStreamDestroy(native(stream)));
  }

  [[nodiscard]] event_handle make_event() override {
    const cuda_current_device current{ordinal_};
    cudaEvent_t event = nullptr;
    // Blocking: who syncs on it sleeps. No timing: it is cheaper to record.
    FEEDLINE_CUDA_CHECK(
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
    return static_cast<event_handle>(reinterpret_cast<std::uintptr_t>(event));
  }
  void destroy_event(event_handle event) noexcept override {
    FEEDLINE_CUDA_LOG(cudaEventDestroy(native(event)));
  }

  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    const cuda_current_device current{ordinal_};
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, native(stream)));
  }

  // The current device decides what cudaStreamLegacy and cudaStreamPerThread mean, so it is set for
  // each of these too.
  void record(event_handle event, stream_ref stream) override {
    const cuda_current_device current{ordinal_};
    FEEDLINE_CUDA_CHECK(cudaEventRecord(native(event), native(stream)));
  }
  void wait(stream_ref stream, event_handle event) override {
    const cuda_current_device current{ordinal_};
    FEEDLINE_CUDA_CHECK(cudaStreamWaitEvent(native(stream), native(event), cudaEventWaitDefault));
  }

  [[nodiscard]] bool is_done(event_handle event) override {
    const cudaError_t status = cudaEventQuery(native(event));
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();  // an answer, but sticky all the same
      return false;
    }
    FEEDLINE_CUDA_CHECK(status);
    return true;
  }
  void sync(event_handle event) override {
    FEEDLINE_CUDA_CHECK(cudaEventSynchronize(native(event)));
  }

  void check(stream_ref stream) const override {
    if (!stream) {
      throw usage_error{name_ + " needs the stream that its batches are consumed on: " +
                        "call loader.epoch(n, feedline::stream_ref{your_stream})"};
    }
    const cuda_current_device current{ordinal_};
    int owner = ordinal_;
    if (native(stream) != cudaStreamLegacy && native(stream) != cudaStreamPerThread) {
      FEEDLINE_CUDA_CHECK(cudaStreamGetDevice(native(stream), &owner));
    }
    if (owner != ordinal_) {
      throw usage_error{"the stream belongs to cuda:" + std::to_string(owner) +
                        ", the loader's device is " + name_ + ": use a stream of that one"};
    }
  }

 private:
  static void zero(memory_kind kind, void* memory, std::size_t bytes) {
    if (kind == memory_kind::staging) {
      std::memset(memory, 0, bytes);
      return;
    }
    // On a stream of its own: nothing of the pipeline's waits for the default stream, or holds it
    // up.
    cudaStream_t stream = nullptr;
    FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const cudaError_t set = cudaMemsetAsync(memory, 0, bytes, stream);
    const cudaError_t done = cudaStreamSynchronize(stream);
    FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream));
    FEEDLINE_CUDA_CHECK(set);
    FEEDLINE_CUDA_CHECK(done);
  }

  const int ordinal_;
  const std::string name_;
};

}  // namespace

device_ptr make_cuda_device(int ordinal) {
  const int count = cuda_device_count();
  if (ordinal < 0 || ordinal >= count) {
    throw usage_error{"there is no GPU number " + std::to_string(ordinal) +
                      ": this process can use " + std::to_string(count) +
                      (count == 0 ? " (is there a driver, and is CUDA_VISIBLE_DEVICES set?)"
                                  : ", numbered from 0")};
  }
  return std::make_shared<cuda_device>(ordinal);
}

int cuda_device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

}  // namespace feedline
