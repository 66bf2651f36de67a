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

/// The epoch and the number of the batch that comes next.
struct epoch_place {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  epoch_losses losses = {};  ///< before it
};

/// Keeps the position of a loader's consumer between epochs, and the values that identify its
/// states. Consumer.
class progress {
 public:
  /// @param order   Order over all ranks, bound to the dataset.
  /// @param batches Number of batches of an epoch.
  progress(dataset_ptr dataset, sampler order, const loader_options& options,
           std::uint64_t batches);

  /// Returns where the requested epoch begins.
  /// @throws usage_error if the last seek was to another epoch.
  [[nodiscard]] epoch_place begin_of(std::uint64_t epoch);
  /// The consumer leaves its epoch.
  void leave(epoch_place at) noexcept { at_ = at; }
  /// The next requested epoch will begin here. @throws usage_error if the state belongs to
  /// something else, or is beyond the epoch.
  void seek(const loader_state& to);

  [[nodiscard]] epoch_place place() const noexcept { return at_; }
  /// The state at an epoch and batch. Asks the sampler for its fingerprint once.
  [[nodiscard]] loader_state state(epoch_place at) const;
  /// A digest of everything that must be the same for all ranks, as `loader::order_digest`.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  /// Whether a state at this batch identifies the order.
  [[nodiscard]] bool has_order(std::uint64_t batch) const noexcept;
  [[nodiscard]] std::uint64_t order_of(std::uint64_t epoch) const;
  [[nodiscard]] std::uint64_t fingerprint() const;
  /// @throws usage_error if no pass can have counted the losses in the state.
  void check_losses(const loader_state& to) const;
  [[nodiscard]] std::string remedy_for(std::uint64_t global_batch) const;

  dataset_ptr dataset_;
  sampler order_;
  std::uint64_t batches_;
  std::uint64_t world_;
  error_action on_error_;
  std::uint64_t substitute_;  ///< 0 unless `on_error_` substitutes
  loader_state own_;          ///< complete except for epoch and batch, and for `order` until it was
                              ///< asked for
  mutable std::optional<std::uint64_t> order_fingerprint_;
  epoch_place at_;
  bool asked_ = false;   ///< whether any epoch was requested yet
  bool sought_ = false;  ///< a seek was made, and no epoch requested since
};

}  // namespace feedline::detail
