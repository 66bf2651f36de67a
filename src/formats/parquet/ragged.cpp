#include <feedline/error.hpp>
#include <feedline/formats/parquet.hpp>

#include "detail/printable.hpp"
#include "detail/sample_range.hpp"
#include "formats/parquet/fields.hpp"
#include "ragged/offsets.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// The only column of a source, which is ragged.
class parquet_runs final : public ragged_dataset {
 public:
  explicit parquet_runs(detail::parquet_source_ptr of)
      : of_{std::move(of)},
        element_bytes_{sample_bytes(parquet_runs::element())},
        lengths_(of_->table().size()) {
    detail::count_parquet_elements(
        *of_, 0, [&](std::uint64_t first, std::span<const std::uint64_t> counts) {
          std::ranges::copy(counts, lengths_.begin() + static_cast<std::ptrdiff_t>(first));
        });
  }

  std::uint64_t size() const override { return lengths_.size(); }
  field element() const override { return of_->table().columns().front().as.spec; }
  std::uint64_t length(sample_index sample) const override { return lengths_[sample.value]; }
  bool wants_prefetch() const noexcept override { return of_->table().any_is_cold(); }
  bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples, {0});
  }

 private:
  void do_read(std::span<const element_run> runs) const override {
    for (const element_run& run : runs) {
      detail::require_elements(*this, run, element_bytes_, element().name);
      read_run(run);
    }
  }

  void read_run(const element_run& run) const {
    const detail::parquet_table& table = of_->table();
    const std::size_t group = table.group_of(run.sample.value);
    const std::uint64_t row = run.sample.value - table.first_row(group);
    const std::size_t before = run.first * element_bytes_;
    const std::uint64_t all = length(run.sample) * element_bytes_;
    detail::parquet_values_ptr values;
    try {  // a row counts as used with its last element
      values = of_->get(group, 0, before + run.out.size() == all ? 1 : 0);
    } catch (const dataset_error& fault) {
      throw dataset_error{{fault.path(), fault.field(), run.sample.value, fault.offset()},
                          fault.message()};
    }
    if (values->is_lost(row))
      table.refuse(table.null_error(run.sample.value, 0), run.sample.value, 0);
    const auto stored = values->runs[row];
    if (stored.size() != all)
      table.refuse({{}, "has other elements than when the dataset was made; the file has changed"},
                   run.sample.value, 0);
    if (!run.out.empty()) std::memcpy(run.out.data(), stored.data() + before, run.out.size());
  }

  detail::parquet_source_ptr of_;
  std::size_t element_bytes_;
  std::vector<std::uint64_t> lengths_;
};

}  // namespace

ragged_dataset_ptr open_parquet_ragged(const std::vector<std::string>& files,
                                       const std::string& field, const parquet_options& options) {
  parquet_options one = options;
  one.fields = {field};
  auto source = detail::open_parquet_source(files, one);
  if (!source->table().columns().front().as.is_ragged)
    throw usage_error{"open_parquet_ragged: the values of '" + detail::printable(field) +
                      "' are all of one size; open_parquet reads them"};
  return std::make_shared<const parquet_runs>(std::move(source));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
