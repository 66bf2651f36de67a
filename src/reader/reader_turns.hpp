#pragma once

#include "detail/own_process.hpp"

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>

namespace feedline::detail {

/// Who of a process's readers may work, under its CPU budget: first come, first served, so that no
/// loader starves another. Any thread.
class reader_turns {
 public:
  /// This process's; a child of fork has its own. @throws usage_error as `budget_of`.
  static reader_turns& of_process();
  /// The budget that the environment's text asks for; null and empty: none.
  /// @throws usage_error if it is no whole number.
  [[nodiscard]] static unsigned budget_of(const char* text);

  /// @param limit Readers that work at a time; 0: any number.
  explicit reader_turns(unsigned limit) noexcept : limit_{limit} {}

  void set_limit(unsigned limit);
  [[nodiscard]] unsigned limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  /// Whether the calling thread works in a turn that is counted.
  [[nodiscard]] static bool held() noexcept { return in_turn; }
  /// @throws usage_error if the calling thread does, and is about to wait for readers: they might
  /// never get their turn.
  void refuse_in_turn() const;
  /// Lets those who wait look at their `stopping` again.
  void wake();

  /// Counts some readers no more, though they may still work: those with this `stopping`.
  void give_up(const std::atomic<bool>& stopping);

  /// A reader's turn, from construction to destruction. It is counted while there is a limit.
  class turn {
   public:
    /// Blocks until the turn has come, or `stopping` is true: say so, and then call `wake`.
    turn(reader_turns& turns, const std::atomic<bool>& stopping);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn();

   private:
    friend class reader_turns;
    reader_turns& turns_;
    const std::atomic<bool>& stopping_;
    std::condition_variable changed_;
    bool listed_ = false;    ///< in `waiting_` or `working_`; this and the next under the mutex
    bool has_turn_ = false;  ///< or had one that was given up
  };

 private:
  [[nodiscard]] bool has_room() const noexcept { return limit() == 0 || working_.size() < limit(); }
  void hand_out();

  const own_process process_;
  std::atomic<unsigned> limit_;  ///< written under the mutex
  std::mutex mutex_;
  std::list<turn*> working_;  ///< under the mutex, and so is the next
  std::list<turn*> waiting_;  ///< in the order in which they came
  static thread_local bool in_turn;
};

}  // namespace feedline::detail
