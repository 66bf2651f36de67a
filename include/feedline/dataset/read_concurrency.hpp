#pragma once

#include <feedline/export.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Whether a dataset's `read` may run on several threads at once.
enum class read_concurrency : std::uint8_t {
  parallel,    ///< any number of threads
  serialized,  ///< one at a time: whoever calls `read_in_turn` takes turns, readers of different
               ///< loaders too
};

/// The turns of one dataset that is read by one thread at a time: for the base classes of datasets.
/// Any number of threads.
class read_turns {
 public:
  /// Waits for the calling thread's turn, and holds it; holds nothing where reads are parallel. A
  /// thread whose turn it is may take another within it, for a dataset's `read` may come round to
  /// the same dataset.
  /// @param of Whose `concurrency()` is asked, once.
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
