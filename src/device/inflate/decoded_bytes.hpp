#pragma once

#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The last bytes that were decoded, in memory that a team shares: most repetitions are of those,
/// and a GPU's other memory takes ten times as long to answer. Place p of what is decoded lies at p
/// modulo `bytes`.
struct decoded_window {
  static constexpr std::uint32_t bytes = 4096;

  alignas(4) std::byte ring[bytes];
};

/// Takes what is decoded, in order. It goes to the window, and from there to its place, but for
/// what there is no room for.
template <class Team>
class decoded_bytes {
 public:
  FEEDLINE_HOST_DEVICE decoded_bytes(std::byte* to, std::uint32_t room, decoded_window& window)
      : to_{to}, ring_{window.ring}, room_{room} {}

  /// @return False if more was decoded than there is room for, sooner or later; so with all below.
  FEEDLINE_HOST_DEVICE bool put(std::uint32_t byte) {
    if (Team::lane() == 0) in_ring(at_) = static_cast<std::byte>(byte);
    ++at_;
    return write_some();
  }
  /// Copies bytes that are not among what was decoded.
  FEEDLINE_HOST_DEVICE bool put(const std::byte* from, std::uint32_t bytes) {
    while (bytes > 0) {
      const std::uint32_t piece = bytes < some ? bytes : some;
      Team::sync();
      for (std::uint32_t i = Team::lane(); i < piece; i += Team::width) in_ring(at_ + i) = from[i];
      at_ += piece;
      from += piece;
      bytes -= piece;
      if (!write_some()) return false;
    }
    return true;
  }
  /// Repeats bytes: those that begin so far back, and as they come.
  /// @param bytes 258 at most. @return False, too, if that is before the first.
  FEEDLINE_HOST_DEVICE bool repeat(std::uint32_t distance, std::uint32_t bytes) {
    if (distance > at_) return false;
    Team::sync();
    const std::uint32_t from = at_ - distance;
    if (distance > near) {  // then it was written, and ends before here
      FEEDLINE_SHORT_LOOP
      for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width)
        in_ring(at_ + i) = to_[from + i];
    } else if (distance >= bytes) {
      FEEDLINE_SHORT_LOOP
      for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width)
        in_ring(at_ + i) = in_ring(from + i);
    } else {
      FEEDLINE_SHORT_LOOP
      for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width)
        in_ring(at_ + i) = in_ring(from + i % distance);
    }
    at_ += bytes;
    return write_some();
  }
  /// Writes all. @return Whether that fills the room.
  FEEDLINE_HOST_DEVICE bool finish() { return write(at_) && at_ == room_; }

 private:
  /// Bytes that are written together, about.
  static constexpr std::uint32_t some = 512;
  /// Nothing that is so near is overwritten in the window before all threads have read it.
  static constexpr std::uint32_t near = decoded_window::bytes - 2 * some;

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::byte& in_ring(std::uint32_t place) const {
    return ring_[place % decoded_window::bytes];
  }
  FEEDLINE_HOST_DEVICE bool write_some() { return at_ - written_ < some || write(at_ / 4 * 4); }
  FEEDLINE_HOST_DEVICE bool write(std::uint32_t end) {
    if (end > room_) return false;
    Team::sync();
    if ((reinterpret_cast<std::uintptr_t>(to_) | written_) % 4 == 0) {
      const std::uint32_t words = (end - written_) / 4;
      for (std::uint32_t i = Team::lane(); i < words; i += Team::width)
        reinterpret_cast<std::uint32_t*>(to_ + written_)[i] =
            reinterpret_cast<const std::uint32_t&>(in_ring(written_ + 4 * i));
      written_ += 4 * words;
    }
    for (std::uint32_t i = written_ + Team::lane(); i < end; i += Team::width) to_[i] = in_ring(i);
    written_ = end;
    Team::sync();
    return true;
  }

  std::byte* to_;
  std::byte* ring_;
  std::uint32_t room_;
  std::uint32_t at_ = 0;       ///< bytes that were decoded,
  std::uint32_t written_ = 0;  ///< and that are at their place: all but the last `some`, about
};

}  // namespace feedline::detail
