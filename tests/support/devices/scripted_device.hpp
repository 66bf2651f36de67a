#pragma once

#include <feedline/backend/device.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::test {

/// The calls of a device that can be made to fail.
enum class device_call : std::uint8_t {
  allocate,
  make_stream,
  make_event,
  copy,
  copy_back,
  assemble,
  decode,
  map,
  record,
  wait,
  is_done,
  sync,
  is_capturing
};

/// A device whose copies complete when the test says so, in host memory.
///
/// Streams are queues of operations, run in order by one of the device's threads. A copy poisons
/// its target when it starts and reads its source only when it completes: a thread that writes the
/// source or reads the target meanwhile sees it. Assemblies poison their target too. If an assembly
/// finds its copy destination poisoned, it leaves its slot poisoned. Copies need permits, and so do
/// assemblies and the consumer's work (`launch`): all are plenty until a test holds them.
///
/// It says that it is CUDA's GPU 7, so that a stream must be named.
///
/// Threads: any, like every device.
class scripted_device final : public device {
 public:
  static constexpr std::byte poison{0xDB};

  scripted_device();
  ~scripted_device() override;

  // ---- what the test says
  // -----------------------------------------------------------------------------------------

  /// No copy completes from now on except for those `allow_copies` lets.
  void hold_copies();
  /// Lets `count` more copies complete.
  void allow_copies(std::uint64_t count);
  /// Lets all copies complete from now on.
  void allow_all_copies();
  /// The same for copies back to the host.
  void hold_copies_back();
  void allow_copies_back(std::uint64_t count);
  void allow_all_copies_back();
  /// The same for assemblies.
  void hold_assemblies();
  void allow_assemblies(std::uint64_t count);
  void allow_all_assemblies();
  /// The same for calls that decode blocks.
  void hold_decodes();
  void allow_decodes(std::uint64_t count);
  void allow_all_decodes();
  /// The same for the consumer's work.
  void hold_work();
  void allow_all_work();
  /// From now on, if several streams could continue, the one made last does, not the one made
  /// first.
  void favour_young_streams();

  /// It maps whole pages of this many bytes alone, and refuses others. Before a loader is made.
  void map_pages_of(std::size_t bytes) { map_granularity_ = bytes; }
  /// It makes no fields from the offsets of packed rows. Before a loader is made.
  void make_no_packed_values() { makes_packed_values_ = false; }

  /// From now on the stream is captured, as into a CUDA graph: records and waits on it would be
  /// captured, not executed. They are refused, and counted.
  void begin_capture(stream_ref stream);
  void end_capture(stream_ref stream);
  /// Calls that would have been captured.
  [[nodiscard]] std::uint64_t captured_calls() const;

  /// Queues work of the consumer's on a stream, as a kernel launch would; returns at once.
  /// @param reads Memory that it reads: freeing it before is noticed.
  void launch(stream_ref stream, std::function<void()> work, std::span<const std::byte> reads = {});
  /// Queues the decoders' work, as a call that can be made to fail.
  /// @param uses Memory that it reads or writes: freeing it before is noticed.
  /// @param loads Number of block reads that it decodes; 0: it decodes none, and is not held.
  void decode(stream_ref stream, std::function<void()> work, std::vector<const void*> uses,
              std::uint32_t loads = 0);
  /// Blocks the host until all that is queued on a stream is done.
  void drain(stream_ref stream);
  /// Blocks the host until all that is queued on any stream is done, as freeing memory of a GPU
  /// does. For when nothing is held back, and the pipeline was refused every wait of its own.
  void drain();

  /// Lets the n-th call of a kind from now on, counted from 1, fail with a device_error
  /// (out_of_memory for `allocate`), and as many after it as make up `times`.
  void fail_call(device_call call, std::uint64_t nth, std::uint64_t times = 1);
  /// The same for the n-th call of whatever kind. 0: none.
  void fail_any_call(std::uint64_t nth, std::uint64_t times = 1);
  /// Whether the n-th call of whatever kind has come, and failed.
  [[nodiscard]] bool any_call_failed() const;
  /// Blocks until all calls that should fail have failed. @throws std::runtime_error after a long
  /// while.
  void wait_for_failed_calls();

