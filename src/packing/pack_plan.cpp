#include "packing/pack_plan.hpp"

#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "packing/rows_by_room.hpp"
#include "sampler/bijection.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Rows that are looked at for a sample of several fields.
constexpr int max_candidates = 32;

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
    std::uint64_t length;                      ///< number of elements of the first field
    std::uint32_t after = rows_by_room::none;  ///< the next item of the row
  };
  struct row {
    std::uint32_t first = rows_by_room::none;  ///< its items
    std::uint32_t last = rows_by_room::none;
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
    if (at == rows_by_room::none) {
      at = static_cast<std::uint32_t>(rows_.size());
      rows_.emplace_back();
      used_.resize(used_.size() + fields_, 0);
    }
    row& into = rows_[at];
    (into.last == rows_by_room::none ? into.first : items_[into.last].after) = number;
    into.last = number;
    ++into.count;
    for (std::size_t field = 0; field < fields_; ++field)
      used_[at * fields_ + field] += length_of(next, field);
    if (into.count != of_.max_samples) rooms_.put(at, of_.capacity.front() - used_[at * fields_]);
  }

  void write() {
    for (const row& each : rows_) {
      for (std::uint32_t at = each.first; at != rows_by_room::none; at = items_[at].after) {
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
