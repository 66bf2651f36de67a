#include <feedline/arrays/csr.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/sparse/csr_blocks.hpp"
#include "arrays/sparse/csr_matrix.hpp"
#include "dataset/choose_fields.hpp"
#include "dataset/sparse/sparse_row.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace feedline::detail {
namespace {

[[noreturn]] void refuse_matrix(const std::string& why) {
  throw usage_error{"make_csr_dataset: " + why};
}

bool is_integer(element_type type) noexcept {
  return type < element_type::f16;
}

/// Integers of any type as 64 bits; a negative one is too large a number.
std::vector<std::uint64_t> widened(std::span<const std::byte> bytes, element_type type) {
  std::vector<std::uint64_t> all(bytes.size() / size_bytes(type));
  const auto each = [&]<class Stored>(Stored) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Stored value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      all[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    }
  };
  switch (type) {
    case element_type::u8:
      each(std::uint8_t{});
      break;
    case element_type::i8:
      each(std::int8_t{});
      break;
    case element_type::u16:
      each(std::uint16_t{});
      break;
    case element_type::i16:
      each(std::int16_t{});
      break;
    case element_type::u32:
      each(std::uint32_t{});
      break;
    case element_type::i32:
      each(std::int32_t{});
      break;
    default:
      each(std::uint64_t{});
  }
  return all;
}

class csr_dataset final : public dataset {
 public:
  explicit csr_dataset(std::shared_ptr<const csr_matrix> matrix)
      : matrix_{std::move(matrix)},
        blocks_{make_csr_blocks(matrix_)},
        row_bytes_{sample_bytes(matrix_->spec())},
        add_{adds(matrix_->types())} {}

  std::uint64_t size() const override { return matrix_->rows(); }
  std::vector<field> fields() const override { return {matrix_->spec()}; }
  std::shared_ptr<const encoded_blocks> encoded() const override { return blocks_; }
  bool wants_prefetch() const noexcept override {
    return data().wants_prefetch() || indices().wants_prefetch();
  }
  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    box_list boxes;
    for (const sample_index sample : samples)
      if (sample.value < size()) matrix_->add_box(sample, 1, nullptr, boxes);
    if (boxes.empty()) return;
    data().prefetch(boxes.boxes());
    indices().prefetch(boxes.boxes());
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

  /// Consecutive rows whose values are about one chunk.
  chunking chunks() const override {
    const array_spec& spec = data().spec();
    if (spec.chunk.empty() || matrix_->values() == 0) return {};
    const auto rows = static_cast<std::uint64_t>(static_cast<double>(spec.chunk[0]) *
                                                 static_cast<double>(size()) /
                                                 static_cast<double>(matrix_->values()));
    if (rows <= 1) return {};
    return {.samples = rows,
            .bytes = spec.chunk[0] * (size_bytes(spec.type) + matrix_->types().column_bytes),
            .kept = spec.chunks_kept};
  }

