#pragma once

#include "detail/own_process.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>

namespace feedline::detail {

/// Grants readers of all loaders in the process turns to work, up to the CPU budget: first come,
/// first served, so that no loader starves another. Any thread.
class reader_turns {
 public:
  /// This process's; a child of fork has its own. @throws usage_error as `budget_of`.
  static reader_turns& of_process();
  /// The budget in the environment variable's text; null and empty: none.
  /// @throws usage_error if it is not a whole number.
  [[nodiscard]] static unsigned budget_of(const char* text);

  /// @param limit Readers that may work at once; 0: any number.
  explicit reader_turns(unsigned limit) noexcept : limit_{limit} {}

  void set_limit(unsigned limit);
  [[nodiscard]] unsigned limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  /// Whether the calling thread holds a turn that counts against the limit.
  [[nodiscard]] static bool held() noexcept { return in_turn; }
  /// @throws usage_error if the calling thread holds one and is about to wait for readers: they
  /// might never get their turn.
  void refuse_in_turn() const;
  /// Makes waiting readers check their `stopping` again.
  void wake();

  /// Stops counting the readers with this `stopping`, though they may still work.
  void give_up(const std::atomic<bool>& stopping);

  /// A reader's turn, from construction to destruction. It is counted while there is a limit.
  class turn {
   public:
    /// Blocks until it is the reader's turn, or `stopping` is true: set it, then call `wake`.
    /// @param clock The reader's; null: nothing is measured.
    turn(reader_turns& turns, const std::atomic<bool>& stopping, stage_clock* clock = nullptr);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn();

   private:
    friend class reader_turns;
    reader_turns& turns_;
    const std::atomic<bool>& stopping_;
    std::condition_variable changed_;
    bool listed_ = false;    ///< in `waiting_` or `working_`; this and the next under the mutex
    bool has_turn_ = false;  ///< or had one that no longer counts
  };

 private:
  [[nodiscard]] bool has_room() const noexcept { return limit() == 0 || working_.size() < limit(); }
  void hand_out();

  const own_process process_;
  std::atomic<unsigned> limit_;  ///< written under the mutex
  std::mutex mutex_;
  std::list<turn*> working_;  ///< under the mutex, and so is the next
  std::list<turn*> waiting_;  ///< in order of arrival
  static thread_local bool in_turn;
};

}  // namespace feedline::detail
