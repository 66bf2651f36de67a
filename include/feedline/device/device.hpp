#pragma once

#include <feedline/device/assembly.hpp>
#include <feedline/device/block_decoder.hpp>
#include <feedline/device/device_id.hpp>
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

/// What a pipeline must know of a device before it is built.
struct device_capabilities {
  std::string name;            ///< for people: "host", "cuda:0 NVIDIA H200"
  bool reads_staging = false;  ///< the consumer reads staging slots in place: nothing is copied
  device_id id = {};           ///< for those whom batches are handed to
  std::shared_ptr<const block_decoders> decodes = nullptr;  ///< null: it decodes no blocks
  std::vector<unsigned> near_cores = {};  ///< of the host, on the NUMA node that the device is
                                          ///< attached to, ascending; empty: unknown
  /// Memory that `map` is given begins and ends at multiples of so many bytes, a power of two: the
  /// pages that are pinned. 1: anywhere.
  std::size_t map_granularity = 1;
};

/// An event's handle; what it points to is the device's affair.
enum class event_handle : std::uintptr_t { none = 0 };

/// Everything the pipeline knows of a device: memory, streams, events, copies there and back, one
/// kind of work.
///
/// An event is either never recorded, pending, or done. `wait` on a never recorded event waits for
/// nothing, and `is_done` on it is true. Recording again replaces what the event stands for; waits
/// issued before keep what they saw.
///
/// Threads: every function may be called by any thread, several at once. A stream may be called on
/// by several threads too, since a batch may be destroyed on any; one event is recorded by one at a
/// time. Backends: `host_device`, `cuda_device`; tests have a scripted one.
class device {
 public:
  device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  virtual ~device() = default;

  [[nodiscard]] virtual device_capabilities capabilities() const = 0;

  /// Allocates zeroed memory, aligned to 256 bytes or more. Blocks; may wait for the device.
  /// @param bytes At least 1.
  /// @throws out_of_memory naming bytes and kind; device_error for anything else.
  [[nodiscard]] virtual void* allocate(memory_kind kind, std::size_t bytes) = 0;
  /// Frees what `allocate` gave with the same kind and bytes. Null is nothing.
  virtual void free(memory_kind kind, void* memory, std::size_t bytes) noexcept = 0;

  /// Makes a stream of the pipeline's own, which waits for no other implicitly.
  [[nodiscard]] virtual stream_ref make_stream() = 0;
  /// The same, for short work that others wait for: where the device is full it begins before what
  /// waits on other streams. `make_stream()` on a device that knows no priorities.
  [[nodiscard]] virtual stream_ref make_high_priority_stream() { return make_stream(); }
  /// Ends a stream; work on it still runs to its end.
  virtual void destroy_stream(stream_ref stream) noexcept = 0;

  /// Makes an event, not recorded.
  [[nodiscard]] virtual event_handle make_event() = 0;
  virtual void destroy_event(event_handle event) noexcept = 0;

  /// Issues a copy from staging or device memory to device memory on `stream` and returns. Neither
  /// may be written until it is done.
  virtual void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) = 0;
  /// Issues a copy from device to staging memory on `stream` and returns. The source may be any
  /// memory that the device reads, the consumer's included. Neither may be written, and the target
  /// not be read, until it is done.
  virtual void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) = 0;

  /// Issues on `stream` the work that puts a slot together, and returns: first the arrived rows
  /// that are to be kept are, then each sample's rows are converted into the slot, then samples are
  /// mixed. Deterministic to the bit: `assemble_on_host` says what comes out.
  virtual void assemble(const assembly& work, stream_ref stream) = 0;

  /// Makes host memory readable by work on the device, until `unmap`; returns its address there.
  /// Blocks; pins the pages, and nothing beside them.
  /// @param memory Begins and ends at multiples of `device_capabilities::map_granularity`: what
  ///               shares a page with other memory is copied instead. Empty: nothing is done.
  /// @throws out_of_memory, device_error; usage_error if `memory` lies otherwise.
  [[nodiscard]] virtual const std::byte* map(std::span<const std::byte> memory) = 0;
  /// Ends what `map` did, for the same memory. No work that reads it may be pending.
  virtual void unmap(std::span<const std::byte> memory) noexcept = 0;

  /// Marks the place on `stream` after all work issued on it so far.
  virtual void record(event_handle event, stream_ref stream) = 0;
  /// Lets `stream` go no further until the event is done; the host does not wait.
  virtual void wait(stream_ref stream, event_handle event) = 0;
  /// Asks whether the event is done; never blocks. @throws device_error if the work before it
  /// failed.
  [[nodiscard]] virtual bool is_done(event_handle event) = 0;
  /// Blocks the host until the event is done, without using the CPU. @throws device_error as
  /// `is_done`.
  virtual void sync(event_handle event) = 0;

  /// Whether events can tell times: the next two functions. By default they cannot.
  [[nodiscard]] virtual bool tells_times() const noexcept { return false; }
  /// Makes an event that also notes when it is done. Not called where no times are told.
  [[nodiscard]] virtual event_handle make_timed_event() { return make_event(); }
  /// The time from when one event was done to when a later one was; both were made by
  /// `make_timed_event` and recorded, one by one. Nothing while one of them is pending; never
  /// blocks. @throws device_error if the work before them failed.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> elapsed(
      [[maybe_unused]] event_handle begin, [[maybe_unused]] event_handle end) {
    return std::nullopt;
  }

  /// Called once by each thread that the pipeline starts, before any other call: what the device
  /// sets for the thread may stay. Other threads are left as they were by every call. By default
  /// nothing.
  virtual void begin_thread() noexcept {}

  /// Begins a range of the calling thread that profilers show, until `end_range`. Ranges nest.
  /// Costs next to nothing where no profiler is attached. By default nothing.
  virtual void begin_range([[maybe_unused]] const char* name) noexcept {}
  virtual void end_range() noexcept {}

  /// Whether work on a consumer's stream is written down for later (a CUDA graph) instead of done
  /// now: then nothing is recorded on it, and it is let wait for nothing. By default never.
  [[nodiscard]] virtual bool is_capturing([[maybe_unused]] stream_ref stream) { return false; }

  /// The stream to name where another thread than the one that was given `stream` records behind
  /// the work on it: for streams whose name means another one on each thread. By default itself.
  [[nodiscard]] virtual stream_ref for_any_thread(stream_ref stream) const { return stream; }

  /// Checks that a consumer may use `stream` with this device; called once an epoch, by the
  /// consumer, and by who pushes results on another stream than before.
  /// @throws usage_error if it needs a stream and has none, or the stream is another device's, or
  /// is being captured so that the device cannot tell.
  virtual void check(stream_ref stream) const = 0;
};

/// How devices are handed about: a loader and its batches keep theirs alive.
using device_ptr = std::shared_ptr<device>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
