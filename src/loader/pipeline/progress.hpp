#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_state.hpp>
#include <feedline/sampler/sampler.hpp>

#include "staging/slot_repairs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// Which batch of which epoch comes next.
struct epoch_place {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  epoch_losses losses = {};  ///< before it
};

/// Where a loader's consumer stands, while it stands in no epoch; and what its states are of.
/// Consumer.
class progress {
 public:
  /// @param order   Of all ranks, bound to the dataset.
  /// @param batches Of an epoch.
  progress(dataset_ptr dataset, sampler order, const loader_options& options,
           std::uint64_t batches);

  /// An epoch is asked for: where it begins.
  /// @throws usage_error if the place sought is in another epoch.
  [[nodiscard]] epoch_place begin_of(std::uint64_t epoch);
  /// The consumer leaves the epoch in which it stood.
  void leave(epoch_place at) noexcept { at_ = at; }
  /// The next epoch asked for is to begin here. @throws usage_error if the state is of something
  /// else, or beyond the epoch.
  void seek(const loader_state& to);

  [[nodiscard]] epoch_place place() const noexcept { return at_; }
  /// Of a place. Asks the sampler for its fingerprint once.
  [[nodiscard]] loader_state state(epoch_place at) const;
  /// Of all that the ranks of a run must have alike, as `loader::order_digest`.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  [[nodiscard]] std::uint64_t fingerprint() const;
  /// @throws usage_error if no run can have counted what the state says.
  void check_losses(const loader_state& to) const;
  [[nodiscard]] std::string remedy_for(std::uint64_t global_batch) const;

  dataset_ptr dataset_;
  sampler order_;
  std::uint64_t batches_;
  std::uint64_t world_;
  error_action on_error_;
  std::uint64_t substitute_;  ///< 0 if `on_error_` is none
  loader_state own_;          ///< but for its place, and `order` until it was asked for
  mutable std::optional<std::uint64_t> order_fingerprint_;
  epoch_place at_;
  bool asked_ = false;   ///< for any epoch yet
  bool sought_ = false;  ///< and nothing asked for since
};

}  // namespace feedline::detail
