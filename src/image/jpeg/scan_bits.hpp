#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/scan_tables.hpp"

#include <cstdint>

namespace feedline::detail {

/// A scan's bits without stuffed zeros, 32 in a word, the first the highest. Some words of zeros
/// follow.
struct jpeg_scan_bits {
  const std::uint32_t* words = nullptr;
  std::uint32_t count = 0;
};

/// Reads bits one behind the other. May have read three words ahead.
class jpeg_bit_reader {
 public:
  FEEDLINE_HOST_DEVICE jpeg_bit_reader(const std::uint32_t* words, std::uint32_t position)
      : next_{words + position / 32},
        position_{position},
        high_{*next_++},
        low_{*next_++},
        ahead_{*next_++} {}

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t position() const { return position_; }
  /// The next 32 bits.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t peek() const {
    const std::uint64_t both = std::uint64_t{high_} << 32U | low_;
    return static_cast<std::uint32_t>(both << position_ % 32 >> 32U);
  }
  /// @param bits 32 at most.
  FEEDLINE_HOST_DEVICE void skip(std::uint32_t bits) {
    const std::uint32_t word = position_ / 32;
    position_ += bits;
    if (position_ / 32 == word) return;
    high_ = low_;
    low_ = ahead_;
    ahead_ = *next_++;
  }

 private:
  const std::uint32_t* next_;
  std::uint32_t position_;
  std::uint32_t high_;
  std::uint32_t low_;
  std::uint32_t ahead_;  ///< so that no code waits for memory
};

/// Copies a scan's bytes up to its first marker, by all lanes of a team, as `jpeg_scan_segments`
/// has one.
template <class Team>
class jpeg_scan_copy {
 public:
  /// Bytes that the copy of a scan takes.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint64_t room_for(std::uint32_t bytes) {
    return (std::uint64_t{bytes} + 3) / 4 * 4 + behind;
  }

  FEEDLINE_HOST_DEVICE jpeg_scan_copy(Team& team, const jpeg_scan& scan)
      : team_{team}, scan_{scan}, last_{scan.bytes - 1} {
    per_lane<std::uint32_t> found;
    team_.each([&](std::uint32_t lane) {
      std::uint32_t at = share(lane);
      const std::uint32_t end = share(lane + 1);
      kept_[lane] = 0;
      for (; at < end && !is_marker(at); ++at) kept_[lane] += is_stuffed(at) ? 0 : 1;
      found[lane] = at < end ? at : last_;
    });
    marker_ = team_.least(found);
    team_.each([&](std::uint32_t lane) {
      if (share(lane) >= marker_) kept_[lane] = 0;
    });
    bytes_ = team_.sum(kept_);
  }

  /// Where in the file the first marker begins; the file's last byte if there is none.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t marker() const { return marker_; }
  /// Bytes before it, without stuffed zeros.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t bytes() const { return bytes_; }

  /// @param words Has room for these bytes.
  FEEDLINE_HOST_DEVICE jpeg_scan_bits copy_to(std::uint32_t* words) {
    const per_lane<std::uint32_t> before = team_.sum_before(kept_);
    team_.each([&](std::uint32_t lane) {
      // A lane writes whole words: those of its bytes but for the first, if that is begun before.
      const std::uint32_t first = before[lane];
      std::uint32_t end = (first + kept_[lane] + 3) / 4 * 4;
      if (lane + 1 == Team::lanes) end += behind;
      std::uint32_t word = 0;
      std::uint32_t at = share(lane);
      for (std::uint32_t count = first; count < end; ++at) {
        if (at < marker_ && is_stuffed(at)) continue;
        word = word << 8U | (at < marker_ ? scan_.file[at] : 0U);
        ++count;
        if (count % 4 == 0 && count >= first + 4) words[count / 4 - 1] = word;
      }
    });
    return {words, 8 * bytes_};
  }

 private:
  template <class T>
  using per_lane = typename Team::template per_lane<T>;

  static constexpr std::uint32_t behind = 16;  ///< zeros

  /// Where a lane's share of the file's bytes begins.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t share(std::uint32_t lane) const {
    const std::uint64_t count = last_ - scan_.frame.scan;
    return scan_.frame.scan + static_cast<std::uint32_t>(count * lane / Team::lanes);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_marker(std::uint32_t at) const {
    return scan_.file[at] == 0xFF && scan_.file[at + 1] != 0;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_stuffed(std::uint32_t at) const {
    return scan_.file[at] == 0 && scan_.file[at - 1] == 0xFF;  // a header's last byte is 0
  }

  Team& team_;
  const jpeg_scan& scan_;
  std::uint32_t last_;
  per_lane<std::uint32_t> kept_;  ///< bytes of shares
  std::uint32_t marker_;
  std::uint32_t bytes_;
};

}  // namespace feedline::detail
