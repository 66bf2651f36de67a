// Over 250 lines: the device seam's calls, each a few lines of CUDA, are one class.

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>

#include "cuda/assembly/assemble.hpp"
#include "cuda/check.hpp"
#include "cuda/context.hpp"
#include "cuda/decode/decoders.hpp"
#include "cuda/device_memory.hpp"
#include "cuda/memory_pool.hpp"
#include "cuda/pinned_memory.hpp"
#include "cuda/profiler_ranges.hpp"
#include "detail/cores.hpp"
#include "detail/threads.hpp"
#include "device/host_memory.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

using detail::cuda_current_device;

cudaStream_t native(stream_ref stream) noexcept {
  return static_cast<cudaStream_t>(stream.get());
}

cudaEvent_t native(event_handle event) noexcept {
  return reinterpret_cast<cudaEvent_t>(event);  // NOLINT(performance-no-int-to-ptr): a handle
}

std::string name_of(int ordinal) {
  cudaDeviceProp properties{};
  FEEDLINE_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  return "cuda:" + std::to_string(ordinal) + " " + properties.name;
}

std::size_t memory_of(int ordinal) {
  cudaDeviceProp properties{};
  FEEDLINE_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  return properties.totalGlobalMem;
}

/// Cores on the GPU's NUMA node; empty if the system does not report it.
detail::core_list cores_near(int ordinal) {
  char address[32] = {};  // address on the PCI bus
  const cudaError_t status = cudaDeviceGetPCIBusId(address, sizeof address, ordinal);
  if (status == cudaSuccess) return detail::cores_near("/", address);
  detail::clear_error(status);
  return {};
}

