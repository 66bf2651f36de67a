#include <feedline/arrays/csr.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "dataset/choose_fields.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
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

/// Adds values to their columns of a dense row. @return The first value whose column is beyond the
/// row, or `count`.
template <class Value, class Column>
std::size_t scatter(const std::byte* values, const std::byte* columns, std::size_t count,
                    std::uint64_t row_columns, std::byte* row) {
  for (std::size_t i = 0; i < count; ++i) {
    Column stored;
    std::memcpy(&stored, columns + i * sizeof stored, sizeof stored);
    const std::uint64_t column = stored;
    if (column >= row_columns) return i;
    Value sum;
    Value value;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    std::memcpy(&sum, row + column * sizeof sum, sizeof sum);
    if constexpr (std::is_integral_v<Value>)
      sum = static_cast<Value>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(value));
    else
      sum += value;
    std::memcpy(row + column * sizeof sum, &sum, sizeof sum);
  }
  return count;
}

using scatter_function = std::size_t (*)(const std::byte*, const std::byte*, std::size_t,
                                         std::uint64_t, std::byte*);

/// For columns of a type: a negative one is too large a number of the unsigned type of its size.
template <class Value>
scatter_function scatter_for(element_type columns) noexcept {
  switch (size_bytes(columns)) {
    case 1:
      return scatter<Value, std::uint8_t>;
    case 2:
      return scatter<Value, std::uint16_t>;
    case 4:
      return scatter<Value, std::uint32_t>;
    default:
      return scatter<Value, std::uint64_t>;
  }
}

/// Null: values of this type cannot be added.
scatter_function scatter_of(element_type type, element_type columns) noexcept {
  switch (type) {
    case element_type::u8:
    case element_type::i8:
      return scatter_for<std::uint8_t>(columns);
    case element_type::u16:
    case element_type::i16:
      return scatter_for<std::uint16_t>(columns);
    case element_type::u32:
    case element_type::i32:
      return scatter_for<std::uint32_t>(columns);
    case element_type::u64:
    case element_type::i64:
      return scatter_for<std::uint64_t>(columns);
    case element_type::f32:
      return scatter_for<float>(columns);
    case element_type::f64:
      return scatter_for<double>(columns);
    default:
      return nullptr;
  }
}

class csr_dataset final : public dataset {
 public:
  csr_dataset(field spec, csr_arrays matrix, std::vector<std::uint64_t> begins)
      : spec_{std::move(spec)},
        matrix_{std::move(matrix)},
        begins_{std::move(begins)},
        row_bytes_{sample_bytes(spec_)},
        scatter_{scatter_of(spec_.type, index_type())} {}

  std::uint64_t size() const override { return begins_.size() - 1; }
  std::vector<field> fields() const override { return {spec_}; }
  bool wants_prefetch() const noexcept override {
    return matrix_.data->wants_prefetch() || matrix_.indices->wants_prefetch();
  }
  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    box_list boxes;
    for (const sample_index sample : samples)
      if (sample.value < size()) add_box(sample, 1, nullptr, boxes);
    if (boxes.empty()) return;
    matrix_.data->prefetch(boxes.boxes());
    matrix_.indices->prefetch(boxes.boxes());
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

  /// Consecutive rows whose values are about one chunk.
  chunking chunks() const override {
    const array_spec& data = matrix_.data->spec();
    if (data.chunk.empty() || begins_.back() == 0) return {};
    const auto rows = static_cast<std::uint64_t>(static_cast<double>(data.chunk[0]) *
                                                 static_cast<double>(size()) /
                                                 static_cast<double>(begins_.back()));
    if (rows <= 1) return {};
    return {.samples = rows,
            .bytes = data.chunk[0] * (size_bytes(data.type) + size_bytes(index_type())),
            .kept = data.chunks_kept};
  }

 private:
  [[nodiscard]] element_type index_type() const noexcept { return matrix_.indices->spec().type; }
  [[nodiscard]] std::uint64_t count_of(sample_index row) const noexcept {
    return begins_[row.value + 1] - begins_[row.value];
  }
  void add_box(sample_index row, std::size_t bytes, std::byte* out, box_list& boxes) const {
    const std::uint64_t count = count_of(row);
    const box_list::axis axis{begins_[row.value], count, 1, static_cast<std::ptrdiff_t>(bytes)};
    if (count != 0) boxes.add({&axis, 1}, out);
  }

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
    gather(*matrix_.data, rows, values);
    gather(*matrix_.indices, rows, columns);
    const std::size_t value_bytes = size_bytes(spec_.type);
    const std::size_t column_bytes = size_bytes(index_type());
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::byte* const row = out + i * row_bytes_;
      std::memset(row, 0, row_bytes_);  // it is in the processor's cache when values are added
      const std::uint64_t count = count_of(rows[i]);
      const std::size_t good =
          scatter_(values.data() + at * value_bytes, columns.data() + at * column_bytes, count,
                   matrix_.columns, row);
      if (good != count)
        refuse_column(rows[i],
                      std::span{columns}.subspan((at + good) * column_bytes, column_bytes));
      at += count;
    }
  }

  [[noreturn]] void refuse_column(sample_index row, std::span<const std::byte> column) const {
    const auto number = static_cast<std::int64_t>(widened(column, index_type()).front());
    throw dataset_error{
        {.path = matrix_.indices->spec().path, .field = matrix_.indices->spec().name},
        "row " + std::to_string(row.value) + " has a value in column " + std::to_string(number) +
            ", but the matrix has " + std::to_string(matrix_.columns) +
            " columns; the file is damaged"};
  }

  /// @param all Becomes the elements of the rows, one row after another.
  void gather(const array_source& from, std::span<const sample_index> rows,
              std::vector<std::byte>& all) const {
    const std::size_t bytes = size_bytes(from.spec().type);
    std::size_t count = 0;
    for (const sample_index row : rows) count += count_of(row);
    all.resize(count * bytes);
    box_list boxes;
    std::size_t at = 0;
    for (const sample_index row : rows) {
      add_box(row, bytes, all.data() + at, boxes);
      at += count_of(row) * bytes;
    }
    if (!boxes.empty()) from.read(boxes.boxes());
  }

  const field spec_;
  const csr_arrays matrix_;
  const std::vector<std::uint64_t> begins_;  ///< where rows begin in the data; one more than rows
  const std::size_t row_bytes_;
  const scatter_function scatter_;
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
  if (detail::scatter_of(data.type, matrix.indices->spec().type) == nullptr)
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
  return std::make_shared<const detail::csr_dataset>(std::move(spec), std::move(matrix),
                                                     std::move(begins));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
