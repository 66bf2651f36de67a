#include <feedline/error.hpp>
#include <feedline/ragged/dataset.hpp>

#include "dataset/composed.hpp"
#include "ragged/offsets.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// The most rows of one read, which also has about this many bytes at most.
constexpr std::size_t piece_rows = 8192;
constexpr std::size_t row_piece_bytes = std::size_t{256} << 10;

/// The most rows of a sample that are hinted: the rest is read in order, which systems foresee.
constexpr std::uint64_t max_hinted_rows = 65'536;

/// Rows of values that are asked for at once, and where they go.
struct row_piece {
  std::vector<sample_index> rows;
  std::vector<std::span<std::byte>> to;  ///< together as many bytes as the rows have
  std::vector<std::byte> scratch;        ///< for rows that are not adjacent

  void add(std::uint64_t first, std::uint64_t count, std::span<std::byte> where) {
    for (std::uint64_t i = 0; i < count; ++i) rows.push_back({first + i});
    if (!to.empty() && to.back().data() + to.back().size() == where.data())
      to.back() = {to.back().data(), to.back().size() + where.size()};
    else
      to.push_back(where);
  }

  void clear() noexcept {
    rows.clear();
    to.clear();
  }
};

/// Rows of a dataset, divided into samples by offsets.
class ragged_rows final : public ragged_dataset {
 public:
  ragged_rows(dataset_ptr values, field element, detail::ragged_offsets offsets)
      : values_{std::move(values)},
        element_{std::move(element)},
        row_bytes_{sample_bytes(element_)},
        piece_rows_{std::clamp<std::size_t>(row_piece_bytes / row_bytes_, 1, piece_rows)},
        offsets_{std::move(offsets)} {
    if (const auto rows = values_->rows(); !rows.empty()) memory_ = rows[0].data();
  }

  std::uint64_t size() const override { return offsets_.samples(); }
  field element() const override { return element_; }
  std::uint64_t length(sample_index sample) const override { return offsets_.length(sample.value); }
  read_concurrency concurrency() const override { return values_->concurrency(); }
  unsigned reads_in_processes() const override { return values_->reads_in_processes(); }
  bool wants_prefetch() const noexcept override { return values_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return values_->hints_ranges(); }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    const auto piece = pieces_.take();
    piece->clear();
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      const std::uint64_t rows = std::min(length(sample), max_hinted_rows);
      for (std::uint64_t i = 0; i < rows; ++i) {
        piece->rows.push_back({offsets_.begin(sample.value) + i});
        if (piece->rows.size() < piece_rows) continue;
        values_->prefetch(piece->rows);
        piece->rows.clear();
      }
    }
    if (!piece->rows.empty()) values_->prefetch(piece->rows);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void do_read(std::span<const element_run> runs) const override {
    for (const element_run& run : runs)
      detail::require_elements(*this, run, row_bytes_, element_.name);
    if (memory_ != nullptr)
      for (const element_run& run : runs) copy(run);
    else
      read_rows(runs);
  }

  void copy(const element_run& run) const noexcept {
    const std::uint64_t row = offsets_.begin(run.sample.value) + run.first;
    if (!run.out.empty()) std::memcpy(run.out.data(), memory_ + row * row_bytes_, run.out.size());
  }

  void read_rows(std::span<const element_run> runs) const {
    const auto piece = pieces_.take();
    piece->clear();
    for (const element_run& run : runs) {
      std::uint64_t row = offsets_.begin(run.sample.value) + run.first;
      for (std::span<std::byte> left = run.out; !left.empty();) {
        const std::size_t count =
            std::min(left.size() / row_bytes_, piece_rows_ - piece->rows.size());
        piece->add(row, count, left.first(count * row_bytes_));
        left = left.subspan(count * row_bytes_);
        row += count;
        if (piece->rows.size() == piece_rows_) read_piece(*piece);
      }
    }
    if (!piece->rows.empty()) read_piece(*piece);
  }

  void read_piece(row_piece& piece) const {
    const bool is_apart = piece.to.size() > 1;
    if (is_apart) piece.scratch.resize(piece.rows.size() * row_bytes_);
    const std::span<std::byte> out = is_apart ? std::span{piece.scratch} : piece.to[0];
    try {
      values_->read(piece.rows, {&out, 1});
    } catch (const dataset_error& error) {
      std::optional<std::uint64_t> sample;
      if (error.sample() && *error.sample() < values_->size())
        sample = offsets_.sample_of(*error.sample());
      detail::rethrow_as(error, sample, "the dataset of values");
    }
    const std::byte* from = piece.scratch.data();
    for (std::size_t i = 0; is_apart && i < piece.to.size(); ++i) {
      std::memcpy(piece.to[i].data(), from, piece.to[i].size());
      from += piece.to[i].size();
    }
    piece.clear();
  }

  dataset_ptr values_;
  field element_;
  std::size_t row_bytes_;
  std::size_t piece_rows_;
  detail::ragged_offsets offsets_;
  const std::byte* memory_ = nullptr;  ///< where the rows lie; null: nowhere
  mutable detail::scratch_pool<row_piece> pieces_{[] { return std::make_unique<row_piece>(); }};
};

}  // namespace

ragged_dataset_ptr make_ragged_dataset(dataset_ptr values, dataset_ptr offsets) {
  if (!values) throw usage_error{"make_ragged_dataset: the dataset of values is null"};
  if (!offsets) throw usage_error{"make_ragged_dataset: the dataset of offsets is null"};
  std::vector<field> fields = values->fields();
  if (fields.size() != 1)
    throw usage_error{"make_ragged_dataset: the dataset of values has " +
                      std::to_string(fields.size()) +
                      " fields, and must have one; make a ragged dataset of each"};
  if (values->varies_by_epoch() || offsets->varies_by_epoch())
    throw usage_error{
        "make_ragged_dataset: the values or the offsets differ from epoch to epoch "
        "(varies_by_epoch()), but elements are not read for an epoch: use map() on datasets made "
        "from the ragged dataset"};
  detail::ragged_offsets checked{std::move(offsets), values->size()};
  return std::make_shared<const ragged_rows>(std::move(values), std::move(fields[0]),
                                             std::move(checked));
}

ragged_dataset_ptr make_ragged_dataset(memory_field values, memory_field offsets) {
  return make_ragged_dataset(make_memory_dataset({std::move(values)}),
                             make_memory_dataset({std::move(offsets)}));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
