// Over 250 lines: one class, a dataset that computes six kinds of fields from one plan.

#include "packing/planned_rows.hpp"

#include <feedline/dataset/made_fields.hpp>
#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "detail/sample_range.hpp"
#include "packing/pack_plan.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

void put_i32(std::span<std::byte> out, std::uint64_t place, std::int64_t value) noexcept {
  const auto number = static_cast<std::int32_t>(value);
  std::memcpy(out.data() + place * sizeof number, &number, sizeof number);
}

class planned_rows final : public packed_dataset, public has_made_fields {
 public:
  planned_rows(std::vector<packed_column> columns, const pack_together_options& options)
      : columns_{std::move(columns)},
        capacity_{columns_.front().capacity},
        least_capacity_{std::ranges::min(columns_, {}, &packed_column::capacity).capacity},
        positions_{options.positions},
        documents_{options.documents},
        mask_{options.mask} {
    const std::uint64_t samples = columns_.front().of->size();
    check_lengths(samples, options.longer);
    std::vector<std::uint64_t> capacities;
    for (const packed_column& each : columns_) capacities.push_back(each.capacity);
    plan_ = make_pack_plan(
        {.samples = samples,
         .capacity = std::move(capacities),
         .length = [&](std::size_t of, std::uint64_t sample) { return length(of, sample); },
         .is_split = [&](std::uint64_t sample) { return is_longer(sample); },
         .window = options.window,
         // Empty samples need no room, and any number of them would fit.
         .max_samples = options.max_samples != 0 ? options.max_samples : capacity_,
         .seed = options.seed});
    max_samples_ =
        options.max_samples != 0 ? options.max_samples : std::max<std::uint64_t>(1, plan_.fullest);
    (void)checked_row_bytes("pack_together", planned_rows::fields());
  }

