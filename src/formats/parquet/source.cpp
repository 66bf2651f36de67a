#include "formats/parquet/source.hpp"

#include <feedline/dataset/read_counts.hpp>
#include <feedline/error.hpp>

#include "io/read_forecast.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace feedline::detail {
namespace {

/// All columns, if there is memory for them.
std::optional<column_cache::extent> all_within(const parquet_table& table, std::size_t max_bytes) {
  std::size_t left = max_bytes;
  for (std::size_t group = 0; group < table.groups(); ++group)
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      const std::size_t bytes = table.decoded_bytes(group, column);
      if (bytes > left) return std::nullopt;
      left -= bytes;
    }
  return column_cache::extent{table.groups(), table.columns().size()};
}

class column_values final : public coded_values {
 public:
  column_values(parquet_source_ptr of, std::size_t column) : of_{std::move(of)}, column_{column} {}

  std::uint64_t size() const override { return of_->table().size(); }

  /// Parquet does not tell. Room for thrice the mean has nearly all images; larger ones are
  /// decoded by readers.
  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    constexpr std::uint64_t times = 3;
    const std::size_t group = of_->table().group_of(sample);
    return times * (of_->table().value_bytes(group, column_) / of_->table().rows(group));
  }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override {
    const parquet_table& table = of_->table();
    const std::size_t group = table.group_of(sample);
    const std::uint64_t row = sample - table.first_row(group);
    parquet_values_ptr values;
    try {
      values = of_->get(group, column_, 1);
    } catch (const dataset_error& fault) {
      throw dataset_error{{fault.path(), fault.field(), sample, fault.offset()}, fault.message()};
    }
    if (values->is_lost(row)) refuse(table.null_error(sample, column_), sample);
    const auto stored = values->runs[row];
    const auto out = memory(stored.size());
    std::ranges::copy(stored, out.begin());
    return out.first(stored.size());
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    of_->table().refuse(fault, sample, column_);
  }

  bool wants_prefetch() const noexcept override { return of_->table().any_is_cold(); }
  bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples, {column_});
  }

 private:
  parquet_source_ptr of_;
  std::size_t column_;
};

}  // namespace

parquet_source::parquet_source(parquet_table_ptr table, std::size_t max_bytes)
    : table_{std::move(table)},
      max_bytes_{max_bytes != 0 ? max_bytes : static_cast<std::size_t>(machine_memory_bytes() / 4)},
      cache_{max_bytes_, all_within(*table_, max_bytes_)} {}

parquet_values_ptr parquet_source::find(std::size_t group, std::size_t column,
                                        std::uint64_t rows) const {
  bool is_decoded = false;
  auto values = cache_.find_or_decode({group, column}, rows, [&] {
    is_decoded = true;
    return table_->read(group, column);
  });
  if (values)
    count_read({.decoded = is_decoded ? 1U : 0U,
                .cache_hits = is_decoded ? 0 : rows,
                .cache_misses = is_decoded ? rows : 0});
  return values;
}

void parquet_source::find(std::size_t group, std::span<const column_cache::wanted> columns,
                          std::span<parquet_values_ptr> found) const {
  cache_.find(group, columns, found);
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) hits += found[i] ? columns[i].rows : 0;
  count_read({.cache_hits = hits});
}

parquet_values_ptr parquet_source::get(std::size_t group, std::size_t column,
                                       std::uint64_t rows) const {
  for (;;) {
    if (auto values = find(group, column, rows)) return values;
    wait(group, column);
  }
}

parquet_values_ptr parquet_source::get_once(std::size_t group, std::size_t column) const {
  if (keeps_all()) return get(group, column, 0);
  return std::make_shared<const parquet_values>(table_->read(group, column));
}

void parquet_source::prefetch(std::span<const sample_index> samples,
                              const std::vector<std::size_t>& columns) const noexcept try {
  const bool is_recorded = range_recorder::of_this_thread() != nullptr;
  std::vector<std::size_t> groups;
  for (const sample_index sample : samples) {
    if (sample.value >= table_->size()) continue;
    const std::size_t group = table_->group_of(sample.value);
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  std::vector<std::size_t> wanted;
  for (const std::size_t group : groups) {
    wanted.clear();
    for (const std::size_t column : columns)
      if (is_recorded || !cache_.has({group, column})) wanted.push_back(column);
    if (!wanted.empty()) table_->will_need(group, wanted);
  }
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

parquet_source_ptr open_parquet_source(const std::vector<std::string>& patterns,
                                       const parquet_options& options) {
  return std::make_shared<const parquet_source>(open_parquet_table(patterns, options),
                                                options.max_host_cache_bytes);
}

coded_values_ptr make_parquet_values(parquet_source_ptr of, std::size_t column) {
  return std::make_shared<const column_values>(std::move(of), column);
}

}  // namespace feedline::detail
