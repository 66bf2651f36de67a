#pragma once

#include "io/read_forecast.hpp"
#include "remote/cache/block_key.hpp"
#include "remote/cache/use_table.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace feedline::detail {

/// When blocks will be needed, from the forecasts of all loaders of the process. Times are in
/// epochs, from now on: an epoch of each loader counts as equally long.
///
/// Its owner's lock guards it.
class use_times {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct answer {
    bool is_of_loader = false;  ///< a loader needs some of the object
    bool is_known = false;      ///< a loader needs it in this epoch or one of the next two
    bool is_needed = false;     ///< the same, and not only before now
    bool is_in_use = false;    ///< samples that need it were read in this epoch, and others will be
    bool sees_reuse = true;    ///< the next epoch's order is known, or there is none
    bool is_shared = false;    ///< other ranks need it, too
    double next = never;       ///< the next sample that needs it
    double reuse = never;      ///< the first sample that needs it in a later epoch
    double reuse_end = never;  ///< the end of that epoch
    std::uint64_t bytes = 0;   ///< bytes of it that samples of an epoch need
  };

  void add(std::shared_ptr<read_forecast> forecast) {
    plans_.push_back({.forecast = std::move(forecast)});
  }
  /// Epochs that all loaders have read so far, together: the clock.
  [[nodiscard]] double tick() noexcept;
  [[nodiscard]] answer ask(const block_id& block) const;

  /// An epoch whose uses are not computed yet, or nothing.
  struct missing {
    std::shared_ptr<read_forecast> forecast;
    std::uint64_t epoch;
  };
  [[nodiscard]] std::optional<missing> find_missing() const;
  /// Whether a forecast has ended; its plan is dropped then.
  [[nodiscard]] bool drop_ended();
  void add(const std::shared_ptr<read_forecast>& of, std::shared_ptr<const use_table> table);
  /// Those of a loader that begin with an epoch, as far as they were computed.
  [[nodiscard]] std::vector<std::shared_ptr<const use_table>> tables_of(const read_forecast& loader,
                                                                        std::uint64_t epoch) const;
  /// Calls body with each block of the objects that loaders need, maybe more than once.
  template <class Body>
  void for_each(Body body) const {
    for (const plan& each : plans_)
      for (const auto& table : each.tables) table->for_each(body);
  }
  [[nodiscard]] bool empty() const noexcept { return plans_.empty(); }

 private:
  /// So many epochs are computed ahead: the present, the next, and the one after, which is ready
  /// then when the next begins.
  static constexpr std::uint64_t kept_epochs = 3;

  struct plan {
    std::shared_ptr<read_forecast> forecast;
    std::vector<std::shared_ptr<const use_table>> tables = {};
    std::uint64_t seen = 0;  ///< `now` at the last tick

    [[nodiscard]] std::uint64_t epoch() const noexcept { return seen / forecast->positions(); }
    [[nodiscard]] const use_table* table(std::uint64_t of_epoch) const noexcept;
    void ask(const block_id& block, answer& all) const;
  };

  std::vector<plan> plans_;
  double clock_ = 0;
};

}  // namespace feedline::detail
