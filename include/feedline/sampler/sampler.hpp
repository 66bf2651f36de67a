#pragma once

#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

class dataset;

/// A type that defines the order of samples in each epoch.
///
/// `size(n)` is the number of positions in an epoch over a dataset of n samples. `indices(n, epoch,
/// first, out)` writes the samples at positions `first, first + 1, …` of the epoch, each less than
/// n, into `out`. Both are pure: equal arguments give equal results, from any thread, in time
/// proportional to `out` and memory independent of n.
template <class S>
concept sampler_like = std::copy_constructible<S> &&
    requires(const S& s, std::uint64_t n, std::uint64_t epoch, position first,
             std::span<sample_index> out) {
  { s.size(n) } -> std::convertible_to<std::uint64_t>;
  s.indices(n, epoch, first, out);
};

/// A sampler that needs the dataset before it orders its samples. `bind(dataset, batch_size)`
/// returns the sampler to use instead. A loader calls it once, at construction, before any other
/// function. The batch size is that of all ranks together (`shard`).
template <class S>
concept bindable_sampler = sampler_like<S> &&
    requires(const S& s, const dataset& of, std::uint64_t batch_size) {
  { s.bind(of, batch_size) } -> sampler_like;
};

/// A sampler whose order of an epoch becomes known when that epoch is first asked for, and may be
/// costly or impossible to compute again, such as one that calls a program's own iterator. States
/// have `digest(n, epoch)`, which identifies the whole order of their epoch, instead of a
/// fingerprint of epochs 0 and 1. A state at the beginning of an epoch has none.
template <class S>
concept digesting_sampler = sampler_like<S> &&
    requires(const S& s, std::uint64_t n, std::uint64_t epoch) {
  { s.digest(n, epoch) } -> std::convertible_to<std::uint64_t>;
};

/// A sampler whose order may differ from that of another one only in late epochs, such as one that
/// follows a schedule. States have a fingerprint of epochs 0 and 1; `identity()`, a digest of what
/// makes the order, becomes part of it, so that `loader::seek` refuses the state of another order.
/// It may return nothing, if a sampler that this one wraps has none.
template <class S>
concept identified_sampler = sampler_like<S> && requires(const S& s) {
  { s.identity() } -> std::convertible_to<std::optional<std::uint64_t>>;
};

/// Holds any sampler by value, for loaders. Copies share one immutable object. Callable from any
/// thread.
///
///     feedline::sampler order = feedline::shuffle{.seed = 42};
class sampler {
 public:
  /// Implicit, so that a loader accepts `sequential{}`, `shuffle{…}` or a type of the user's own.
  // The order of these constraints matters: checking `sampler_like` asks whether S can be copied,
  // and for `sampler` itself that question would depend on its own answer.
  template <class S>
  requires(!std::same_as<S, sampler> && sampler_like<S>)
      sampler(S order)  // NOLINT(google-explicit-constructor)
      : order_{std::make_shared<const model<S>>(std::move(order))} {}

  /// Positions in an epoch over a dataset of `samples` samples.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const { return order_->size(samples); }

  /// Writes the samples at positions `first`, `first + 1`, … of `epoch` into `out`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    order_->indices(samples, epoch, first, out);
  }

  /// The sampler to use for a dataset: the result of `bind` if the held sampler is a
  /// `bindable_sampler`, else this sampler itself.
  /// @throws exceptions of the sampler's own `bind`.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const {
    return order_->bind(*this, of, batch_size);
  }

  /// The digest of an epoch's order if the held sampler is a `digesting_sampler`, else nothing.
  /// @throws exceptions of the sampler's own `digest`.
  [[nodiscard]] std::optional<std::uint64_t> digest(std::uint64_t samples,
                                                    std::uint64_t epoch) const {
    return order_->digest(samples, epoch);
  }

  /// Whether the held sampler is a `digesting_sampler`.
  [[nodiscard]] bool has_digests() const noexcept { return order_->has_digests(); }

  /// The identity of the order if the held sampler is an `identified_sampler`, else nothing.
  [[nodiscard]] std::optional<std::uint64_t> identity() const { return order_->identity(); }

  /// The held sampler if it has this type; else null. Valid as long as this object.
  template <class S>
  [[nodiscard]] const S* target() const noexcept {
    const auto* const held = dynamic_cast<const model<S>*>(order_.get());
    return held == nullptr ? nullptr : &held->order;
  }

 private:
  struct concept_base {
    concept_base() = default;
    concept_base(const concept_base&) = delete;
    concept_base& operator=(const concept_base&) = delete;
    virtual ~concept_base() = default;
    virtual std::uint64_t size(std::uint64_t samples) const = 0;
    virtual void indices(std::uint64_t samples, std::uint64_t epoch, position first,
                         std::span<sample_index> out) const = 0;
    virtual sampler bind(const sampler& self, const dataset& of,
                         std::uint64_t batch_size) const = 0;
    virtual bool has_digests() const noexcept = 0;
    virtual std::optional<std::uint64_t> digest(std::uint64_t samples,
                                                std::uint64_t epoch) const = 0;
    virtual std::optional<std::uint64_t> identity() const = 0;
  };

  template <class S>
  struct model final : concept_base {
    explicit model(S held) : order{std::move(held)} {}
    std::uint64_t size(std::uint64_t samples) const override { return order.size(samples); }
    void indices(std::uint64_t samples, std::uint64_t epoch, position first,
                 std::span<sample_index> out) const override {
      order.indices(samples, epoch, first, out);
    }
    sampler bind(const sampler& self, const dataset& of, std::uint64_t batch_size) const override {
      if constexpr (bindable_sampler<S>) {
        return order.bind(of, batch_size);
      } else {
        return self;
      }
    }
    bool has_digests() const noexcept override { return digesting_sampler<S>; }
    std::optional<std::uint64_t> digest([[maybe_unused]] std::uint64_t samples,
                                        [[maybe_unused]] std::uint64_t epoch) const override {
      if constexpr (digesting_sampler<S>) {
        return order.digest(samples, epoch);
      } else {
        return std::nullopt;
      }
    }
    std::optional<std::uint64_t> identity() const override {
      if constexpr (identified_sampler<S>) {
        return order.identity();
      } else {
        return std::nullopt;
      }
    }
    S order;
  };

  std::shared_ptr<const concept_base> order_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