 private:
  [[nodiscard]] const array_source& data() const noexcept { return *matrix_->arrays().data; }
  [[nodiscard]] const array_source& indices() const noexcept { return *matrix_->arrays().indices; }

  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    try {
      read_rows(request.samples, request.out[0].data());
    } catch (const hdf5_error& failure) {
      name_row(request, failure);
    } catch (const dataset_error& failure) {
      name_row(request, failure);
    }
  }

  template <class Error>
  [[noreturn]] void name_row(const read_request& request, const Error& failure) const {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      try {
        read_rows(request.samples.subspan(i, 1), request.out[0].data() + i * row_bytes_);
      } catch (const Error& own) {
        dataset_location where = own.where();
        where.sample = request.samples[i].value;
        throw Error{std::move(where), own.message()};
      }
    }
    throw failure;
  }

  void read_rows(std::span<const sample_index> rows, std::byte* out) const {
    thread_local std::vector<std::byte> values;  // kept to avoid allocation
    thread_local std::vector<std::byte> columns;
    gather(data(), rows, values);
    gather(indices(), rows, columns);
    const std::size_t value_bytes = size_bytes(matrix_->spec().type);
    const std::size_t column_bytes = matrix_->types().column_bytes;
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::byte* const row = out + i * row_bytes_;
      std::memset(row, 0, row_bytes_);  // it is in the processor's cache when values are added
      const std::uint64_t count = matrix_->count_of(rows[i]);
      const std::size_t good =
          add_(values.data() + at * value_bytes, columns.data() + at * column_bytes, count,
               matrix_->arrays().columns, row);
      if (good != count)
        refuse_column(rows[i],
                      std::span{columns}.subspan((at + good) * column_bytes, column_bytes));
      at += count;
    }
  }

  [[noreturn]] void refuse_column(sample_index row, std::span<const std::byte> column) const {
    const array_spec& spec = indices().spec();
    const auto number = static_cast<std::int64_t>(widened(column, spec.type).front());
    throw dataset_error{{.path = spec.path, .field = spec.name},
                        "row " + std::to_string(row.value) + " has a value in column " +
                            std::to_string(number) + ", but the matrix has " +
                            std::to_string(matrix_->arrays().columns) +
                            " columns; the file is damaged"};
  }

  /// @param all Becomes the elements of the rows, one row after another.
  void gather(const array_source& from, std::span<const sample_index> rows,
              std::vector<std::byte>& all) const {
    const std::size_t bytes = size_bytes(from.spec().type);
    std::size_t count = 0;
    for (const sample_index row : rows) count += matrix_->count_of(row);
    all.resize(count * bytes);
    box_list boxes;
    std::size_t at = 0;
    for (const sample_index row : rows) {
      matrix_->add_box(row, bytes, all.data() + at, boxes);
      at += matrix_->count_of(row) * bytes;
    }
    if (!boxes.empty()) from.read(boxes.boxes());
  }

  const std::shared_ptr<const csr_matrix> matrix_;
  const std::shared_ptr<const encoded_blocks> blocks_;
  const std::size_t row_bytes_;
  const add_to_row add_;
};

std::vector<std::uint64_t> begins_of(const csr_arrays& matrix) {
  const array_spec& spec = matrix.indptr->spec();
  std::vector<std::byte> bytes(spec.shape[0] * size_bytes(spec.type));
  matrix.indptr->read_all(bytes);
  auto begins = widened(bytes, spec.type);
  const std::uint64_t values = matrix.data->spec().shape[0];
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (begins[i] < before || begins[i] > values)
      throw dataset_error{{.path = spec.path, .field = spec.name},
                          "element " + std::to_string(i) + " is " +
                              std::to_string(static_cast<std::int64_t>(begins[i])) + " after " +
                              std::to_string(before) + ", but beginnings of rows rise to at most " +
                              std::to_string(values) +
                              ", the number of values; the matrix is "
                              "damaged, or not stored by rows"};
    before = begins[i];
  }
  return begins;
}

}  // namespace
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr make_csr_dataset(std::string field_name, csr_arrays matrix) {
  using detail::refuse_matrix;
  for (const auto& [array, what] : {std::pair{&matrix.data, "data"},
                                    {&matrix.indices, "indices"},
                                    {&matrix.indptr, "indptr"}}) {
    if (!*array) refuse_matrix(std::string{what} + " is null");
    if ((*array)->spec().shape.size() != 1)
      refuse_matrix(std::string{what} + ", " + to_string((*array)->spec()) +
                    ", has not one dimension");
    if (array != &matrix.data && !detail::is_integer((*array)->spec().type))
      refuse_matrix(std::string{what} + ", " + to_string((*array)->spec()) + ", are not integers");
  }
  const array_spec& data = matrix.data->spec();
  if (detail::adds({.values = data.type}) == nullptr)
    refuse_matrix("the values are " + std::string{to_string(data.type)} +
                  ", which cannot be added; SciPy has no such matrix either");
  if (data.shape != matrix.indices->spec().shape)
    refuse_matrix("there are " + std::to_string(data.shape[0]) + " values, but " +
                  std::to_string(matrix.indices->spec().shape[0]) + " columns of them");
  field spec{std::move(field_name), data.type, {matrix.columns}};
  (void)detail::checked_row_bytes("make_csr_dataset", {{spec}});
  if (matrix.indptr->spec().shape[0] < 2)
    refuse_matrix("indptr has one element, so there are no rows");
  auto begins = detail::begins_of(matrix);
  return std::make_shared<const detail::csr_dataset>(std::make_shared<const detail::csr_matrix>(
      std::move(spec), std::move(matrix), std::move(begins)));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
