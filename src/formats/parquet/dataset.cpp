#include "formats/parquet/dataset.hpp"

#include <feedline/error.hpp>

#include "dataset/composed_blocks.hpp"
#include "dataset/sized_fields.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/rate_limiter.hpp"
#include "detail/sample_range.hpp"
#include "formats/parquet/chunk_grid.hpp"
#include "formats/parquet/fields.hpp"
#include "formats/parquet/row_places.hpp"
#include "rows/gather.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

namespace feedline::detail {
namespace {

/// Samples of a request that are in one row group.
struct group_stretch {
  std::size_t group;
  std::span<const row_place> places;
};

/// A column of a row group that a request needs.
struct column_need {
  const group_stretch* of;
  std::size_t column;  ///< index into `columns_`
};

struct read_scratch {
  std::vector<row_place> places = {};
  std::vector<row_place> sorted = {};
  std::vector<group_stretch> stretches = {};
  std::vector<column_cache::wanted> wanted = {};
  std::vector<parquet_values_ptr> found = {};
  std::vector<column_need> needs = {};
  std::vector<column_need> later = {};
};

class parquet_dataset final : public dataset {
 public:
  parquet_dataset(parquet_source_ptr source, std::vector<parquet_field> fields)
      : source_{std::move(source)}, fields_{std::move(fields)} {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const std::size_t column = fields_[i].column;
      auto at = std::ranges::find(columns_, column, &used_column::column);
      if (at == columns_.end()) at = columns_.insert(at, used_column{column, {}, false});
      at->fields.push_back(i);
      at->is_read |= !fields_[i].is_length;
    }
    for (const used_column& each : columns_) numbers_.push_back(each.column);
    chunks_ = find_chunking(*source_, numbers_);
  }

