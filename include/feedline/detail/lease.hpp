#pragma once

#include <feedline/export.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace feedline::detail {
inline namespace FEEDLINE_ABI {

/// The right to use one slot of a ring, until it is destroyed. Move-only, because a lease has a
/// single holder; a lease that was moved from is empty, and its `Slot` is a default one. It keeps
/// the ring alive. In a child of fork its end does nothing, because the ring's threads are missing.
///
/// @tparam Ring `end_lease(const Slot&)` ends it; `is_own_process()` tells a child of fork;
/// `touched()` is told of each move, whose thread may be another one.
/// @tparam Slot The slot, and what the holder knows of it.
template <class Ring, class Slot>
class lease {
 public:
  lease(std::shared_ptr<Ring> ring, const Slot& slot) noexcept
      : ring_{std::move(ring)}, slot_{slot} {}
  lease(lease&& other) noexcept
      : ring_{std::move(other.ring_)}, slot_{std::exchange(other.slot_, {})} {
    if (ring_) ring_->touched();
  }
  lease& operator=(lease&& other) noexcept {
    if (this == &other) return *this;
    end();
    ring_ = std::move(other.ring_);
    slot_ = std::exchange(other.slot_, {});
    if (ring_) ring_->touched();
    return *this;
  }
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  ~lease() { end(); }

  /// The ring; null if the lease was moved from.
  [[nodiscard]] Ring* ring() const noexcept { return ring_.get(); }
  [[nodiscard]] const Slot* operator->() const noexcept { return &slot_; }

 private:
  void end() noexcept {
    if (!ring_) return;
    if (ring_->is_own_process()) {
      ring_->end_lease(slot_);
      ring_.reset();
    } else {
      leak(std::move(ring_));
    }
  }

  std::shared_ptr<Ring> ring_;
  Slot slot_;
};

/// A lease, or none. Like `std::optional`, but a temporary has no `->`, because its memory would be
/// returned at once.
template <class Lease>
class optional_lease : public std::optional<Lease> {
 public:
  using std::optional<Lease>::optional;
  // NOLINTNEXTLINE(google-explicit-constructor): an optional lease becomes one wherever it is given
  optional_lease(std::optional<Lease>&& other) noexcept : std::optional<Lease>{std::move(other)} {}

  [[nodiscard]] Lease* operator->() & noexcept { return &**this; }
  [[nodiscard]] const Lease* operator->() const& noexcept { return &**this; }
  const Lease* operator->() const&& = delete;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline::detail
