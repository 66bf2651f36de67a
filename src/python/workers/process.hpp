#pragma once

#include <feedline/dataset/read_request.hpp>

#include "device/shared_memory.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/workers/channel.hpp"
#include "python/workers/protocol.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::python {

/// Shared memory of this process's own. Move-only.
class shared_block {
 public:
  shared_block() = default;
  /// @throws std::bad_alloc.
  explicit shared_block(std::size_t bytes)
      : memory_{static_cast<std::byte*>(detail::allocate_shared(bytes))}, bytes_{bytes} {
    if (!memory_) throw std::bad_alloc{};
  }

  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  struct free {
    void operator()(std::byte* memory) const noexcept { (void)detail::free_shared(memory); }
  };
  std::unique_ptr<std::byte, free> memory_;
  std::size_t bytes_ = 0;
};

/// A worker process, as its parent sees it: two lanes that have requests made. One thread at a time
/// uses a lane.
class worker_process {
 public:
  enum class outcome { made, failed, ended, late, stuck };

  /// @param start A `feedline._worker.Starter`. Called with the interpreter's lock.
  /// @param among Gets the Python objects that this holds.
  worker_process(unsigned number, nb::handle start, held_objects& among);
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;
  ~worker_process();

  /// Has a run of samples made, no more than `max_samples(…)`, and written to their destination.
  /// Blocks, without the interpreter's lock.
  /// @param patience Most time for one sample; empty: no limit.
  /// @return `failed`: `answer` has what the worker raised; `ended`, `late`: see `begun`; `stuck`:
  /// it did not become ready in time, and has begun nothing.
  /// @throws nb::python_error of a signal's handler.
  [[nodiscard]] outcome make(std::size_t lane, const read_request& request,
                             std::span<const std::size_t> row_bytes,
                             std::optional<std::chrono::milliseconds> patience);
  [[nodiscard]] static std::size_t max_samples(std::span<const std::size_t> row_bytes) noexcept;

  [[nodiscard]] std::span<const std::byte> answer(std::size_t lane) const noexcept;
  /// Samples of the lane's last request that the worker began.
  [[nodiscard]] std::size_t begun(std::size_t lane) const noexcept {
    return progress().begun[lane].load();
  }
  [[nodiscard]] bool is_ready() const noexcept { return progress().is_ready.load() != 0; }
  /// Whether `make` has returned `stuck`.
  [[nodiscard]] bool is_stuck() const noexcept { return is_stuck_.load(); }

  /// Asks the process to end. Any thread.
  void ask_to_end() const noexcept;
  /// Waits for the process's end, and kills it after the time. With the interpreter's lock.
  /// @return In words: "was killed by signal 9".
  [[nodiscard]] std::string end(double patience) const;
  /// "worker 3 (pid 4711)"
  [[nodiscard]] std::string name() const;

 private:
  struct lane_state {
    explicit lane_state(std::unique_ptr<channel> connection) : link{std::move(connection)} {}
    std::unique_ptr<channel> link;
    std::vector<std::uint64_t> known;  ///< regions that the worker maps for this lane
    std::uint64_t freed = 0;           ///< regions freed when `known` was right
    shared_block aside;                ///< for destinations that are not shared memory
    std::vector<std::byte> message;
    std::vector<std::byte> answer = std::vector<std::byte>(max_message_bytes);
    std::size_t answer_bytes = 0;
  };

  [[nodiscard]] worker_progress& progress() const noexcept {
    return *reinterpret_cast<worker_progress*>(control_.data());
  }
  bool announce(lane_state& to, const detail::shared_place& place);
  bool forget_freed(lane_state& to);
  [[nodiscard]] outcome wait(std::size_t number, std::optional<std::chrono::milliseconds> patience);

  unsigned number_;
  shared_block control_;
  std::array<std::unique_ptr<lane_state>, lanes_a_worker> lanes_;
  held_object process_;
  long pid_ = 0;
  int ended_ = -1;  ///< can be read once the process has ended; -1: the system has no such thing
  /// Most time from the start until it is ready; empty: no limit.
  std::optional<std::chrono::milliseconds> ready_within_;
  std::chrono::steady_clock::time_point started_;
  std::atomic<bool> is_stuck_{false};
};

}  // namespace feedline::python
