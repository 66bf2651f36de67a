#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/backend/block_decoder.hpp>
#include <feedline/device/device_id.hpp>
#include <feedline/device/device_ptr.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Properties of a device that a pipeline needs before it is built.
struct device_capabilities {
  std::string name;            ///< human-readable: "host", "cuda:0 NVIDIA H200"
  bool reads_staging = false;  ///< the consumer reads staging slots in place: nothing is copied
  /// The device assembles slots (`device::assemble`), with all that a conversion can name. A
  /// device that cannot apply `pixel_operations` must say false here: otherwise its batches would
  /// lack them without a message. If it does not assemble, only placement stream is possible:
  /// readers convert fields, and the transfer thread mixes samples, before slots are copied.
  bool assembles = true;
  /// `assemble` also makes fields from the offsets of packed rows
  /// (`row_conversion::operation::packed`). If not, readers make them, and they are copied.
  bool makes_packed_values = false;
  device_id id = {};  ///< identifies the device to other libraries
  std::shared_ptr<const block_decoders> decodes = nullptr;  ///< null: it decodes no blocks
  /// All memory of the device, in bytes, also if it is in use; 0: unknown. Loaders that decode
  /// blocks use more of it if there is much.
  std::size_t memory_bytes = 0;
  /// Host cores on the NUMA node that the device is attached to, ascending; empty: unknown.
  std::vector<unsigned> near_cores = {};
  /// Granularity of `map`, in bytes, a power of two: memory given to `map` begins and ends at its
  /// multiples (pages that are pinned). 1: no restriction.
  std::size_t map_granularity = 1;
};

/// An event's handle. The device decides what it points to.
enum class event_handle : std::uintptr_t { none = 0 };

/// Everything that the pipeline needs from a device: memory, streams, events, copies in both
/// directions, and the assembly of slots. An event is in one of three states: not recorded yet,
/// pending, or done. For an event that is not recorded yet, `wait` has no effect and `is_done`
/// returns true. An event may be recorded again; waits issued before then still wait for the
/// earlier recording.
///
/// Threads: any thread may call any function, several at once. Several threads may also use one
/// stream, since a batch may be destroyed on any thread. One event is recorded by one thread at a
/// time. Backends: `host_device`, `cuda_device`; tests have a scripted one.
class device {
 public:
  device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  virtual ~device() = default;

  [[nodiscard]] virtual device_capabilities capabilities() const = 0;

  /// Allocates zeroed memory, aligned to 256 bytes or more. Blocks, and may wait for the device.
  /// @param bytes At least 1.
  /// @throws out_of_memory naming bytes and kind; device_error for anything else.
  [[nodiscard]] virtual void* allocate(memory_kind kind, std::size_t bytes) = 0;
  /// Frees memory from `allocate`, given the same kind and bytes. Null is ignored.
  virtual void free(memory_kind kind, void* memory, std::size_t bytes) noexcept = 0;
  /// Same, for memory that comes and goes while the pipeline works: it gets its own pair of
  /// functions, because freeing must not wait for any work on the device. When it is called, no
  /// work that uses the memory is pending. By default these are `allocate` and `free`; override
  /// both if `free` waits for the device.
  [[nodiscard]] virtual void* allocate_short_lived(memory_kind kind, std::size_t bytes) {
    return allocate(kind, bytes);
  }
  virtual void free_short_lived(memory_kind kind, void* memory, std::size_t bytes) noexcept {
    free(kind, memory, bytes);
  }
  /// How many bytes of a kind of memory are free now; empty: unknown, which is the default. Limits
  /// what a loader allocates for batches that are kept (`expert_options::max_held_bytes`).
  /// @throws device_error
  [[nodiscard]] virtual std::optional<std::size_t> free_bytes([[maybe_unused]] memory_kind kind) {
    return std::nullopt;
  }

  /// Creates a stream for the pipeline. It does not wait implicitly for any other stream.
  [[nodiscard]] virtual stream_ref make_stream() = 0;
  /// Same, for short work that others wait for: if the device is full, this work starts before
  /// work that waits on other streams. Returns `make_stream()` on a device without priorities.
  [[nodiscard]] virtual stream_ref make_high_priority_stream() { return make_stream(); }
  /// Destroys a stream. Work already issued on it still completes.
  virtual void destroy_stream(stream_ref stream) noexcept = 0;

  /// Creates an event that is not recorded.
  [[nodiscard]] virtual event_handle make_event() = 0;
  virtual void destroy_event(event_handle event) noexcept = 0;

