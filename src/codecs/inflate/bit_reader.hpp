#pragma once

#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Reads bits as deflate packs them, from the lowest of each byte. After the end it returns zeros,
/// or bits of the bytes there; `ended_early` then returns true.
///
/// Reads whole words of 4 bytes, only those that contain bytes of the stream; a team loads as many
/// at a time as it has threads.
template <class Team>
class bit_reader {
 public:
  FEEDLINE_HOST_DEVICE bit_reader(const std::byte* from, std::uint32_t bytes)
      : lead_{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) % 4)},
        end_{(lead_ + bytes + 3) / 4},
        bytes_{bytes},
        words_{reinterpret_cast<const std::uint32_t*>(from - lead_)} {
    seek(0);
  }

  /// Makes this many bits ready. @param bits 32 at most.
  FEEDLINE_HOST_DEVICE void need(std::uint32_t bits) {
    if (ready_ >= bits) return;
    const std::uint32_t at = next_ % Team::width;
    if (at == 0) {
      window_ = ahead_;
      ahead_ = word(next_ + Team::width + Team::lane());
    }
    buffer_ |= std::uint64_t{Team::from(window_, at)} << ready_;
    ready_ += 32;
    ++next_;
  }
  /// The next bits, without dropping them. `need` must have made them ready.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t peek(std::uint32_t bits) const {
    return static_cast<std::uint32_t>(buffer_) & ((1U << bits) - 1U);
  }
  /// Bits that are ready, the next one is the lowest, and their number.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t bits() const { return buffer_; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t ready() const { return ready_; }
  FEEDLINE_HOST_DEVICE void drop(std::uint32_t bits) {
    buffer_ >>= bits;
    ready_ -= bits;
  }
  /// @param bits Below 32.
  FEEDLINE_HOST_DEVICE std::uint32_t take(std::uint32_t bits) {
    const std::uint32_t value = peek(bits);
    drop(bits);
    return value;
  }
  FEEDLINE_HOST_DEVICE void drop_to_byte() { drop(ready_ % 8); }

  /// Bytes that were taken, including one that was taken in part.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t taken_bytes() const {
    return next_ * 4 - ready_ / 8 - lead_;
  }
  /// Whether more was taken than the stream has.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool ended_early() const { return taken_bytes() > bytes_; }
  /// Continues at a byte. @param at Offset in the stream, at most its size.
  FEEDLINE_HOST_DEVICE void seek(std::uint32_t at) {
    const std::uint32_t first = (lead_ + at) / 4;
    next_ = first / Team::width * Team::width;
    ahead_ = word(next_ + Team::lane());
    buffer_ = 0;
    ready_ = 0;
    while (next_ < first) {
      need(1);
      drop(32);
    }
    need(32);
    drop((lead_ + at) % 4 * 8);
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t word(std::uint32_t number) const {
    return number < end_ ? words_[number] : 0;
  }

  std::uint32_t lead_;  ///< bytes before the stream in its first word
  std::uint32_t end_;   ///< end of the stream, in words
  std::uint32_t bytes_;
  const std::uint32_t* words_;
  std::uint32_t next_ = 0;    ///< index of the word that enters the buffer next
  std::uint32_t window_ = 0;  ///< this thread's word of the team's words around `next_`
  std::uint32_t ahead_ = 0;   ///< this thread's word of the words after those
  std::uint64_t buffer_ = 0;
  std::uint32_t ready_ = 0;  ///< bits in the buffer
};

}  // namespace feedline::detail
