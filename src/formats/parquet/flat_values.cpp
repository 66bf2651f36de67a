#include "formats/parquet/flat_values.hpp"

#include <feedline/error.hpp>

#include <cstring>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type_traits.h>

namespace feedline::detail {

void refuse_arrow_type(const arrow::DataType& type) {
  throw dataset_error{{}, "is decoded to the unexpected type " + type.ToString()};
}

const std::byte* numbers_as_they_lie(const arrow::Array& array, std::size_t number_bytes) {
  if (array.null_count() != 0) return nullptr;
  if (array.type_id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& lists = static_cast<const arrow::FixedSizeListArray&>(array);
    return numbers_as_they_lie(
        *lists.values()->Slice(lists.value_offset(0),
                               lists.length() * lists.list_type()->list_size()),
        number_bytes);
  }
  if (array.type_id() == arrow::Type::BOOL || array.type_id() == arrow::Type::DICTIONARY ||
      !arrow::is_fixed_width(array.type_id()))
    return nullptr;
  const auto width = static_cast<std::size_t>(array.type()->bit_width() / 8);
  const auto& buffer = array.data()->buffers.at(1);
  if (!buffer || width % number_bytes != 0 ||
      static_cast<std::size_t>(buffer->size()) / width <
          static_cast<std::size_t>(array.offset() + array.length()))
    return nullptr;
  return reinterpret_cast<const std::byte*>(buffer->data()) +
         static_cast<std::size_t>(array.offset()) * width;
}

void flat_values::add(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::EXTENSION:
      return add(*static_cast<const arrow::ExtensionArray&>(array).storage());
    case arrow::Type::DICTIONARY:
      return add_dictionary(static_cast<const arrow::DictionaryArray&>(array));
    case arrow::Type::FIXED_SIZE_LIST:
      return add_lists(static_cast<const arrow::FixedSizeListArray&>(array));
    case arrow::Type::BOOL:
      return add_bits(static_cast<const arrow::BooleanArray&>(array));
    default:
      return add_numbers(array);
  }
}

void flat_values::add_nulls(const arrow::Array& array, std::size_t first, std::size_t numbers) {
  if (array.null_count() == 0 && nulls_.empty()) return;
  nulls_.resize(count());
  if (array.null_count() == 0) return;
  for (std::int64_t i = 0; i < array.length(); ++i)
    if (array.IsNull(i))
      for (std::size_t k = 0; k < numbers; ++k)
        nulls_[first + static_cast<std::size_t>(i) * numbers + k] = true;
}

void flat_values::add_numbers(const arrow::Array& array) {
  if (!arrow::is_fixed_width(array.type_id())) refuse_arrow_type(*array.type());
  const auto width = static_cast<std::size_t>(array.type()->bit_width() / 8);
  const auto& buffer = array.data()->buffers.at(1);
  if (width == 0 || width % number_bytes_ != 0) refuse_arrow_type(*array.type());
  const std::size_t first = count();
  const std::size_t bytes = static_cast<std::size_t>(array.length()) * width;
  const std::size_t before = static_cast<std::size_t>(array.offset()) * width;
  if (bytes == 0) return;
  if (!buffer || static_cast<std::size_t>(buffer->size()) < before + bytes)
    refuse_arrow_type(*array.type());
  const auto* const from = reinterpret_cast<const std::byte*>(buffer->data()) + before;
  bytes_.insert(bytes_.end(), from, from + bytes);
  add_nulls(array, first, width / number_bytes_);
}

void flat_values::add_bits(const arrow::BooleanArray& array) {
  if (number_bytes_ != 1) refuse_arrow_type(*array.type());
  const std::size_t first = count();
  bytes_.resize(first + static_cast<std::size_t>(array.length()));
  for (std::int64_t i = 0; i < array.length(); ++i)
    bytes_[first + static_cast<std::size_t>(i)] = std::byte{array.Value(i)};
  add_nulls(array, first, 1);
}

void flat_values::add_lists(const arrow::FixedSizeListArray& array) {
  const std::int64_t size = array.list_type()->list_size();
  const std::size_t first = count();
  add(*array.values()->Slice(array.value_offset(0), array.length() * size));
  if (array.length() != 0)
    add_nulls(array, first, (count() - first) / static_cast<std::size_t>(array.length()));
}

void flat_values::add_dictionary(const arrow::DictionaryArray& array) {
  flat_values all{number_bytes_};
  all.add(*array.dictionary());
  const std::int64_t entries = array.dictionary()->length();
  const std::size_t numbers = entries == 0 ? 0 : all.count() / static_cast<std::size_t>(entries);
  const std::size_t first = count();
  const std::size_t bytes = numbers * number_bytes_;
  bytes_.resize(bytes_.size() + static_cast<std::size_t>(array.length()) * bytes);
  for (std::int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) continue;
    const std::int64_t entry = array.GetValueIndex(i);
    if (entry < 0 || entry >= entries)
      throw dataset_error{{}, "a value is outside of its dictionary"};
    std::memcpy(bytes_.data() + first * number_bytes_ + static_cast<std::size_t>(i) * bytes,
                all.bytes_.data() + static_cast<std::size_t>(entry) * bytes, bytes);
  }
  if (numbers != 0) add_nulls(array, first, numbers);
}

}  // namespace feedline::detail
