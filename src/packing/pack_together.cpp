#include <feedline/error.hpp>
#include <feedline/packing/pack_together.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "detail/known_value.hpp"
#include "detail/sample_range.hpp"
#include "packing/pack_plan.hpp"
#include "ragged/padding.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// NAME_offsets has one entry more than a row has samples.
constexpr std::uint64_t max_capacity = std::numeric_limits<std::int32_t>::max() - 1;

std::string option_name(const char* name) {
  return "pack_together_options::" + std::string{name};
}

void put_i32(std::span<std::byte> out, std::uint64_t place, std::int64_t value) noexcept {
  const auto number = static_cast<std::int32_t>(value);
  std::memcpy(out.data() + place * sizeof number, &number, sizeof number);
}

/// A ragged field, and how its rows are.
struct column {
  ragged_dataset_ptr of;
  field element;
  std::size_t element_bytes = 0;
  std::uint64_t capacity = 0;
  detail::padding padding;
};

std::vector<column> columns_of(const std::vector<ragged_dataset_ptr>& fields,
                               const pack_together_options& options) {
  if (fields.empty()) throw usage_error{"pack_together: there is no field to pack"};
  const auto check_count = [&](const char* name, std::size_t count) {
    if (count != 1 && count != fields.size())
      throw usage_error{option_name(name) + " has " + std::to_string(count) + " values for " +
                        std::to_string(fields.size()) +
                        " fields: give one for each, or one for all"};
  };
  check_count("capacity", options.capacity.size());
  check_count("value", options.value.size());
  std::vector<column> columns;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i]) throw usage_error{"pack_together: field " + std::to_string(i) + " is null"};
    const std::uint64_t capacity = options.capacity[options.capacity.size() == 1 ? 0 : i];
    if (capacity == 0 || capacity > max_capacity)
      throw usage_error{option_name("capacity") + " is " + std::to_string(capacity) +
                        ", and can be 1 to " + std::to_string(max_capacity)};
    if (fields[i]->size() != fields.front()->size())
      throw usage_error{"pack_together: field 0 has " + std::to_string(fields.front()->size()) +
                        " samples, and field " + std::to_string(i) + " has " +
                        std::to_string(fields[i]->size()) + ": give fields of the same samples"};
    const field element = fields[i]->element();
    columns.push_back({fields[i], element, sample_bytes(element), capacity,
                       detail::padding{"pack_together", element,
                                       options.value[options.value.size() == 1 ? 0 : i]}});
  }
  return columns;
}

class planned_rows final : public packed_dataset {
 public:
  planned_rows(std::vector<column> columns, const pack_together_options& options)
      : columns_{std::move(columns)},
        capacity_{columns_.front().capacity},
        least_capacity_{std::ranges::min(columns_, {}, &column::capacity).capacity},
        positions_{options.positions},
        documents_{options.documents},
        mask_{options.mask} {
    const std::uint64_t samples = columns_.front().of->size();
    check_lengths(samples, options.longer);
    std::vector<std::uint64_t> capacities;
    for (const column& each : columns_) capacities.push_back(each.capacity);
    plan_ = detail::make_pack_plan(
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
    (void)detail::checked_row_bytes("pack_together", planned_rows::fields());
  }

  std::uint64_t size() const override { return plan_.starts.size() - 1; }
  std::vector<field> fields() const override {
    std::vector<field> all;
    for (const column& each : columns_) {
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
                               [](const column& each) { return each.of->wants_prefetch(); });
  }
  bool hints_ranges() const noexcept override {
    return std::ranges::all_of(columns_, [](const column& each) {
      return !each.of->wants_prefetch() || each.of->hints_ranges();
    });
  }
  read_concurrency concurrency() const override {
    const bool serialized = std::ranges::any_of(columns_, [](const column& each) {
      return each.of->concurrency() == read_concurrency::serialized;
    });
    return serialized ? read_concurrency::serialized : read_concurrency::parallel;
  }
  unsigned reads_in_processes() const override {
    unsigned most = 0;
    for (const column& each : columns_) most = std::max(most, each.of->reads_in_processes());
    return most;
  }
  std::uint64_t max_samples() const noexcept override { return max_samples_; }

  void prefetch(std::span<const sample_index> rows) const noexcept override try {
    std::vector<sample_index> samples;
    for (const sample_index row : rows)
      if (row.value < size())
        for_each_part(0, row.value,
                      [&](const packed_part& part) { samples.push_back(part.sample); });
    for (const column& each : columns_)
      if (each.of->wants_prefetch()) each.of->prefetch(samples);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

  std::vector<packed_part> parts_of(sample_index row) const override {
    detail::require_in_range({&row, 1}, size());
    std::vector<packed_part> parts;
    for_each_part(0, row.value, [&](const packed_part& part) { parts.push_back(part); });
    return parts;
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
                        std::to_string(columns_[of].capacity) + " of " + option_name("capacity");
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
    detail::require_in_range(request.samples, size());
    for (std::size_t of = 0; of < columns_.size(); ++of) read_column(of, request);
    std::size_t next = 3 * columns_.size();
    const auto fill = [&](std::size_t bytes, const auto& use) {
      for (std::size_t i = 0; i < request.samples.size(); ++i) {
        const auto out = request.out[next].subspan(i * capacity_ * bytes, capacity_ * bytes);
        use(request.samples[i].value, out);
      }
      ++next;
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
    const column& each = columns_[of];
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
    detail::rethrow_as(error, row, "the ragged dataset that this packs");
  }

  std::vector<column> columns_;
  std::uint64_t capacity_;
  std::uint64_t least_capacity_;  ///< the most elements in each part of a split sample
  bool positions_;
  bool documents_;
  packed_mask mask_;
  std::uint64_t max_samples_ = 0;
  double elements_ = 0;  ///< number of elements of the first field
  detail::pack_plan plan_;
};

}  // namespace

std::shared_ptr<const packed_dataset> pack_together(const std::vector<ragged_dataset_ptr>& fields,
                                                    const pack_together_options& options) {
  detail::require_known(option_name("longer"), options.longer, {"error", "split"});
  detail::require_known(option_name("mask"), options.mask, {"none", "elements", "followed"});
  if (options.window == 0 || options.window > max_capacity)
    throw usage_error{option_name("window") + " is " + std::to_string(options.window) +
                      ": say how many samples rows are filled from, 1 to " +
                      std::to_string(max_capacity)};
  if (options.max_samples > max_capacity)
    throw usage_error{option_name("max_samples") + " is " + std::to_string(options.max_samples) +
                      ", and can be 1 to " + std::to_string(max_capacity) + ", or 0"};
  return std::make_shared<const planned_rows>(columns_of(fields, options), options);
}

std::vector<std::uint64_t> packing_costs(const packed_dataset& rows) {
  std::vector<std::uint64_t> costs(rows.size(), 0);
  for (std::uint64_t row = 0; row < costs.size(); ++row)
    for (const packed_part& part : rows.parts_of(sample_index{row}))
      costs[row] += part.count * part.count;
  return costs;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