  /// Allocations of a kind fail with out_of_memory when all of them would take more.
  void limit(memory_kind kind, std::size_t bytes);

  /// Blocks until this many copies were issued since construction. @throws std::runtime_error after
  /// a long while.
  void wait_for_issued_copies(std::uint64_t count);
  /// Blocks until this many copies have started: their targets are poisoned, their sources not read
  /// yet.
  void wait_for_started_copies(std::uint64_t count);
  /// Blocks until this many copies have completed.
  void wait_for_completed_copies(std::uint64_t count);
  /// Blocks until this many copies back to the host have started: their targets are poisoned, their
  /// sources not read yet.
  void wait_for_started_copies_back(std::uint64_t count);
  /// Blocks until this many assemblies have started: the batches of their slots are poisoned, their
  /// copy destinations not read yet.
  void wait_for_started_assemblies(std::uint64_t count);
  [[nodiscard]] std::uint64_t issued_copies() const;
  [[nodiscard]] std::uint64_t started_copies() const;
  [[nodiscard]] std::uint64_t completed_copies_back() const;
  [[nodiscard]] std::uint64_t issued_assemblies() const;
  /// The loads of each call so far that decodes blocks.
  [[nodiscard]] std::vector<std::uint32_t> issued_decodes() const;
  /// Blocks until this many of these calls were issued.
  void wait_for_issued_decodes(std::uint64_t count);
  /// Bytes that all copies so far were issued for.
  [[nodiscard]] std::uint64_t copied_bytes() const;
  /// Spans of host memory that are mapped now.
  [[nodiscard]] std::size_t mappings() const;
  /// How often memory was freed, or unmapped, that work not done yet was to read or write.
  /// Memory that was never freed goes with the device.
  [[nodiscard]] std::uint64_t freed_in_use() const;
  /// Calls of `free` for device memory, each of which waits for all work of a GPU.
  [[nodiscard]] std::uint64_t frees_that_wait() const;
  /// Bytes that are allocated now.
  [[nodiscard]] std::size_t allocated_bytes(memory_kind kind) const;
  /// Allocations made since construction.
  [[nodiscard]] std::uint64_t allocations() const;
  /// Streams and events that exist now.
  [[nodiscard]] std::size_t handles() const;

  // ---- what the pipeline sees
  // -------------------------------------------------------------------------------------