  /// Issues a copy from staging or device memory to device memory on `stream` and returns. Neither
  /// memory may be written until the copy is done.
  virtual void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) = 0;
  /// Issues a copy from device to staging memory on `stream` and returns. The source may be any
  /// memory that the device can read, including the consumer's. Until the copy is done, neither
  /// memory may be written, and the destination may not be read.
  virtual void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) = 0;

  /// Issues the work that assembles a slot on `stream`, and returns. First it stores the arrived
  /// rows that are to be cached. Then it converts each sample's rows into the slot. Then it mixes
  /// samples. Deterministic to the bit: `assemble_on_host` defines the result. Called only if
  /// `device_capabilities::assembles`; by default throws device_error.
  virtual void assemble([[maybe_unused]] const assembly& work, [[maybe_unused]] stream_ref stream) {
    throw device_error{capabilities().name +
                       " cannot assemble slots: it must say so (device_capabilities::assembles)"};
  }

  /// Makes host memory readable by work on the device until `unmap`, and returns its device
  /// address. Blocks. Pins the pages of the memory, and no others.
  /// @param memory Begins and ends at multiples of `device_capabilities::map_granularity`. Callers
  /// copy data that shares a page with other memory instead. Empty: does nothing. Called for
  /// placement gather, so only if `device_capabilities::assembles`; by default throws device_error.
  /// @throws out_of_memory, device_error; usage_error if `memory` is not aligned so.
  [[nodiscard]] virtual const std::byte* map([[maybe_unused]] std::span<const std::byte> memory) {
    throw device_error{capabilities().name +
                       " cannot map host memory: it must say that it assembles no slots "
                       "(device_capabilities::assembles)"};
  }
  /// Undoes `map` for the same memory. No work that reads it may be pending.
  virtual void unmap([[maybe_unused]] std::span<const std::byte> memory) noexcept {}

  /// Records on `stream` the point after all work issued on it so far.
  virtual void record(event_handle event, stream_ref stream) = 0;
  /// Makes `stream` wait until the event is done. The host does not wait.
  virtual void wait(stream_ref stream, event_handle event) = 0;
  /// Returns whether the event is done; never blocks. @throws device_error if the work before it
  /// failed.
  [[nodiscard]] virtual bool is_done(event_handle event) = 0;
  /// Blocks the host until the event is done, without using the CPU. @throws device_error like
  /// `is_done`.
  virtual void sync(event_handle event) = 0;

  /// Whether events can measure time with the next two functions. False by default.
  [[nodiscard]] virtual bool tells_times() const noexcept { return false; }
  /// Creates an event that also records when it is done. Called only if the device measures times.
  [[nodiscard]] virtual event_handle make_timed_event() { return make_event(); }
  /// Time between the completion of two events. Both were created by `make_timed_event` and were
  /// recorded one after the other. Empty while one of them is pending; never blocks. @throws
  /// device_error if the work before them failed.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> elapsed(
      [[maybe_unused]] event_handle begin, [[maybe_unused]] event_handle end) {
    return std::nullopt;
  }

  /// Called once by each thread that the pipeline starts, before any other call. The device may
  /// leave settings in such a thread. Every other call leaves its thread's settings unchanged. Does
  /// nothing by default.
  virtual void begin_thread() noexcept {}

  /// Begins a range of the calling thread that profilers show, until `end_range`. Ranges nest.
  /// Costs next to nothing if no profiler is attached. Does nothing by default.
  virtual void begin_range([[maybe_unused]] const char* name) noexcept {}
  virtual void end_range() noexcept {}

  /// Whether work on a consumer's stream is captured for later (a CUDA graph) instead of executed
  /// now. If so, nothing is recorded on the stream, and it is not made to wait. False by default.
  [[nodiscard]] virtual bool is_capturing([[maybe_unused]] stream_ref stream) { return false; }

  /// Returns the stream to use if a thread other than the one that was given `stream` records an
  /// event after the work on it. This matters for streams whose name means a different stream on
  /// each thread. Returns `stream` by default.
  [[nodiscard]] virtual stream_ref for_any_thread(stream_ref stream) const { return stream; }

  /// Checks that a consumer may use `stream` with this device. Called once an epoch by the
  /// consumer, and by a thread that pushes results when it changes its stream.
  /// @throws usage_error if the device needs a stream and there is none, if the stream belongs to
  /// another device, or if it is being captured in a way that prevents the check.
  virtual void check(stream_ref stream) const = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
