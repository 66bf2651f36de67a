#pragma once

#include "codecs/lz/bits.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The last bytes that were decoded, in memory that a team shares: most repetitions repeat these
/// bytes, and a GPU's other memory has ten times the latency. Byte p of the decoded bytes is at p
/// modulo `bytes`.
struct decoded_window {
  static constexpr std::uint32_t bytes = 4096;

  alignas(4) std::byte ring[bytes];
};

/// Takes decoded bytes, in order. They go to the window, and from there to the destination;
/// bytes that do not fit there are dropped.
/// @tparam TakesSurplus Whether more bytes than there is room for are no failure.
template <class Team, bool TakesSurplus = false>
class decoded_bytes {
 public:
  FEEDLINE_HOST_DEVICE decoded_bytes(std::byte* to, std::uint32_t room, decoded_window& window)
      : to_{to}, ring_{window.ring}, room_{room} {}

  /// @return False, perhaps only in a later call, if more was decoded than there is room for; so do
  ///         the functions below.
  FEEDLINE_HOST_DEVICE bool put(std::uint32_t byte) {
    if (Team::lane() == 0) in_ring(at_) = static_cast<std::byte>(byte);
    ++at_;
    return write_some();
  }
  /// A byte of each of these lanes, in their order. @param lanes A bit each.
  template <class Warp>
  FEEDLINE_HOST_DEVICE bool put(Warp& warp,
                                const typename Warp::template per_lane<std::uint32_t>& bytes,
                                std::uint32_t lanes) {
    warp.each([&](std::uint32_t lane) {
      if ((lanes >> lane & 1U) != 0)
        in_ring(at_ + count_bits(low_bits(lanes, lane))) = static_cast<std::byte>(bytes[lane]);
    });
    at_ += count_bits(lanes);
    return write_some();
  }
  /// Copies bytes that are not among the decoded ones.
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
  /// Repeats bytes: those that begin `distance` bytes back, one after the other, so that a
  /// repetition may include bytes that it writes itself.
  /// @param bytes 258 at most. @return False, too, if that is before the first byte.
  FEEDLINE_HOST_DEVICE bool repeat(std::uint32_t distance, std::uint32_t bytes) {
    if (distance > at_) return false;
    Team::sync();
    const std::uint32_t from = at_ - distance;
    if (distance > near) {  // such bytes are written already, and end before `at_`
      FEEDLINE_SHORT_LOOP
      for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width)
        if (!TakesSurplus || from + i < room_) in_ring(at_ + i) = to_[from + i];
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
  /// Writes all bytes. @return Whether they fill the room, and there are no more unless surplus is
  ///         taken.
  FEEDLINE_HOST_DEVICE bool finish() {
    return write(at_) && (TakesSurplus ? at_ >= room_ : at_ == room_);
  }
  /// Number of bytes that were decoded and for which there is no room.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t surplus() const {
    return at_ > room_ ? at_ - room_ : 0;
  }

 private:
  /// Approximate number of bytes that are written together.
  static constexpr std::uint32_t some = 512;
  /// A distance up to which bytes stay in the window until all threads have read them.
  static constexpr std::uint32_t near = decoded_window::bytes - 2 * some;

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::byte& in_ring(std::uint32_t place) const {
    return ring_[place % decoded_window::bytes];
  }
  FEEDLINE_HOST_DEVICE bool write_some() { return at_ - written_ < some || write(at_ / 4 * 4); }
  FEEDLINE_HOST_DEVICE bool write(std::uint32_t end) {
    if (end > room_) {
      if (!TakesSurplus) return false;
      end = room_;
    }
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
  std::uint32_t written_ = 0;  ///< and bytes that were written out: all but about `some`
};

}  // namespace feedline::detail