  [[nodiscard]] device_capabilities capabilities() const override;
  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override;
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override;
  void free_short_lived(memory_kind kind, void* memory, std::size_t bytes) noexcept override;
  /// Bytes that `limit` leaves; empty where there is no limit.
  [[nodiscard]] std::optional<std::size_t> free_bytes(memory_kind kind) override;
  [[nodiscard]] stream_ref make_stream() override;
  void destroy_stream(stream_ref stream) noexcept override;
  [[nodiscard]] event_handle make_event() override;
  void destroy_event(event_handle event) noexcept override;
  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override;
  void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) override;
  void assemble(const assembly& work, stream_ref stream) override;
  [[nodiscard]] const std::byte* map(std::span<const std::byte> memory) override;
  void unmap(std::span<const std::byte> memory) noexcept override;
  void record(event_handle event, stream_ref stream) override;
  void wait(stream_ref stream, event_handle event) override;
  [[nodiscard]] bool is_done(event_handle event) override;
  void sync(event_handle event) override;
  /// Timed events: no call with one is counted, so none can be made to fail.
  [[nodiscard]] bool tells_times() const noexcept override { return true; }
  [[nodiscard]] event_handle make_timed_event() override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> elapsed(event_handle begin,
                                                                event_handle end) override;
  [[nodiscard]] bool is_capturing(stream_ref stream) override;
  void check(stream_ref stream) const override;

 private:
  struct event_state {
    std::uint64_t recorded = 0;  ///< how often
    bool timed = false;
    std::chrono::steady_clock::time_point done_at = {};
  };
  enum class step : std::uint8_t { copy, copy_back, assemble, decode, work, record, wait };
  struct operation {
    step what;
    std::uint64_t event = 0;      ///< record, wait
    std::uint64_t recording = 0;  ///< number of the event's recording
    void* to = nullptr;           ///< copy, copy_back
    const void* from = nullptr;
    std::size_t bytes = 0;
    assembly assembled = {};  ///< assemble
    std::vector<field_assembly> fields = {};
    std::optional<pair_mixing> mixing = {};
    std::function<void()> work = {};
    std::span<const std::byte> reads = {};
    std::vector<const void*> uses = {};  ///< decode
    std::uint32_t loads = 0;
    bool started = false;
  };
  struct stream_state {
    std::deque<operation> queue;  ///< the first is there until it is done
    bool running = false;         ///< the device's thread is at it
    bool destroyed = false;       ///< is destroyed once empty
    bool capturing = false;
  };

  void run();
  std::map<std::uint64_t, stream_state>::iterator runnable();
  bool may_run(operation& next);
  void execute(std::unique_lock<std::mutex>& lock, operation& next);
  void enqueue(stream_ref stream, operation next);
  void refuse_capturing(stream_ref stream);
  [[nodiscard]] bool is_timed(event_handle event) const;
  [[nodiscard]] bool is_pending(std::uint64_t event, std::uint64_t recording) const;
  [[nodiscard]] bool latest_is_done(event_handle event) const;
  void check_free(const void* memory, std::size_t bytes) noexcept;
  void count_call(device_call call);
  void wait_long(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready,
                 const std::string& what);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, stream_state> streams_;
  std::map<std::uint64_t, event_state> events_;
  /// Recordings that are not done: event and number. A wait is for one of them, and for no later
  /// one, though the event be recorded again, or destroyed.
  std::set<std::pair<std::uint64_t, std::uint64_t>> pending_;
  struct failing_calls {
    std::uint64_t next;   ///< calls until the one that fails
    std::uint64_t times;  ///< how many fail from there on
  };
  std::map<device_call, failing_calls> failing_;
  failing_calls any_failing_{0, 0};
  bool any_failed_ = false;
  std::set<void*> blocks_;  ///< allocated, not freed
  std::uint64_t next_handle_ = 1;
  std::optional<std::uint64_t> copy_permits_;  ///< none: plenty
  std::optional<std::uint64_t> back_permits_;
  std::optional<std::uint64_t> assembly_permits_;
  std::optional<std::uint64_t> decode_permits_;
  std::optional<std::uint64_t> work_permits_;
  bool favours_young_ = false;
  std::uint64_t issued_copies_ = 0;
  std::uint64_t started_copies_ = 0;
  std::uint64_t completed_copies_ = 0;
  std::uint64_t started_copies_back_ = 0;
  std::uint64_t completed_copies_back_ = 0;
  std::uint64_t issued_assemblies_ = 0;
  std::uint64_t started_assemblies_ = 0;
  std::vector<std::uint32_t> issued_decodes_;
  std::uint64_t copied_bytes_ = 0;
  std::size_t mappings_ = 0;
  std::size_t map_granularity_ = 1;
  bool makes_packed_values_ = true;
  std::uint64_t freed_in_use_ = 0;
  std::uint64_t frees_that_wait_ = 0;
  std::uint64_t captured_calls_ = 0;
  std::uint64_t allocations_ = 0;
  std::map<memory_kind, std::size_t> allocated_;
  std::map<memory_kind, std::size_t> limits_;
  bool ending_ = false;
  std::thread thread_;
};

/// A scripted device, as a loader takes it, and a stream of the consumer's on it.
struct scripted {
  std::shared_ptr<scripted_device> device = std::make_shared<scripted_device>();
  stream_ref stream = device->make_stream();
};

}  // namespace feedline::test
