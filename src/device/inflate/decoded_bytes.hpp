#pragma once

#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Writes what is decoded, in order, and never more than there is room for. Single bytes are kept
/// back, one by each thread of a team, and written together.
template <class Team>
class decoded_bytes {
 public:
  FEEDLINE_HOST_DEVICE decoded_bytes(std::byte* to, std::uint32_t room) : to_{to}, room_{room} {}

  /// @return Whether there was room; so with all below.
  FEEDLINE_HOST_DEVICE bool put(std::uint32_t byte) {
    if (room_ - at_ == kept_) return false;
    if (Team::lane() == kept_) byte_ = byte;
    if (++kept_ == Team::width) flush();
    return true;
  }
  /// Copies bytes that are not among what was decoded.
  FEEDLINE_HOST_DEVICE bool put(const std::byte* from, std::uint32_t bytes) {
    flush();
    if (bytes > room_ - at_) return false;
    for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width) to_[at_ + i] = from[i];
    at_ += bytes;
    Team::sync();
    return true;
  }
  /// Repeats bytes: those that begin so far back, and as they come.
  /// @return Whether as much was decoded, too.
  FEEDLINE_HOST_DEVICE bool repeat(std::uint32_t distance, std::uint32_t bytes) {
    flush();
    if (bytes > room_ - at_ || distance > at_) return false;
    std::byte* const to = to_ + at_;
    const std::byte* const from = to - distance;
    if (distance >= bytes) {
      for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width) to[i] = from[i];
    } else {
      for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width) to[i] = from[i % distance];
    }
    at_ += bytes;
    Team::sync();
    return true;
  }
  /// Writes what is kept back.
  FEEDLINE_HOST_DEVICE void flush() {
    if (kept_ == 0) return;
    if (Team::lane() < kept_) to_[at_ + Team::lane()] = static_cast<std::byte>(byte_);
    at_ += kept_;
    kept_ = 0;
    Team::sync();
  }
  /// All is written, and there is no room left.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool full() const { return kept_ == 0 && at_ == room_; }

 private:
  std::byte* to_;
  std::uint32_t room_;
  std::uint32_t at_ = 0;    ///< bytes that were written
  std::uint32_t kept_ = 0;  ///< bytes behind them
  std::uint32_t byte_ = 0;  ///< of them, this thread's
};

}  // namespace feedline::detail
