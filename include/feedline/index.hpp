#pragma once

#include <feedline/export.hpp>

#include <compare>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A number that counts one kind of thing: a sample's index is not a ticket, though both are
/// integers.
template <class Tag>
struct index {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const index&, const index&) noexcept = default;
};

/// Index of a sample in the dataset: 0 to `size() - 1`.
using sample_index = index<struct sample_tag>;

/// Position in an epoch's order: 0 to the sampler's `size() - 1`.
using position = index<struct position_tag>;

/// Number of a slot within an epoch, in the order of delivery, from 0.
using ticket = index<struct ticket_tag>;

/// Index of a slot in a ring: 0 to the ring's depth - 1.
using slot_index = index<struct slot_tag>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
