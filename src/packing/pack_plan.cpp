#include "packing/pack_plan.hpp"

#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "detail/arithmetic.hpp"
#include "sampler/bijection.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();
/// Rows that are looked at for a sample of several fields.
constexpr int max_candidates = 32;

/// Open rows by the room that they have, in up to 65,536 classes of equal width. A row's class is
/// its room, rounded down, and a sample's is its length, rounded up, so a row of the sample's class
/// or a higher one has room for it.
class rows_by_room {
 public:
  explicit rows_by_room(std::uint64_t capacity)
      : width_{divide_up<std::uint64_t>(capacity + 1, classes)}, heads_(classes, no_row) {}

  void clear() noexcept {
    for (std::size_t at = next(0); at < classes; at = next(at + 1)) heads_[at] = no_row;
    for (auto& level : levels_) level.fill(0);
    after_.clear();
  }
  /// @param row One more than the last one, or one that was taken.
  void put(std::uint32_t row, std::uint64_t room) {
    const std::size_t at = room / width_;
    if (row >= after_.size()) after_.resize(row + std::size_t{1}, no_row);
    after_[row] = std::exchange(heads_[at], row);
    mark(at);
  }
  /// Takes the row with the least room for a sample that `fits` accepts; `no_row` if there is none.
  template <class Fits>
  [[nodiscard]] std::uint32_t take(std::uint64_t length, int candidates, const Fits& fits) {
    for (std::size_t at = next(divide_up(length, width_)); at < classes; at = next(at + 1)) {
      for (std::uint32_t* link = &heads_[at]; *link != no_row; link = &after_[*link]) {
        const std::uint32_t row = *link;
        if (fits(row)) {
          *link = after_[row];
          if (heads_[at] == no_row) unmark(at);
          return row;
        }
        if (--candidates == 0) return no_row;
      }
    }
    return no_row;
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

/// Packs one window after the other.
class packer {
 public:
  packer(const pack_lengths& of, pack_plan& into)
      : of_{of}, into_{into}, fields_{of.capacity.size()}, rooms_{of.capacity.front()} {}

  void pack(std::span<const sample_index> window) {
    items_.clear();
    rows_.clear();
    used_.clear();
    rooms_.clear();
    for (const sample_index sample : window) add_sample(sample.value);
    sort();
    for (const std::uint32_t each : longest_first_) place(each);
    write();
  }

 private:
  struct item {
    std::uint64_t sample;
    std::uint64_t first;
    std::uint64_t length;          ///< number of elements of the first field
    std::uint32_t after = no_row;  ///< the next item of the row
  };
  struct row {
    std::uint32_t first = no_row;  ///< its items
    std::uint32_t last = no_row;
    std::uint64_t count = 0;
  };

  void add_sample(std::uint64_t sample) {
    const std::uint64_t length = of_.length(0, sample);
    const std::uint64_t first = of_.is_split(sample) ? add_whole_rows(sample, length) : 0;
    items_.push_back({sample, first, length - first});
  }

  /// @param length More than a row has. @return The elements that the rows take.
  std::uint64_t add_whole_rows(std::uint64_t sample, std::uint64_t length) {
    const std::uint64_t capacity = *std::min_element(of_.capacity.begin(), of_.capacity.end());
    const std::uint64_t rows = (length - 1) / capacity;
    into_.firsts.resize(into_.samples.size(), 0);
    try {
      into_.samples.insert(into_.samples.end(), rows, sample);
    } catch (const std::exception&) {  // std::bad_alloc, std::length_error
      throw usage_error{"pack_together: sample " + std::to_string(sample) + " of " +
                        std::to_string(length) + " elements takes " + std::to_string(rows + 1) +
                        " rows, for which there is no memory, at 24 bytes each"};
    }
    for (std::uint64_t i = 0; i < rows; ++i) {
      into_.firsts.push_back(i * capacity);
      into_.starts.push_back(into_.firsts.size());
    }
    into_.fullest = std::max<std::uint64_t>(into_.fullest, 1);
    return rows * capacity;
  }

  /// Orders the items by length, the longest first, and equal ones as they came. Counts lengths,
  /// unless that takes more memory than the items.
  void sort() {
    std::uint64_t longest = 0;
    for (const item& each : items_) longest = std::max(longest, each.length);
    longest_first_.resize(items_.size());
    if (longest > 4 * items_.size()) {
      std::iota(longest_first_.begin(), longest_first_.end(), 0U);
      std::stable_sort(
          longest_first_.begin(), longest_first_.end(),
          [&](std::uint32_t a, std::uint32_t b) { return items_[a].length > items_[b].length; });
      return;
    }
    places_.assign(longest + 2, 0);  // where the items of each length begin, by longest - length
    for (const item& each : items_) ++places_[longest - each.length + 1];
    std::partial_sum(places_.begin(), places_.end(), places_.begin());
    for (std::uint32_t i = 0; i < items_.size(); ++i)
      longest_first_[places_[longest - items_[i].length]++] = i;
  }

  [[nodiscard]] std::uint64_t length_of(const item& of, std::size_t field) const {
    return field == 0 ? of.length : of_.length(field, of.sample) - of.first;
  }

  void place(std::uint32_t number) {
    const item& next = items_[number];
    const auto fits = [&](std::uint32_t at) {
      for (std::size_t field = 1; field < fields_; ++field)
        if (length_of(next, field) > of_.capacity[field] - used_[at * fields_ + field])
          return false;
      return true;
    };
    std::uint32_t at = rooms_.take(next.length, max_candidates, fits);
    if (at == no_row) {
      at = static_cast<std::uint32_t>(rows_.size());
      rows_.emplace_back();
      used_.resize(used_.size() + fields_, 0);
    }
    row& into = rows_[at];
    (into.last == no_row ? into.first : items_[into.last].after) = number;
    into.last = number;
    ++into.count;
    for (std::size_t field = 0; field < fields_; ++field)
      used_[at * fields_ + field] += length_of(next, field);
    if (into.count != of_.max_samples) rooms_.put(at, of_.capacity.front() - used_[at * fields_]);
  }

  void write() {
    for (const row& each : rows_) {
      for (std::uint32_t at = each.first; at != no_row; at = items_[at].after) {
        const item& part = items_[at];
        if (part.first != 0) into_.firsts.resize(into_.samples.size(), 0);
        into_.samples.push_back(part.sample);
        if (part.first != 0 || !into_.firsts.empty()) into_.firsts.push_back(part.first);
      }
      into_.starts.push_back(into_.samples.size());
      into_.fullest = std::max(into_.fullest, each.count);
    }
  }

  const pack_lengths& of_;
  pack_plan& into_;
  std::size_t fields_;
  rows_by_room rooms_;
  std::vector<item> items_;
  std::vector<std::uint32_t> longest_first_;  ///< indices of items
  std::vector<std::uint32_t> places_;
  std::vector<row> rows_;
  std::vector<std::uint64_t> used_;  ///< elements of each row and field
};

}  // namespace

pack_plan make_pack_plan(const pack_lengths& of) {
  pack_plan plan;
  plan.samples.reserve(of.samples);
  packer into{of, plan};
  std::vector<sample_index> window;
  for (std::uint64_t first = 0; first < of.samples; first += window.size()) {
    window.resize(std::min(of.window, of.samples - first));
    if (of.seed) {
      bijection{of.samples, *of.seed, 0}.evaluate(position{first}, window);
    } else {
      for (std::size_t i = 0; i < window.size(); ++i) window[i] = {first + i};
    }
    into.pack(window);
  }
  plan.samples.shrink_to_fit();
  plan.starts.shrink_to_fit();
  return plan;
}

}  // namespace feedline::detail
