#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Checks that a sampler is pure. Use it while you write a sampler of your own.
///
///     feedline::loader loader{train, feedline::checked{my_order{}}, gpu, {.batch_size = 256}};
///
/// A loader's order must be a function of (epoch, position): readers ask for any run, in any order,
/// from any thread, and for some positions twice. `checked` passes all calls on to the sampler. It
/// then repeats each request in other parts, after a request for another epoch: the run's second
/// half, all of it, its first half, and single positions from the end. It compares all answers.
/// When a loader binds it, it checks the beginning, the middle and the end of the first three
/// epochs and of a distant one. So most faults are found before a thread starts.
///
/// It makes a sampler about four times as slow, and does not change the order. Callable from any
/// thread if the sampler is.
class checked {
 public:
  template <class S>
  requires(!std::same_as<S, checked> && sampler_like<S>) explicit checked(S order)
      : order_{std::move(order)} {}

  /// @throws usage_error if the sampler returns two different sizes.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error naming epoch, position and both answers, if two differ, or if one is not
  /// below `samples`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// The checked order for a dataset; a loader calls this.
  /// @throws usage_error like `indices`; exceptions of the sampler's own `bind`.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const;
  /// The identity of the sampler's order, if it has one.
  [[nodiscard]] std::optional<std::uint64_t> identity() const { return order_.identity(); }

 private:
  sampler order_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
