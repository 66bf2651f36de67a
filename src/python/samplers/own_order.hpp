#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/index.hpp>

#include "python/interpreter/held_object.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace feedline::python {

/// The order that a Python object gives: a `digesting_sampler` for loaders. Copies share it. Any
/// thread, with the interpreter's lock or without it.
///
/// An epoch's order is drawn when it is first asked for. The last few are kept; an older one is
/// drawn again, and must be the same then.
class own_order {
 public:
  /// @param drawer A `feedline._orders.Drawer`.
  /// @param among Gets the Python objects that this holds.
  own_order(nb::object drawer, std::shared_ptr<held_objects> among);

  /// @throws usage_error if the first epoch has a sample that the dataset has not.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws the same of this epoch; python_exception, what the Python object raises.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;
  /// @throws the same.
  [[nodiscard]] std::uint64_t digest(std::uint64_t samples, std::uint64_t epoch) const;
  /// @throws usage_error if the object gives batches of another size.
  [[nodiscard]] own_order bind(const dataset& of, std::uint64_t batch_size) const;

 private:
  struct epoch_order;
  struct shared;

  static void require_within(std::uint64_t samples, const epoch_order& order,
                             std::uint64_t largest);
  [[nodiscard]] std::shared_ptr<const epoch_order> order_of(std::uint64_t samples,
                                                            std::uint64_t epoch) const;
  [[nodiscard]] std::shared_ptr<const epoch_order> drawn(std::uint64_t epoch) const;

  std::shared_ptr<shared> shared_;
};

}  // namespace feedline::python
