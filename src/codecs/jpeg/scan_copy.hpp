#pragma once

#include "codecs/jpeg/scan_bits.hpp"
#include "codecs/jpeg/scan_tables.hpp"
#include "detail/host_device.hpp"
#include "detail/packed_bytes.hpp"

#include <cstdint>

namespace feedline::detail {

/// Adjacent bytes of a file, four at most: the first is the lowest.
struct jpeg_some_bytes {
  std::uint32_t bytes;  ///< 0 after them
  std::uint32_t count;

  /// The same bytes with the last one lowest.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t in_order() const {
    return std::uint64_t{choose_bytes(bytes, 0, 0x0123)} >> (32 - 8 * count);
  }
  /// The bytes that are not marked in `others`, by the highest bits of bytes.
  [[nodiscard]] FEEDLINE_HOST_DEVICE jpeg_some_bytes without(std::uint32_t others) const {
    jpeg_some_bytes left = *this;
    while (others != 0) {
      const std::uint32_t lowest = others & (0 - others);
      const std::uint32_t below = (lowest >> 7U) - 1;
      left.bytes = (left.bytes & below) | (left.bytes >> 8U & ~below);
      --left.count;
      others = (others - lowest) >> 8U;
    }
    return left;
  }
};

/// A file's bytes, read as aligned words of eight: otherwise lanes, which read far from each other,
/// would load the same memory again for each byte.
class jpeg_file_bytes {
 public:
  static constexpr std::uint32_t word_bytes = 8;

  /// @param file Has `bytes` bytes; nothing else is read.
  FEEDLINE_HOST_DEVICE jpeg_file_bytes(const std::uint8_t* file, std::uint32_t bytes)
      : file_{file}, bytes_{bytes}, before_{bytes_before(file)} {}

  /// Bytes from `place` on, up to `end` or the end of an aligned group of four.
  /// @param place Before `end`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE jpeg_some_bytes from(std::uint32_t place, std::uint32_t end) {
    const std::uint32_t number = (place + before_) / word_bytes;
    if (number != number_) {
      number_ = number;
      word_ = load(number);
    }
    const std::uint32_t whole = 4 - (place + before_) % 4;
    const std::uint32_t count = end - place < whole ? end - place : whole;
    const auto bytes = static_cast<std::uint32_t>(word_ >> (place + before_) % word_bytes * 8);
    return {bytes & 0xFFFFFFFFU >> (32 - 8 * count), count};
  }
  /// The first offset from `place` on at which a word begins.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t word_begin(const std::uint8_t* file,
                                                                     std::uint32_t place) {
    return place + (word_bytes - bytes_before(file + place)) % word_bytes;
  }

 private:
  /// Bytes between the begin of a word and `at`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t bytes_before(const std::uint8_t* at) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % word_bytes);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t load(std::uint32_t number) const {
    const std::uint32_t begin = number * word_bytes;  // from the first word's begin
    if (begin >= before_ && begin - before_ + word_bytes <= bytes_) {
      const two_words words = load_two_words(file_ + (begin - before_));
      return std::uint64_t{words.word[1]} << 32U | words.word[0];
    }
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; i < word_bytes; ++i)
      if (begin + i >= before_ && begin + i - before_ < bytes_)
        word |= std::uint64_t{file_[begin + i - before_]} << i * 8;
    return word;
  }

  const std::uint8_t* file_;
  std::uint32_t bytes_;
  std::uint32_t before_;
  std::uint32_t number_ = 0xFFFFFFFF;  ///< index of the word that was read last
  std::uint64_t word_ = 0;
};

/// Finds markers, and zeros that are stuffed after bytes of ones, in bytes that it is shown in
/// order. Its results are the highest bits of those bytes that were shown last.
class jpeg_stuffing {
 public:
  /// @param before The byte before the first; before a scan's first byte that is a header's last
  /// byte, which is 0.
  FEEDLINE_HOST_DEVICE explicit jpeg_stuffing(std::uint32_t before)
      : ones_before_{before == 0xFF ? highest : 0} {}

  /// @param some At least one byte.
  FEEDLINE_HOST_DEVICE void see(const jpeg_some_bytes& some) {
    const std::uint32_t last = highest << (8 * some.count - 8);
    const std::uint32_t zeros = zero_bytes(some.bytes);
    const std::uint32_t ones = zero_bytes(~some.bytes);
    const std::uint32_t behind_ones = (ones << 8U | ones_before_) & (2 * last - 1);
    stuffed_ = behind_ones & zeros;
    marked_ = behind_ones & ~zeros;
    ones_before_ = (ones & last) != 0 ? highest : 0;
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t stuffed() const { return stuffed_; }
  /// Bytes before which a marker begins.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t marked() const { return marked_; }
  /// Whether all bits of the last byte are ones.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool ends_with_ones() const { return ones_before_ != 0; }

  /// Number of bytes in a result.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t count(std::uint32_t answer) {
    return add_products(answer >> 7U, 0x01010101, 0);
  }

 private:
  static constexpr std::uint32_t highest = 0x80;  ///< highest bit of a byte

  std::uint32_t ones_before_;
  std::uint32_t stuffed_ = 0;
  std::uint32_t marked_ = 0;
};