  std::uint64_t size() const override { return source_->table().size(); }
  std::vector<field> fields() const override {
    std::vector<field> specs;
    for (const parquet_field& each : fields_) specs.push_back(each.spec);
    return specs;
  }
  chunking chunks() const override { return chunks_; }
  bool varies_by_epoch() const override {
    return std::ranges::any_of(
        fields_, [](const parquet_field& each) { return each.by && each.by->varies_by_epoch(); });
  }
  batch_sizes_ptr sizes() const override {
    std::vector<batch_sizes_ptr> all;
    for (const parquet_field& each : fields_)
      if (each.spec.by_batch) all.push_back(each.by->sizes());
    return common_sizes("records", all);
  }
  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<parquet_field> some;
    for (const std::size_t each : places) some.push_back(fields_[each]);
    return std::make_shared<const parquet_dataset>(source_, std::move(some));
  }
  std::shared_ptr<const encoded_blocks> encoded() const override {
    std::call_once(blocks_made_, [this] { blocks_ = make_blocks(); });
    return blocks_;
  }
  bool wants_prefetch() const noexcept override {
    if (ask_.is_due()) is_cold_.store(source_->table().any_is_cold(), std::memory_order_relaxed);
    return is_cold_.load(std::memory_order_relaxed);
  }
  bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    source_->prefetch(samples, numbers_);
  }

 private:
  struct used_column {
    std::size_t column;
    std::vector<std::size_t> fields;  ///< made of it
    bool is_read;                     ///< not the lengths alone
  };

  [[nodiscard]] std::shared_ptr<const encoded_blocks> make_blocks() const {
    const auto is_coded = [](const parquet_field& each) {
      return each.by && !each.by->steps().empty();
    };
    if (std::ranges::none_of(fields_, is_coded)) return nullptr;
    if (fields_.size() == 1)
      return make_value_blocks(make_parquet_values(source_, fields_[0].column), fields_[0].by,
                               fields_[0].spec);
    std::vector<dataset_ptr> parts;
    for (std::size_t i = 0; i < fields_.size(); ++i) parts.push_back(select({&i, 1}));
    return make_joined_blocks(parts);
  }

  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    const auto with = scratch_.take();
    find_stretches(request.samples, *with);
    std::vector<column_need>& needs = with->needs;
    needs.clear();
    for (const group_stretch& each : with->stretches) read_decoded(each, request, *with);
    // Columns that other threads are decoding are left for later, and waited for at last.
    while (!needs.empty()) {
      with->later.clear();
      for (const column_need& each : needs)
        if (!read_column(each, request)) with->later.push_back(each);
      std::swap(needs, with->later);
      if (!needs.empty())
        source_->wait(needs.front().of->group, columns_[needs.front().column].column);
    }
  }

  /// Reads the columns that are decoded; the others are added to `with.needs`.
  void read_decoded(const group_stretch& of, const read_request& request,
                    read_scratch& with) const {
    with.wanted.clear();
    for (const used_column& each : columns_)
      with.wanted.push_back({each.column, each.is_read ? of.places.size() : 0});
    with.found.assign(columns_.size(), nullptr);
    source_->find(of.group, with.wanted, with.found);
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (with.found[i])
        write_column(*with.found[i], {&of, i}, request);
      else
        with.needs.push_back({&of, i});
    with.found.clear();  // so that none is held for longer
  }

  /// Sorts samples by their row groups.
  void find_stretches(std::span<const sample_index> samples, read_scratch& with) const {
    const parquet_table& table = source_->table();
    auto& places = with.places;
    places.clear();
    std::size_t group = 0;
    bool is_sorted = true;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::uint64_t sample = samples[i].value;
      const std::size_t before = group;
      if (sample < table.first_row(group) || sample >= table.first_row(group + 1))
        group = table.group_of(sample);
      is_sorted &= i == 0 || before <= group;
      places.push_back({static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(i),
                        sample - table.first_row(group)});
    }
    if (!is_sorted) sort_by_group(places, with.sorted);
    with.stretches.clear();
    for (std::size_t first = 0; first < places.size();) {
      std::size_t end = first + 1;
      while (end < places.size() && places[end].group == places[first].group) ++end;
      with.stretches.push_back(
          {places[first].group, std::span{places}.subspan(first, end - first)});
      first = end;
    }
  }

  /// @return False: another thread is decoding the column.
  [[nodiscard]] bool read_column(const column_need& wanted, const read_request& request) const {
    const used_column& used = columns_[wanted.column];
    const std::span<const row_place> places = wanted.of->places;
    parquet_values_ptr values;  // held until it is read
    try {
      values = source_->find(wanted.of->group, used.column, used.is_read ? places.size() : 0);
    } catch (const dataset_error& fault) {
      throw dataset_error{{fault.path(), fault.field(),
                           request.samples[places.front().in_request].value, fault.offset()},
                          fault.message()};
    }
    if (!values) return false;
    write_column(*values, wanted, request);
    return true;
  }

  void write_column(const parquet_values& values, const column_need& of,
                    const read_request& request) const {
    const used_column& used = columns_[of.column];
    if (!values.lost.empty()) require_none_lost(values, of.of->places, request, used.column);
    for (const std::size_t i : used.fields) write_field(values, of.of->places, request, i);
  }

  void require_none_lost(const parquet_values& values, std::span<const row_place> places,
                         const read_request& request, std::size_t column) const {
    for (const row_place& each : places) {
      if (!values.is_lost(each.row)) continue;
      const std::uint64_t sample = request.samples[each.in_request].value;
      source_->table().refuse(source_->table().null_error(sample, column), sample, column);
    }
  }

  void write_field(const parquet_values& values, std::span<const row_place> places,
                   const read_request& request, std::size_t number) const {
    const parquet_field& to = fields_[number];
    std::byte* const out = request.out[number].data();
    if (to.by) return decode(values, places, request, number);
    if (to.is_length) return write_lengths(values, places, request, number);
    if (to.fill) return write_runs(values, places, request, number);
    switch (to.bytes) {
      case 1:
        return write_rows<1>(values, places, out, 1);
      case 2:
        return write_rows<2>(values, places, out, 2);
      case 4:
        return write_rows<4>(values, places, out, 4);
      case 8:
        return write_rows<8>(values, places, out, 8);
      default:
        return write_rows<0>(values, places, out, to.bytes);
    }
  }

  /// @tparam Bytes Size of a row; 0: known at run time only.
  template <std::size_t Bytes>
  static void write_rows(const parquet_values& values, std::span<const row_place> places,
                         std::byte* out, std::size_t bytes) noexcept {
    const std::size_t size = Bytes == 0 ? bytes : Bytes;
    for (const row_place& each : places)
      std::memcpy(out + each.in_request * size, values.fixed + each.row * size, size);
  }

  /// Number of elements that count. @throws dataset_error if it is longer than samples may be.
  [[nodiscard]] std::uint64_t count_of(const parquet_values& values, const row_place& at,
                                       const read_request& request, const parquet_field& to) const {
    const std::uint64_t count = values.runs[at.row].size() / to.element_bytes;
    if (count <= to.limit || to.truncates) return std::min(count, to.limit);
    source_->table().refuse({{}, too_long(count, to.limit)}, request.samples[at.in_request].value,
                            to.column);
  }

  void write_lengths(const parquet_values& values, std::span<const row_place> places,
                     const read_request& request, std::size_t number) const {
    for (const row_place& each : places) {
      const auto told = static_cast<std::int32_t>(count_of(values, each, request, fields_[number]));
      std::memcpy(request.out[number].data() + each.in_request * sizeof told, &told, sizeof told);
    }
  }

  void write_runs(const parquet_values& values, std::span<const row_place> places,
                  const read_request& request, std::size_t number) const {
    const parquet_field& to = fields_[number];
    for (const row_place& each : places) {
      const std::size_t bytes = count_of(values, each, request, to) * to.element_bytes;
      const auto row = request.out[number].subspan(each.in_request * to.bytes, to.bytes);
      if (bytes != 0) std::memcpy(row.data(), values.runs[each.row].data(), bytes);
      to.fill->fill(row.subspan(bytes));
    }
  }

  void decode(const parquet_values& values, std::span<const row_place> places,
              const read_request& request, std::size_t number) const {
    const parquet_field& to = fields_[number];
    for (const row_place& each : places) {
      const sample_context& context = request.context[each.in_request];
      const std::size_t bytes = to.spec.by_batch ? sample_bytes(to.spec, context.size) : to.bytes;
      try {
        to.by->decode(values.runs[each.row], to.spec,
                      request.out[number].subspan(each.in_request * bytes, bytes), context);
      } catch (const dataset_error& fault) {
        source_->table().refuse(fault, request.samples[each.in_request].value, to.column);
      }
    }
  }

  parquet_source_ptr source_;
  std::vector<parquet_field> fields_;
  std::vector<used_column> columns_ = {};
  std::vector<std::size_t> numbers_ = {};  ///< their numbers
  chunking chunks_ = {};
  mutable scratch_pool<read_scratch> scratch_{[] { return std::make_unique<read_scratch>(); }};
  mutable rate_limiter ask_{std::chrono::milliseconds{10}};
  mutable std::atomic<bool> is_cold_{false};
  mutable std::once_flag blocks_made_;
  mutable std::shared_ptr<const encoded_blocks> blocks_;
};

}  // namespace

dataset_ptr make_parquet_dataset(parquet_source_ptr source, const parquet_options& options) {
  const parquet_table& table = source->table();
  report_left_out("open_parquet", "columns", table.left_out(), options.fields);
  for (const parquet_column& each : table.columns())
    if (!each.counted.empty())
      log()->info("open_parquet: '{}' holds dates or times: counts of {} in {}",
                  printable(each.as.spec.name), each.counted, to_string(each.as.spec.type));
  std::vector<parquet_field> fields = make_parquet_fields(*source, options);
  return std::make_shared<const parquet_dataset>(std::move(source), std::move(fields));
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_parquet(const std::vector<std::string>& files, const parquet_options& options) {
  return detail::make_parquet_dataset(detail::open_parquet_source(files, options), options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