  std::uint64_t size() const override { return plan_.starts.size() - 1; }
  std::vector<field> fields() const override {
    std::vector<field> all;
    for (const packed_column& each : columns_) {
      all.push_back(detail::field_of(each.element, each.capacity));
      all.push_back({each.element.name + "_count", element_type::i32, {}});
      all.push_back({each.element.name + "_offsets", element_type::i32, {max_samples_ + 1}});
    }
    const std::string name = columns_.front().element.name;
    if (positions_) all.push_back({name + "_position", element_type::i32, {capacity_}});
    if (documents_) all.push_back({name + "_document", element_type::i32, {capacity_}});
    if (mask_ != packed_mask::none) all.push_back({name + "_mask", element_type::u8, {capacity_}});
    return all;
  }
  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(columns_,
                               [](const packed_column& each) { return each.of->wants_prefetch(); });
  }
  bool hints_ranges() const noexcept override {
    return std::ranges::all_of(columns_, [](const packed_column& each) {
      return !each.of->wants_prefetch() || each.of->hints_ranges();
    });
  }
  read_concurrency concurrency() const override {
    const bool serialized = std::ranges::any_of(columns_, [](const packed_column& each) {
      return each.of->concurrency() == read_concurrency::serialized;
    });
    return serialized ? read_concurrency::serialized : read_concurrency::parallel;
  }
  unsigned reads_in_processes() const override {
    unsigned most = 0;
    for (const packed_column& each : columns_) most = std::max(most, each.of->reads_in_processes());
    return most;
  }
  std::uint64_t max_samples() const noexcept override { return max_samples_; }

  void prefetch(std::span<const sample_index> rows) const noexcept override try {
    std::vector<sample_index> samples;
    for (const sample_index row : rows)
      if (row.value < size())
        for_each_part(0, row.value,
                      [&](const packed_part& part) { samples.push_back(part.sample); });
    for (const packed_column& each : columns_)
      if (each.of->wants_prefetch()) each.of->prefetch(samples);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

  std::vector<packed_part> parts_of(sample_index row) const override {
    require_in_range({&row, 1}, size());
    std::vector<packed_part> parts;
    for_each_part(0, row.value, [&](const packed_part& part) { parts.push_back(part); });
    return parts;
  }

  std::vector<made_field> made_fields() const override {
    std::vector<made_field> made;
    std::size_t place = 3 * columns_.size();
    const auto add = [&](bool wanted, packed_values values) {
      if (wanted) made.push_back({.place = place++, .offsets = 2, .values = values});
    };
    add(positions_, packed_values::positions);
    add(documents_, packed_values::documents);
    add(mask_ == packed_mask::elements, packed_values::mask);
    add(mask_ == packed_mask::followed, packed_values::followed);
    return made;
  }

  double padding_share() const noexcept override {
    if (size() == 0) return 0;
    return 1 - elements_ / (static_cast<double>(size()) * static_cast<double>(capacity_));
  }

 private:
  [[nodiscard]] std::uint64_t length(std::size_t of, std::uint64_t sample) const {
    return columns_[of].of->length(sample_index{sample});
  }

  void check_lengths(std::uint64_t samples, pack_longer longer) {
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      const std::uint64_t first = length(0, sample);
      elements_ += static_cast<double>(first);
      if (!is_longer(sample)) continue;
      bool differs = false;
      for (std::size_t of = 1; of < columns_.size(); ++of)
        differs = differs || length(of, sample) != first;
      if (longer == pack_longer::error || differs) refuse(sample, longer);
    }
  }

  /// Whether a field of a sample is longer than a row, so that the sample is split.
  [[nodiscard]] bool is_longer(std::uint64_t sample) const {
    for (std::size_t of = 0; of < columns_.size(); ++of)
      if (length(of, sample) > columns_[of].capacity) return true;
    return false;
  }

  [[noreturn]] void refuse(std::uint64_t sample, pack_longer longer) const {
    std::size_t of = 0;
    while (length(of, sample) <= columns_[of].capacity) ++of;
    std::string words = "has " + std::to_string(length(of, sample)) + " elements, more than the " +
                        std::to_string(columns_[of].capacity) + " of " + pack_option("capacity");
    words += longer == pack_longer::error
                 ? ": raise it, or ask for pack_longer::split"
                 : ", and cannot be split because its fields differ in length: raise it";
    throw dataset_error{{.path = {}, .field = columns_[of].element.name, .sample = sample}, words};
  }

  template <class Use>
  void for_each_part(std::size_t of, std::uint64_t row, const Use& use) const {
    for (std::uint64_t at = plan_.starts[row]; at < plan_.starts[row + 1]; ++at) {
      const std::uint64_t sample = plan_.samples[at];
      const std::uint64_t first = plan_.firsts.empty() ? 0 : plan_.firsts[at];
      std::uint64_t count = length(of, sample) - first;
      // Parts of a sample that is split are whole rows, except the last one.
      if (!plan_.firsts.empty() && is_longer(sample)) count = std::min(count, least_capacity_);
      use(packed_part{sample_index{sample}, first, count});
    }
  }

  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    for (std::size_t of = 0; of < columns_.size(); ++of) read_column(of, request);
    std::size_t next = 3 * columns_.size();
    const auto fill = [&](std::size_t bytes, const auto& use) {
      const std::span<std::byte> rows = request.out[next++];
      if (rows.empty()) return;  // the device makes them
      for (std::size_t i = 0; i < request.samples.size(); ++i)
        use(request.samples[i].value, rows.subspan(i * capacity_ * bytes, capacity_ * bytes));
    };
    constexpr std::size_t word = sizeof(std::int32_t);
    if (positions_)
      fill(word, [this](std::uint64_t row, std::span<std::byte> out) { number(row, out, false); });
    if (documents_)
      fill(word, [this](std::uint64_t row, std::span<std::byte> out) { number(row, out, true); });
    if (mask_ != packed_mask::none)
      fill(1, [this](std::uint64_t row, std::span<std::byte> out) { mask(row, out); });
  }

  void read_column(std::size_t of, const read_request& request) const {
    const packed_column& each = columns_[of];
    const std::size_t row_bytes = each.capacity * each.element_bytes;
    const std::size_t offsets_bytes = (max_samples_ + 1) * sizeof(std::int32_t);
    std::vector<element_run> runs;
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const auto values = request.out[3 * of].subspan(i * row_bytes, row_bytes);
      const auto offsets = request.out[3 * of + 2].subspan(i * offsets_bytes, offsets_bytes);
      std::uint64_t end = 0;
      std::uint64_t count = 0;
      put_i32(offsets, 0, 0);
      for_each_part(of, request.samples[i].value, [&](const packed_part& part) {
        if (part.count != 0)
          runs.push_back(
              {part.sample, part.first,
               values.subspan(end * each.element_bytes, part.count * each.element_bytes)});
        end += part.count;
        put_i32(offsets, ++count, static_cast<std::int64_t>(end));
      });
      put_i32(request.out[3 * of + 1], i, static_cast<std::int64_t>(count));
      while (count < max_samples_) put_i32(offsets, ++count, static_cast<std::int64_t>(end));
      each.padding.fill(values.subspan(end * each.element_bytes));
    }
    try {
      each.of->read(runs);
    } catch (const dataset_error& error) {
      rethrow(error, request.samples);
    }
  }

  /// Writes each element's index in its sample, or its sample's index in the row.
  void number(std::uint64_t row, std::span<std::byte> out, bool documents) const {
    std::uint64_t at = 0;
    std::int64_t document = 0;
    for_each_part(0, row, [&](const packed_part& part) {
      for (std::uint64_t i = 0; i < part.count; ++i)
        put_i32(out, at++, documents ? document : static_cast<std::int64_t>(i));
      ++document;
    });
    for (; at < capacity_; ++at) put_i32(out, at, documents ? -1 : 0);
  }

  void mask(std::uint64_t row, std::span<std::byte> out) const {
    std::ranges::fill(out, std::byte{0});
    std::uint64_t at = 0;
    for_each_part(0, row, [&](const packed_part& part) {
      const bool all = mask_ == packed_mask::elements || part.count == 0;
      const std::uint64_t counted = part.count - (all ? 0 : 1);
      std::ranges::fill(out.subspan(at, counted), std::byte{1});
      at += part.count;
    });
  }

  /// With the row in place of the sample.
  [[noreturn]] void rethrow(const dataset_error& error, std::span<const sample_index> rows) const {
    std::optional<std::uint64_t> row;
    for (const sample_index read : rows)
      if (error.sample())
        for_each_part(0, read.value, [&](const packed_part& part) {
          if (part.sample.value == *error.sample() && !row) row = read.value;
        });
    rethrow_as(error, row, "the ragged dataset that this packs");
  }

  std::vector<packed_column> columns_;
  std::uint64_t capacity_;
  std::uint64_t least_capacity_;  ///< the most elements in each part of a split sample
  bool positions_;
  bool documents_;
  packed_mask mask_;
  std::uint64_t max_samples_ = 0;
  double elements_ = 0;  ///< number of elements of the first field
  pack_plan plan_;
};

}  // namespace

std::shared_ptr<const packed_dataset> make_planned_rows(std::vector<packed_column> columns,
                                                        const pack_together_options& options) {
  return std::make_shared<const planned_rows>(std::move(columns), options);
}

}  // namespace feedline::detail