/// Copies a scan's bytes up to its first marker, by all lanes of a team like that of
/// `jpeg_scan_segments`.
template <class Team>
class jpeg_scan_copy {
 public:
  FEEDLINE_HOST_DEVICE jpeg_scan_copy(Team& team, const jpeg_scan& scan)
      : team_{team}, scan_{scan}, last_{scan.bytes - 1} {
    per_lane<std::uint32_t> found;
    team_.each([&](std::uint32_t lane) { found[lane] = count_share(lane); });
    marker_ = team_.least(found);
    team_.each([&](std::uint32_t lane) {
      if (share(lane) >= marker_) kept_[lane] = 0;
    });
    bytes_ = team_.sum(kept_);
  }

  /// Offset in the file at which the first marker begins; that of the file's last byte if there is
  /// none.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t marker() const { return marker_; }
  /// Number of bytes before it, without stuffed zeros.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t bytes() const { return bytes_; }

  /// Bytes of memory that a copy takes.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t room() const {
    return std::uint64_t{4} * Team::lanes * segment_words();
  }

  /// @param words Memory of at least `room()` bytes.
  FEEDLINE_HOST_DEVICE jpeg_scan_bits copy_to(std::uint32_t* words) {
    const jpeg_scan_bits bits{words, 8 * bytes_, Team::lanes, segment_words()};
    const per_lane<std::uint32_t> before = team_.sum_before(kept_);
    team_.each([&](std::uint32_t lane) {
      // A lane writes whole words: all that contain its bytes, except a first one that an earlier
      // lane begins.
      const std::uint32_t first = before[lane];
      const std::uint32_t end = (first + kept_[lane] + 3) / 4 * 4;
      std::uint32_t place = bits.place_of((first + 3) / 4);
      jpeg_file_bytes file{scan_.file, scan_.bytes};
      std::uint32_t at = share(lane);
      jpeg_stuffing stuffing{scan_.file[at - 1]};
      std::uint64_t taken = 0;  // at least the last four bytes
      for (std::uint32_t count = first; count < end;) {
        jpeg_some_bytes some{0, 4};  // zeros after the scan
        if (at < marker_) {
          some = file.from(at, marker_);
          at += some.count;
          stuffing.see(some);
          some = some.without(stuffing.stuffed());
        }
        taken = taken << 8 * some.count | some.in_order();
        const std::uint32_t word = count / 4;
        count += some.count;
        if (count / 4 == word || 4 * word < first) continue;
        words[place] = static_cast<std::uint32_t>(taken >> count % 4 * 8);
        place = bits.place_behind(place);
      }
      for (std::uint32_t zero = (bytes_ + 3) / 4 + lane; zero < bits.all_words();
           zero += Team::lanes)
        words[bits.place_of(zero)] = 0;
    });
    return bits;
  }

 private:
  template <class T>
  using per_lane = typename Team::template per_lane<T>;

  static constexpr std::uint32_t words_behind = 4;  ///< least number of zero words

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t segment_words() const {
    return ((bytes_ + 3) / 4 + words_behind + Team::lanes - 1) / Team::lanes;
  }
  /// Offset at which a lane's share of the file's bytes begins: the begin of a word, so that lanes
  /// read words in step.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t share(std::uint32_t lane) const {
    if (lane == 0) return scan_.frame.scan;
    const std::uint64_t count = last_ - scan_.frame.scan;
    const auto begin = scan_.frame.scan + static_cast<std::uint32_t>(count * lane / Team::lanes);
    const std::uint32_t word = jpeg_file_bytes::word_begin(scan_.file, begin);
    return lane == Team::lanes || word > last_ ? last_ : word;
  }
  /// Counts the bytes of a lane's share before a marker, without stuffed zeros.
  /// @return Offset at which the marker begins; that of the file's last byte if there is none.
  FEEDLINE_HOST_DEVICE std::uint32_t count_share(std::uint32_t lane) {
    kept_[lane] = 0;
    std::uint32_t at = share(lane);
    const std::uint32_t end = share(lane + 1);
    if (at >= end) return last_;
    jpeg_file_bytes file{scan_.file, scan_.bytes};
    jpeg_stuffing stuffing{scan_.file[at - 1]};
    while (at < end) {
      const jpeg_some_bytes some = file.from(at, end);
      stuffing.see(some);
      if (stuffing.marked() != 0) {
        std::uint32_t before = 0;
        while ((stuffing.marked() >> 8 * before & 0xFFU) == 0) ++before;
        const std::uint32_t stuffed = stuffing.stuffed() & ((1U << 8 * before) - 1);
        kept_[lane] +=
            before - 1 - stuffing.count(stuffed);  // if negative, the lane before found it
        return at + before - 1;
      }
      kept_[lane] += some.count - stuffing.count(stuffing.stuffed());
      at += some.count;
    }
    if (!stuffing.ends_with_ones() || scan_.file[end] == 0) return last_;
    --kept_[lane];
    return end - 1;
  }

  Team& team_;
  const jpeg_scan& scan_;
  std::uint32_t last_;
  per_lane<std::uint32_t> kept_;  ///< number of bytes in each share
  std::uint32_t marker_;
  std::uint32_t bytes_;
};

}  // namespace feedline::detail
