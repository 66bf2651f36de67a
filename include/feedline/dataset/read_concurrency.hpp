#pragma once

#include <feedline/export.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Whether a dataset's `do_read` may run on several threads at once.
enum class read_concurrency : std::uint8_t {
  parallel,  ///< any number of threads
  /// One thread at a time: callers of `read` take turns, including readers of different loaders.
  serialized,
};

/// Turns of one dataset that is read by one thread at a time; used by base classes of datasets.
/// Threads: any number.
class read_turns {
 public:
  /// Waits for the calling thread's turn, and holds it. Holds nothing if reads are parallel. A
  /// thread that holds its turn may take another one, because a dataset's `do_read` may end up
  /// reading the same dataset again.
  /// @param of The dataset; its `concurrency()` is asked once.
  template <class Dataset>
  [[nodiscard]] std::unique_lock<std::recursive_mutex> take(const Dataset& of) const {
    state known = known_.load(std::memory_order_relaxed);
    if (known == state::unknown) {
      known =
          of.concurrency() == read_concurrency::serialized ? state::serialized : state::parallel;
      known_.store(known, std::memory_order_relaxed);
    }
    if (known == state::parallel) return {};
    return std::unique_lock{mutex_};
  }

 private:
  enum class state : std::uint8_t { unknown, parallel, serialized };

  mutable std::atomic<state> known_{state::unknown};
  mutable std::recursive_mutex mutex_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