class cuda_device final : public device {
 public:
  explicit cuda_device(int ordinal)
      : ordinal_{ordinal},
        name_{name_of(ordinal)},
        has_pool_{detail::memory_pool::is_supported(ordinal)},
        memory_bytes_{memory_of(ordinal)},
        decodes_{detail::make_cuda_block_decoders(ordinal, name_, memory_bytes_)},
        near_cores_{cores_near(ordinal)} {}
  cuda_device(const cuda_device&) = delete;
  cuda_device& operator=(const cuda_device&) = delete;
  ~cuda_device() override {
    if (!pool_.is_made()) return;
    const cuda_current_device current{context_, std::nothrow};
    pool_.destroy();
  }

  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = name_,
            .reads_staging = false,
            .makes_packed_values = true,
            .id = {.kind = device_kind::cuda, .ordinal = ordinal_},
            .decodes = decodes_,
            .memory_bytes = memory_bytes_,
            .near_cores = near_cores_,
            .map_granularity = detail::page_bytes()};
  }

  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    void* memory = nullptr;
    detail::run_near(kind == memory_kind::staging ? near_cores_ : detail::core_list{}, [&] {
      const cuda_current_device current{context_};
      memory = kind == memory_kind::staging ? detail::allocate_pinned(bytes)
                                            : detail::allocate_on_gpu(bytes);
    });
    if (memory != nullptr) return memory;
    refuse(kind, bytes);
  }

  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    if (memory == nullptr) return;
    const cuda_current_device current{context_, std::nothrow};
    if (kind == memory_kind::staging) {
      detail::free_pinned(memory, bytes);
    } else {
      FEEDLINE_CUDA_LOG(cudaFree(memory));
    }
  }

  [[nodiscard]] void* allocate_short_lived(memory_kind kind, std::size_t bytes) override {
    if (kind == memory_kind::staging || !has_pool_) return allocate(kind, bytes);
    const cuda_current_device current{context_};
    if (void* const memory = pool_.allocate(bytes)) return memory;
    refuse(kind, bytes);
  }
  void free_short_lived(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    if (kind == memory_kind::staging || !has_pool_) return free(kind, memory, bytes);
    const cuda_current_device current{context_, std::nothrow};
    pool_.free(memory);
  }
  [[nodiscard]] std::optional<std::size_t> free_bytes(memory_kind kind) override {
    if (kind == memory_kind::staging) return detail::free_host_bytes();
    const cuda_current_device current{context_};
    std::size_t left = 0;
    std::size_t all = 0;
    FEEDLINE_CUDA_CHECK(cudaMemGetInfo(&left, &all));
    return left + pool_.idle_bytes();
  }

  [[nodiscard]] stream_ref make_stream() override { return make_stream_with(0); }
  [[nodiscard]] stream_ref make_high_priority_stream() override {
    const cuda_current_device current{context_};
    int least = 0;
    int greatest = 0;
    FEEDLINE_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    return make_stream_with(greatest);
  }
  void destroy_stream(stream_ref stream) noexcept override {
    const cuda_current_device current{context_, std::nothrow};
    FEEDLINE_CUDA_LOG(cudaStreamDestroy(native(stream)));
  }

  [[nodiscard]] event_handle make_event() override {
    return make_event_with(cudaEventDisableTiming);  // cheaper to record
  }
  void destroy_event(event_handle event) noexcept override {
    const cuda_current_device current{context_, std::nothrow};
    FEEDLINE_CUDA_LOG(cudaEventDestroy(native(event)));
  }

  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    const cuda_current_device current{context_};
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(stream)));
  }
  void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    const cuda_current_device current{context_};
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, native(stream)));
  }

  void assemble(const assembly& work, stream_ref stream) override {
    const cuda_current_device current{context_};
    detail::issue_assembly(work, native(stream));
  }

  [[nodiscard]] const std::byte* map(std::span<const std::byte> memory) override {
    const cuda_current_device current{context_};
    if (detail::map_memory(memory)) return memory.data();
    throw out_of_memory{memory.size(), memory_kind::staging,
                        name_ + " cannot pin " + std::to_string(memory.size()) +
                            " bytes of the dataset's memory: use placement stream, which pins " +
                            "only its slots"};
  }
  void unmap(std::span<const std::byte> memory) noexcept override {
    const cuda_current_device current{context_, std::nothrow};
    detail::unmap_memory(memory);
  }

  // The current device decides what cudaStreamLegacy and cudaStreamPerThread mean, and a thread
  // without one gets device 0 at its first call. So the device is set for each of these calls too.
  void record(event_handle event, stream_ref stream) override {
    const cuda_current_device current{context_};
    FEEDLINE_CUDA_CHECK(cudaEventRecord(native(event), native(stream)));
  }
  void wait(stream_ref stream, event_handle event) override {
    const cuda_current_device current{context_};
    FEEDLINE_CUDA_CHECK(cudaStreamWaitEvent(native(stream), native(event), cudaEventWaitDefault));
  }

  [[nodiscard]] bool is_done(event_handle event) override {
    const cuda_current_device current{context_};
    const cudaError_t status = cudaEventQuery(native(event));
    if (status == cudaErrorNotReady) {
      detail::clear_error(status);  // the status is an answer, not an error
      return false;
    }
    FEEDLINE_CUDA_CHECK(status);
    return true;
  }
  void sync(event_handle event) override {
    detail::poll_until([&] { return is_done(event); });
  }

  [[nodiscard]] bool tells_times() const noexcept override { return true; }
  [[nodiscard]] event_handle make_timed_event() override {
    return make_event_with(cudaEventDefault);
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> elapsed(event_handle begin,
                                                                event_handle end) override {
    const cuda_current_device current{context_};
    float milliseconds = 0;
    const cudaError_t status = cudaEventElapsedTime(&milliseconds, native(begin), native(end));
    if (status == cudaErrorNotReady) {
      detail::clear_error(status);  // the status is an answer, not an error
      return std::nullopt;
    }
    FEEDLINE_CUDA_CHECK(status);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<float, std::milli>{milliseconds});
  }

  void begin_thread() noexcept override { cuda_current_device::keep_for_this_thread(context_); }

  void begin_range(const char* name) noexcept override { ranges_.begin(name); }
  void end_range() noexcept override { ranges_.end(); }

  [[nodiscard]] bool is_capturing(stream_ref stream) override {
    const cuda_current_device current{context_};
    return is_capturing_now(stream);
  }

  /// The legacy stream waits for the per-thread streams of all threads.
  [[nodiscard]] stream_ref for_any_thread(stream_ref stream) const override {
    return native(stream) == cudaStreamPerThread ? stream_ref{cudaStreamLegacy} : stream;
  }

  void check(stream_ref stream) const override {
    if (!stream) {
      throw usage_error{
          name_ + " needs the stream that its batches are consumed on: call loader.epoch(n, " +
          "feedline::stream_ref{your_stream}); if yours is null, as the default stream of "
          "libtorch " +
          "is, it is the legacy default stream: call loader.epoch(n, " +
          "feedline::stream_ref{cudaStreamLegacy})"};
    }
    const cuda_current_device current{context_};
    int owner = ordinal_;
    if (native(stream) != cudaStreamLegacy && native(stream) != cudaStreamPerThread) {
      if (is_capturing_now(stream))
        throw usage_error{
            "the stream is being captured, so CUDA cannot tell which GPU it belongs to: use it "
            "with this device before the capture begins, or after it ends"};
      FEEDLINE_CUDA_CHECK(cudaStreamGetDevice(native(stream), &owner));
    }
    if (owner != ordinal_) {
      throw usage_error{"the stream belongs to cuda:" + std::to_string(owner) +
                        ", the loader's device is " + name_ + ": use a stream of that one"};
    }
  }

 private:
  [[noreturn]] void refuse(memory_kind kind, std::size_t bytes) const {
    throw out_of_memory{
        bytes, kind,
        name_ + " has no " + std::to_string(bytes) + " bytes of " + std::string{to_string(kind)} +
            (kind == memory_kind::staging ? " (pinned host)" : "") +
            " memory: lower batches_per_slot, the number of slots, or set a budget"};
  }
  /// `is_capturing`, if this GPU is already current.
  [[nodiscard]] static bool is_capturing_now(stream_ref stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t answer = cudaStreamIsCapturing(native(stream), &status);
    if (answer == cudaErrorStreamCaptureImplicit) {
      // cudaStreamLegacy, while a stream that waits for it is being captured: it cannot be used
      // until the capture ends.
      detail::clear_error(answer);
      return true;
    }
    FEEDLINE_CUDA_CHECK(answer);
    return status != cudaStreamCaptureStatusNone;
  }

  /// Never uses cudaEventBlockingSync: the GPU would then interrupt the host at each record.
  /// @param priority Priority of its kernels when the GPU is full; 0 is the lowest.
  [[nodiscard]] stream_ref make_stream_with(int priority) {
    const cuda_current_device current{context_};
    detail::load_assembly_kernels();  // a loader makes its streams before it issues anything
    cudaStream_t stream = nullptr;
    FEEDLINE_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    return stream_ref::from_raw(stream);
  }
  [[nodiscard]] event_handle make_event_with(unsigned flags) {
    const cuda_current_device current{context_};
    cudaEvent_t event = nullptr;
    FEEDLINE_CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
    return static_cast<event_handle>(reinterpret_cast<std::uintptr_t>(event));
  }

  const int ordinal_;
  const std::string name_;
  const bool has_pool_;
  const std::size_t memory_bytes_;
  const std::shared_ptr<const block_decoders> decodes_;
  const detail::core_list near_cores_;
  mutable detail::cuda_context context_{ordinal_};
  detail::memory_pool pool_{ordinal_};  ///< for short-lived memory
  const detail::profiler_ranges ranges_;
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
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count;
  detail::clear_error(status);
  return 0;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
