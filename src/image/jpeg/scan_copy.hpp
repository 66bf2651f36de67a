#pragma once

#include "detail/host_device.hpp"
#include "detail/packed_bytes.hpp"
#include "image/jpeg/scan_bits.hpp"
#include "image/jpeg/scan_tables.hpp"

#include <cstdint>

namespace feedline::detail {

/// A file's bytes, read eight at once where they lie so: lanes that read what lies apart would
/// otherwise ask for the same memory again for each byte.
class jpeg_file_bytes {
 public:
  static constexpr std::uint32_t word_bytes = 8;

  /// @param file Of so many bytes; nothing else is read.
  FEEDLINE_HOST_DEVICE jpeg_file_bytes(const std::uint8_t* file, std::uint32_t bytes)
      : file_{file}, bytes_{bytes}, before_{bytes_before(file)} {}

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t at(std::uint32_t place) {
    const std::uint32_t number = (place + before_) / word_bytes;
    if (number != number_) {
      number_ = number;
      word_ = load(number);
    }
    return static_cast<std::uint32_t>(word_ >> (place + before_) % word_bytes * 8) & 0xFFU;
  }
  /// The first place from this one on that a word begins at.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t word_begin(const std::uint8_t* file,
                                                                     std::uint32_t place) {
    return place + (word_bytes - bytes_before(file + place)) % word_bytes;
  }

 private:
  /// Of the word that begins before it or there.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t bytes_before(const std::uint8_t* at) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % word_bytes);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t load(std::uint32_t number) const {
    const std::uint32_t begin = number * word_bytes;  // as if the file began with its first word
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
  std::uint32_t number_ = 0xFFFFFFFF;  ///< of the word that was read last
  std::uint64_t word_ = 0;
};

/// Copies a scan's bytes up to its first marker, by all lanes of a team, as `jpeg_scan_segments`
/// has one.
template <class Team>
class jpeg_scan_copy {
 public:
  FEEDLINE_HOST_DEVICE jpeg_scan_copy(Team& team, const jpeg_scan& scan)
      : team_{team}, scan_{scan}, last_{scan.bytes - 1} {
    per_lane<std::uint32_t> found;
    team_.each([&](std::uint32_t lane) {
      jpeg_file_bytes file{scan.file, scan.bytes};
      std::uint32_t at = share(lane);
      const std::uint32_t end = share(lane + 1);
      std::uint32_t before = at < end ? file.at(at - 1) : 0;
      kept_[lane] = 0;
      found[lane] = last_;
      for (; at < end; ++at) {
        const std::uint32_t byte = file.at(at);
        if (byte == 0xFF && scan.file[at + 1] != 0) {
          found[lane] = at;
          break;
        }
        kept_[lane] += is_stuffed(before, byte) ? 0 : 1;
        before = byte;
      }
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

  /// Bytes that a copy takes.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t room() const {
    return std::uint64_t{4} * Team::lanes * segment_words();
  }

  /// @param words Has that room.
  FEEDLINE_HOST_DEVICE jpeg_scan_bits copy_to(std::uint32_t* words) {
    const jpeg_scan_bits bits{words, 8 * bytes_, Team::lanes, segment_words()};
    const per_lane<std::uint32_t> before = team_.sum_before(kept_);
    team_.each([&](std::uint32_t lane) {
      // A lane writes whole words: those of its bytes but for the first, if that is begun before.
      const std::uint32_t first = before[lane];
      const std::uint32_t end = (first + kept_[lane] + 3) / 4 * 4;
      std::uint32_t word = 0;
      std::uint32_t place = bits.place_of((first + 3) / 4);
      jpeg_file_bytes file{scan_.file, scan_.bytes};
      std::uint32_t at = share(lane);
      std::uint32_t last = file.at(at - 1);
      for (std::uint32_t count = first; count < end; ++at) {
        const std::uint32_t byte = at < marker_ ? file.at(at) : 0;
        const bool is_left_out = at < marker_ && is_stuffed(last, byte);
        last = byte;
        if (is_left_out) continue;
        word = word << 8U | byte;
        ++count;
        if (count % 4 != 0 || count < first + 4) continue;
        words[place] = word;
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

  static constexpr std::uint32_t words_behind = 4;  ///< zeros, at least

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t segment_words() const {
    return ((bytes_ + 3) / 4 + words_behind + Team::lanes - 1) / Team::lanes;
  }
  /// Where a lane's share of the file's bytes begins: at a word, so that lanes read words in step.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t share(std::uint32_t lane) const {
    if (lane == 0) return scan_.frame.scan;
    const std::uint64_t count = last_ - scan_.frame.scan;
    const auto begin = scan_.frame.scan + static_cast<std::uint32_t>(count * lane / Team::lanes);
    const std::uint32_t word = jpeg_file_bytes::word_begin(scan_.file, begin);
    return lane == Team::lanes || word > last_ ? last_ : word;
  }
  /// @param before The byte in front of it; of the scan's first one a header's last, which is 0.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static bool is_stuffed(std::uint32_t before,
                                                            std::uint32_t byte) {
    return byte == 0 && before == 0xFF;
  }

  Team& team_;
  const jpeg_scan& scan_;
  std::uint32_t last_;
  per_lane<std::uint32_t> kept_;  ///< bytes of shares
  std::uint32_t marker_;
  std::uint32_t bytes_;
};

}  // namespace feedline::detail
