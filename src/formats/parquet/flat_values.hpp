#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <arrow/type_fwd.h>

namespace feedline::detail {

/// Refuses an array of a type that the column's schema does not promise.
[[noreturn]] void refuse_arrow_type(const arrow::DataType& type);

/// Numbers as they lie in an array, if they are there without a gap; null: they must be converted.
[[nodiscard]] const std::byte* numbers_as_they_lie(const arrow::Array& array,
                                                   std::size_t number_bytes);

/// Numbers of one size, one after another: the elements of fixed rows or of runs.
class flat_values {
 public:
  explicit flat_values(std::size_t number_bytes) : number_bytes_{number_bytes} {}

  /// @throws dataset_error without a location, if it is not of such numbers.
  void add(const arrow::Array& array);

  [[nodiscard]] std::vector<std::byte> take_bytes() noexcept { return std::move(bytes_); }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return bytes_; }
  /// For each number, whether it is null; empty: none is.
  [[nodiscard]] const std::vector<bool>& nulls() const noexcept { return nulls_; }

 private:
  [[nodiscard]] std::size_t count() const noexcept { return bytes_.size() / number_bytes_; }

  /// @param numbers How many numbers each element of the array has.
  void add_nulls(const arrow::Array& array, std::size_t first, std::size_t numbers);
  void add_numbers(const arrow::Array& array);
  void add_bits(const arrow::BooleanArray& array);
  void add_lists(const arrow::FixedSizeListArray& array);
  void add_dictionary(const arrow::DictionaryArray& array);

  std::size_t number_bytes_;
  std::vector<std::byte> bytes_ = {};
  std::vector<bool> nulls_ = {};
};

}  // namespace feedline::detail
