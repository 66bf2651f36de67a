#pragma once

#include "codecs/lz/bits.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Bits that are read from the last to the first (RFC 8878, section 4.1): the last is followed by a
/// single 1, and zeros up to the byte's end. A position p means that the bits below it are unread;
/// it is negative, or below `begin`, once more was read than there is. Positions count from the
/// first word's lowest bit.
///
/// Reads whole words of 4 bytes, only those that contain the stream; bits outside of them are
/// zeros.
class reverse_stream {
 public:
  reverse_stream() = default;
  FEEDLINE_HOST_DEVICE reverse_stream(const std::byte* from, std::uint32_t bytes) {
    const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) % 4);
    const std::uint32_t last = bytes == 0 ? 0 : static_cast<std::uint32_t>(from[bytes - 1]);
    words_ = reinterpret_cast<const std::uint32_t*>(from - lead);
    count_ = (lead + bytes + 3) / 4;
    begin_ = static_cast<std::int32_t>(8 * lead);
    end_ = last == 0 ? -1 : static_cast<std::int32_t>(8 * (lead + bytes - 1) + highest_bit(last));
  }

  /// Whether the stream has the 1 that must end it.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_marked() const { return end_ >= 0; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t begin() const { return begin_; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t end() const { return end_; }

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t word(std::int32_t number) const {
    return static_cast<std::uint32_t>(number) < count_ ? words_[number] : 0;
  }
  /// Index of the word with the bit below a position, and the number of its bits above the
  /// position.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::int32_t word_below(std::int32_t position) {
    return (position - 1) >> 5;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t bits_above(std::int32_t position) {
    return (0U - static_cast<std::uint32_t>(position)) % 32U;
  }
  /// The 64 bits below a position: the next one is the highest.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t bits_below(std::int32_t position) const {
    const std::int32_t at = word_below(position);
    const std::uint32_t above = bits_above(position);
    const std::uint64_t high = std::uint64_t{word(at)} << 32U | word(at - 1);
    const std::uint64_t low = std::uint64_t{word(at - 1)} << 32U | word(at - 2);
    return (high << above) >> 32U << 32U | (low << above) >> 32U;
  }

 private:
  const std::uint32_t* words_ = nullptr;
  std::uint32_t count_ = 0;
  std::int32_t begin_ = 0;
  std::int32_t end_ = -1;
};

}  // namespace feedline::detail
