#pragma once

#include <feedline/statistics/download_plan.hpp>

#include "io/byte_file.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace feedline::detail {

/// Takes the ranges that a thread's hints name, instead of the files: so a hint tells what a sample
/// is made of, and nothing is fetched.
class range_recorder {
 public:
  range_recorder() = default;
  range_recorder(const range_recorder&) = delete;
  range_recorder& operator=(const range_recorder&) = delete;
  virtual ~range_recorder() = default;

  /// The next ranges are those of the sample at this position.
  virtual void at(std::uint64_t position) noexcept = 0;
  /// @param ranges All within the file, none empty, sorted, apart from each other.
  virtual void add(const byte_file& file, std::span<const byte_range> ranges) noexcept = 0;

  /// The one that takes the calling thread's hints now; null: files take them.
  [[nodiscard]] static range_recorder* of_this_thread() noexcept;

  /// While it lives, a recorder takes the calling thread's hints.
  class scope {
   public:
    explicit scope(range_recorder& takes) noexcept;
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();

   private:
    range_recorder* before_;
  };
};

/// The samples that a loader will read, as ranges of files, and how far it has come. It ends with
/// its loader; those who keep bytes of files may hold it longer. Any thread.
class read_forecast {
 public:
  /// @param positions Positions of an epoch, of all ranks together; at least 1.
  /// @param epochs The loader reads epochs 0 to n-1 in order; 0: unknown, so one follows another.
  /// @param is_shared Other ranks read some of the positions.
  read_forecast(std::uint64_t positions, std::uint64_t epochs, bool is_shared) noexcept
      : positions_{positions}, epochs_{epochs}, is_shared_{is_shared} {}
  read_forecast(const read_forecast&) = delete;
  read_forecast& operator=(const read_forecast&) = delete;
  virtual ~read_forecast() = default;

  [[nodiscard]] std::uint64_t positions() const noexcept { return positions_; }
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }
  /// 0: unknown.
  [[nodiscard]] std::uint64_t epochs() const noexcept { return epochs_; }
  /// Whether the loader will read an epoch, as far as is known.
  [[nodiscard]] bool has_epoch(std::uint64_t epoch) const noexcept {
    return epochs_ == 0 || epoch < epochs_;
  }

  /// Gives a recorder the ranges of samples at some positions. Reads no input.
  /// @param count At most `max_recorded`.
  /// @return False if the loader has ended, or its order cannot be computed.
  [[nodiscard]] bool record(std::uint64_t epoch, std::uint64_t first, std::size_t count,
                            range_recorder& into) noexcept {
    const std::lock_guard lock{mutex_};
    return !is_ended_.load() && do_record(epoch, first, count, into);
  }
  static constexpr std::size_t max_recorded = 1024;

  /// Called by readers: this sample is about to be read.
  void reached(std::uint64_t epoch, std::uint64_t position) noexcept {
    now_.store(epoch * positions_ + position, std::memory_order_relaxed);
  }
  /// Epochs so far × `positions()`, and the position in this epoch.
  [[nodiscard]] std::uint64_t now() const noexcept { return now_.load(std::memory_order_relaxed); }

  /// The loader ends: its dataset may go. Waits for a `record` in progress.
  void end() noexcept {
    const std::lock_guard lock{mutex_};
    is_ended_.store(true);
  }
  [[nodiscard]] bool is_ended() const noexcept { return is_ended_.load(); }

 private:
  [[nodiscard]] virtual bool do_record(std::uint64_t epoch, std::uint64_t first, std::size_t count,
                                       range_recorder& into) noexcept = 0;

  const std::uint64_t positions_;
  const std::uint64_t epochs_;
  const bool is_shared_;
  std::atomic<std::uint64_t> now_{0};
  std::atomic<bool> is_ended_{false};
  std::mutex mutex_;  ///< held while samples are recorded
};

/// Is told about each loader of files that are not near. One for the process, for example a cache.
class forecast_listener {
 public:
  virtual void begins(const std::shared_ptr<read_forecast>& forecast) noexcept = 0;
  /// Downloads of a loader's epochs. Takes as long as looking at each sample of three epochs.
  /// @throws std::bad_alloc
  [[nodiscard]] virtual download_plan foretell(const std::shared_ptr<read_forecast>& forecast) = 0;

  /// Null if there is none.
  [[nodiscard]] static forecast_listener* of_process() noexcept;
  /// @param listener Lives to the process's end.
  static void set(forecast_listener* listener) noexcept;

 protected:
  forecast_listener() = default;
  ~forecast_listener() = default;
};

}  // namespace feedline::detail
