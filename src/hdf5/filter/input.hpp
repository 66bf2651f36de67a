#pragma once

#include "detail/byte_order.hpp"
#include "hdf5/filter/undo.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// Stored bytes of a filter, read from front to back. Nothing is read past their end.
class hdf5_filter_input {
 public:
  explicit hdf5_filter_input(std::span<const std::byte> stored) noexcept
      : stored_{stored}, rest_{stored} {}

  /// The next `count` bytes. @throws hdf5_filter_error if there are fewer.
  [[nodiscard]] std::span<const std::byte> take(std::uint64_t count) {
    if (count > rest_.size())
      throw hdf5_filter_error{"wants " + std::to_string(count) + " bytes at byte " +
                              std::to_string(at()) + ", but of " + std::to_string(stored_.size()) +
                              " bytes only " + std::to_string(rest_.size()) + " are left"};
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  template <std::unsigned_integral T>
  [[nodiscard]] T big_endian() {
    return static_cast<T>(detail::big_endian(take(sizeof(T))));
  }
  template <std::unsigned_integral T>
  [[nodiscard]] T little_endian() {
    return static_cast<T>(detail::little_endian(take(sizeof(T))));
  }

  [[nodiscard]] std::size_t at() const noexcept { return stored_.size() - rest_.size(); }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  std::span<const std::byte> stored_;
  std::span<const std::byte> rest_;
};

}  // namespace feedline::detail
