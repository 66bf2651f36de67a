#include "formats/parquet/fields.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/known_value.hpp"
#include "detail/printable.hpp"
#include "detail/threads.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// A value of the first, the middle and the last row group, if all of those that have one are
/// images; else empty.
std::vector<std::byte> find_image(const parquet_table& table, std::size_t column) {
  std::vector<std::byte> first;
  const std::size_t groups = table.groups();
  for (const std::size_t group : std::set<std::size_t>{0, groups / 2, groups - 1}) {
    std::vector<std::byte> value = table.first_value(group, column);
    if (value.empty()) continue;
    if (!is_jpeg(value) && !is_png(value)) return {};
    if (first.empty()) first = std::move(value);
  }
  return first;
}

void check_pads(const parquet_options& options, const std::vector<described_column>& columns) {
  for (const auto& [name, how] : options.pad) {
    detail::require_known("pad_options::longer", how.longer, {"error", "truncate"});
    const auto at =
        std::ranges::find(columns, name, [](const auto& each) { return each.as.spec.name; });
    if (at == columns.end())
      throw usage_error{"open_parquet: parquet_options::pad names '" + printable(name) +
                        "', which is not among the columns that are opened"};
    if (!at->as.is_ragged)
      throw usage_error{"open_parquet: parquet_options::pad names '" + printable(name) +
                        "', whose values are all of one size; leave it out"};
  }
}

std::uint64_t longest_of(const parquet_source& source, std::size_t column) {
  std::uint64_t longest = 0;
  count_parquet_elements(source, column, [&](std::uint64_t, std::span<const std::uint64_t> counts) {
    longest = std::max(longest, *std::ranges::max_element(counts));
  });
  return longest;
}

}  // namespace

void count_parquet_elements(
    const parquet_source& source, std::size_t column,
    const std::function<void(std::uint64_t, std::span<const std::uint64_t>)>& use) {
  const parquet_table& table = source.table();
  const std::size_t element_bytes = sample_bytes(table.columns()[column].as.spec);
  std::mutex using_counts;
  parallel_for(table.groups(), [&](std::size_t group) {
    const parquet_values_ptr values = source.get_once(group, column);
    std::vector<std::uint64_t> counts;
    counts.reserve(values->runs.size());
    for (const auto& run : values->runs) counts.push_back(run.size() / element_bytes);
    const std::lock_guard lock{using_counts};
    use(table.first_row(group), counts);
  });
}

std::vector<described_column> describe_columns(const parquet_table& table,
                                               const decoder_ptr& image) {
  std::vector<described_column> described;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const parquet_column& column = table.columns()[i];
    described_column& made = described.emplace_back(described_column{column.as});
    if (!column.is_bytes || !image) continue;
    const std::vector<std::byte> example = find_image(table, i);
    if (example.empty()) continue;
    try {
      made.as = {image->describe(example), false};
    } catch (const dataset_error& fault) {
      table.refuse(fault, 0, i);
    }
    made.as.spec.name = column.as.spec.name;
    made.by = image;
  }
  return described;
}

std::vector<parquet_field> make_parquet_fields(const parquet_source& source,
                                               const parquet_options& options) {
  const std::vector<described_column> columns = describe_columns(source.table(), options.image);
  check_pads(options, columns);
  std::vector<parquet_field> fields;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const described_field& as = columns[i].as;
    if (!as.is_ragged) {
      fields.push_back({.spec = as.spec, .column = i, .by = columns[i].by});
      continue;
    }
    const std::string& name = as.spec.name;
    const auto given = options.pad.find(name);
    const pad_options how = given == options.pad.end() ? pad_options{} : given->second;
    const std::uint64_t length =
        checked_length("open_parquet: field '" + printable(name) + "'",
                       how.length != 0 ? how.length : longest_of(source, i));
    fields.push_back({.spec = field_of(as.spec, length),
                      .column = i,
                      .element_bytes = sample_bytes(as.spec),
                      .limit = length,
                      .truncates = how.longer == pad_longer::truncate,
                      .fill = std::make_shared<const padding>("open_parquet", as.spec, how.value)});
    fields.push_back(fields.back());
    fields.back().spec = {name + "_length", element_type::i32, {}};
    fields.back().is_length = true;
  }
  std::vector<field> specs;
  for (const parquet_field& each : fields) specs.push_back(each.spec);
  const std::vector<std::size_t> bytes = checked_row_bytes("open_parquet", specs);
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].bytes = bytes[i];
  return fields;
}

}  // namespace feedline::detail
