#pragma once

#include <feedline/statistics/statistics.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// Searches how many readers and staging slots make a loop fast, by trying. It owns no clock and no
/// thread.
///
/// It measures the time that a batch takes the consumer, in one setting after another, and keeps a
/// setting that is faster by a few percent. It tries twice as many readers, then half as many more,
/// then more slots, then fewer readers. If a setting is not clearly faster, both it and the kept
/// one are measured once more; the shorter times count, because disturbances make a measurement
/// longer. Nothing is tried twice from the same setting, nor beyond a refused setting, so the
/// search ends. It ends soon if the consumer hardly waits.
class tuner {
 public:
  struct setting {
    int readers = 0;
    std::size_t slots = 0;
    friend bool operator==(const setting&, const setting&) = default;
  };

  /// @param first Where the search begins. @param most The budget: at least `first`.
  tuner(setting first, setting most);

  /// Learns from a time in which the loader worked with `current()`, and returns the setting to use
  /// from now on: in the end the chosen one.
  /// @param window The difference of two snapshots, with at least one batch.
  setting learn(const loader_statistics& window);

  [[nodiscard]] setting current() const noexcept { return current_; }
  /// The search has ended. It begins again if the consumer waits much more than it did, for some
  /// windows in a row.
  [[nodiscard]] bool settled() const noexcept { return settled_; }
  /// The measurements, as text.
  [[nodiscard]] std::string why() const;

 private:
  enum class asked { kept, trial, kept_again, trial_again, calm };
  enum class move { more_readers, more_slots, fewer_readers };
  struct measured {
    setting at = {};
    double seconds = 0;  ///< seconds a batch
    double waiting = 0;  ///< share of the consumer's time
    double busy = 0;     ///< share of the readers' time
  };

  void search_from(setting start);
  void watch(const measured& now);
  void judge_trial(bool final);
  /// The setting to measure next: a trial, or if there is none, the chosen one.
  setting next_trial();
  [[nodiscard]] std::optional<setting> candidate() const;
  [[nodiscard]] bool may_try(setting to) const;
  void note(const measured& now);

  setting most_;
  setting current_;
  asked asked_ = asked::kept;
  move move_ = move::more_readers;
  int looks_ = 0;    ///< measurements at the setting with which the search began
  int refused_ = 0;  ///< moves from the kept setting that brought no gain
  int calm_ = 0;     ///< windows in which the consumer hardly waited at the kept setting
  int worse_ = 0;    ///< windows in a row with much more waiting, since it settled
  bool settled_ = false;
  measured kept_;                ///< the best so far
  measured trial_;               ///< the setting compared with it
  std::vector<measured> tried_;  ///< the best measurement of each setting, the kept one among them
};

}  // namespace feedline::detail
