#pragma once

#include "detail/arithmetic.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Open rows by the room that they have, in up to 65,536 classes of equal width. A row's class is
/// its room, rounded down, and a sample's is its length, rounded up, so a row of the sample's class
/// or a higher one has room for it.
class rows_by_room {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();  ///< no row

  explicit rows_by_room(std::uint64_t capacity)
      : width_{divide_up<std::uint64_t>(capacity + 1, classes)}, heads_(classes, none) {}

  void clear() noexcept {
    for (std::size_t at = next(0); at < classes; at = next(at + 1)) heads_[at] = none;
    for (auto& level : levels_) level.fill(0);
    after_.clear();
  }
  /// @param row One more than the last one, or one that was taken.
  void put(std::uint32_t row, std::uint64_t room) {
    const std::size_t at = room / width_;
    if (row >= after_.size()) after_.resize(row + std::size_t{1}, none);
    after_[row] = std::exchange(heads_[at], row);
    mark(at);
  }
  /// Takes the row with the least room for a sample that `fits` accepts; `none` if there is none.
  template <class Fits>
  [[nodiscard]] std::uint32_t take(std::uint64_t length, int candidates, const Fits& fits) {
    for (std::size_t at = next(divide_up(length, width_)); at < classes; at = next(at + 1)) {
      for (std::uint32_t* link = &heads_[at]; *link != none; link = &after_[*link]) {
        const std::uint32_t row = *link;
        if (fits(row)) {
          *link = after_[row];
          if (heads_[at] == none) unmark(at);
          return row;
        }
        if (--candidates == 0) return none;
      }
    }
    return none;
  }

 private:
  static constexpr std::size_t classes = 65'536;
  static constexpr std::size_t word_bits = 64;

  void mark(std::size_t at) noexcept {
    for (auto& level : levels_) {
      level[at / word_bits] |= std::uint64_t{1} << at % word_bits;
      at /= word_bits;
    }
  }
  void unmark(std::size_t at) noexcept {
    for (auto& level : levels_) {
      level[at / word_bits] &= ~(std::uint64_t{1} << at % word_bits);
      if (level[at / word_bits] != 0) return;
      at /= word_bits;
    }
  }
  /// The first class from `at` on that has rows; `classes` if there is none.
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
    for (std::size_t height = 0; height < levels_.size(); ++height) {
      const std::size_t word = at / word_bits;
      if (word >= levels_[height].size()) return classes;
      const std::uint64_t rest = levels_[height][word] >> at % word_bits;
      if (rest == 0) {
        at = word + 1;
        continue;
      }
      at += static_cast<std::size_t>(std::countr_zero(rest));
      while (height-- > 0)
        at = at * word_bits + static_cast<std::size_t>(std::countr_zero(levels_[height][at]));
      return at;
    }
    return classes;
  }

  std::uint64_t width_;
  std::vector<std::uint32_t> heads_;  ///< first row of each class
  std::vector<std::uint32_t> after_;  ///< the next row of the same class
  /// Bits of classes with rows; bits of words that are not 0; the same of these.
  std::array<std::array<std::uint64_t, classes / word_bits>, 3> levels_{};
};

}  // namespace feedline::detail
