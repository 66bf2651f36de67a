#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// A scan's bits without stuffed zeros, 32 in a word, the first one highest; some words of zeros
/// follow. The words are cut into one segment for each lane that reads them. The first words of all
/// segments are stored side by side, then all second words, so that lanes that advance in step read
/// adjacent memory.
struct jpeg_scan_bits {
  const std::uint32_t* words = nullptr;
  std::uint32_t count = 0;  ///< bits
  std::uint32_t segments = 1;
  std::uint32_t segment_words = 0;  ///< words of each segment, including the zeros after the bits

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t all_words() const {
    return segments * segment_words;
  }
  /// Index of a word in memory; and the index of the word that follows the one at index `place`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t place_of(std::uint32_t word) const {
    return word % segment_words * segments + word / segment_words;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t place_behind(std::uint32_t place) const {
    const std::uint32_t below = place + segments;
    return below < all_words() ? below : below - all_words() + 1;
  }
  /// The first bit of a segment; at most the number of bits.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t begin_of(std::uint32_t segment) const {
    const std::uint32_t begin = segment * segment_words * 32;
    return begin < count ? begin : count;
  }
};

/// Sets `word` to the one at `from`, if `loads`. On a GPU the thread does not wait for it before
/// using it: the compiler would turn a plain assignment into a load and a move directly after it,
/// which waits.
FEEDLINE_HOST_DEVICE inline void load_if(bool loads, const std::uint32_t* from,
                                         std::uint32_t& word) {
#if defined(__CUDA_ARCH__)
  asm volatile(
      "{\n\t"
      ".reg .pred loads;\n\t"
      "setp.ne.u32 loads, %2, 0;\n\t"
      "@loads ld.global.u32 %0, [%1];\n\t"
      "}"
      : "+r"(word)
      : "l"(from), "r"(static_cast<std::uint32_t>(loads)));
#else
  if (loads) word = *from;
#endif
}

/// Reads bits in order. May read three words ahead.
class jpeg_bit_reader {
 public:
  FEEDLINE_HOST_DEVICE jpeg_bit_reader(const jpeg_scan_bits& bits, std::uint32_t position)
      : bits_{bits}, next_{bits.place_of(position / 32)}, position_{position} {
    high_ = take_word();
    low_ = take_word();
    ahead_ = take_word();
  }

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
    const bool is_passed = position_ / 32 != word;
    if (is_passed) {
      high_ = low_;
      low_ = ahead_;
    }
    load_if(is_passed, bits_.words + next_, ahead_);
    if (is_passed) next_ = bits_.place_behind(next_);
  }

 private:
  FEEDLINE_HOST_DEVICE std::uint32_t take_word() {
    const std::uint32_t word = bits_.words[next_];
    next_ = bits_.place_behind(next_);
    return word;
  }

  jpeg_scan_bits bits_;
  std::uint32_t next_;  ///< index in memory
  std::uint32_t position_;
  std::uint32_t high_;
  std::uint32_t low_;
  std::uint32_t ahead_;  ///< loaded early, so that decoding does not wait for memory
};

}  // namespace feedline::detail
