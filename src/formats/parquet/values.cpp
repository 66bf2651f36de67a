#include "formats/parquet/values.hpp"

#include <feedline/error.hpp>

#include "formats/parquet/flat_values.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <arrow/array.h>
#include <arrow/chunked_array.h>
#include <arrow/extension_type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

namespace feedline::detail {
namespace {

using arrow_array = std::shared_ptr<arrow::Array>;

std::shared_ptr<const std::vector<std::byte>> kept_bytes(std::vector<std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

/// The members of structs that were read: Arrow keeps those around a column.
arrow_array within_structs(arrow_array array) {
  while (array->type_id() == arrow::Type::STRUCT || array->type_id() == arrow::Type::EXTENSION) {
    if (array->type_id() == arrow::Type::EXTENSION) {
      array = static_cast<const arrow::ExtensionArray&>(*array).storage();
      continue;
    }
    const auto& of = static_cast<const arrow::StructArray&>(*array);
    if (of.num_fields() != 1) refuse_arrow_type(*of.type());
    auto member = of.GetFlattenedField(0);
    if (!member.ok()) throw dataset_error{{}, member.status().message()};
    array = *std::move(member);
  }
  return array;
}

class arrow_converter {
 public:
  arrow_converter(const parquet_column& of, const std::optional<padding>& fill)
      : of_{of},
        fill_{fill},
        number_bytes_{size_bytes(of.as.spec.type)},
        element_bytes_{sample_bytes(of.as.spec)} {}

  parquet_values convert(const arrow::ChunkedArray& arrays) {
    made_.rows = static_cast<std::uint64_t>(arrays.length());
    std::vector<arrow_array> chunks;
    for (const arrow_array& each : arrays.chunks())
      if (each->length() != 0) chunks.push_back(within_structs(each));
    if (of_.as.is_ragged) {
      made_.runs.reserve(made_.rows);
      for (const arrow_array& each : chunks) add_runs(each);
      if (made_.runs.size() != made_.rows) throw dataset_error{{}, "rows are missing"};
      made_.bytes += made_.runs.capacity() * sizeof made_.runs[0];
    } else {
      set_fixed(chunks);
    }
    return std::move(made_);
  }

 private:
  void lose(std::uint64_t row) {
    if (made_.lost.empty()) made_.lost.resize(made_.rows);
    made_.lost[row] = true;
  }

  void keep(std::shared_ptr<const void> owner, std::size_t bytes) {
    made_.owners.push_back(std::move(owner));
    made_.bytes += bytes;
  }

  void set_fixed(const std::vector<arrow_array>& chunks) {
    const std::size_t bytes = made_.rows * element_bytes_;
    if (chunks.size() == 1) {
      made_.fixed = numbers_as_they_lie(*chunks.front(), number_bytes_);
      if (made_.fixed != nullptr) return keep(chunks.front(), bytes);
    }
    flat_values all{number_bytes_};
    for (const arrow_array& each : chunks) all.add(*each);
    if (all.bytes().size() != bytes) throw dataset_error{{}, "values are missing"};
    replace_nulls(all, [&](std::size_t number) { return number / numbers_in_element(); });
    const auto owner = kept_bytes(all.take_bytes());
    made_.fixed = owner->data();
    keep(owner, bytes);
  }

  [[nodiscard]] std::size_t numbers_in_element() const { return element_bytes_ / number_bytes_; }

  template <class RowOf>
  void replace_nulls(flat_values& all, RowOf row_of) {
    const std::vector<bool>& nulls = all.nulls();
    for (std::size_t number = 0; number < nulls.size(); ++number) {
      if (!nulls[number]) continue;
      if (fill_)
        fill_->fill(all.bytes().subspan(number * number_bytes_, number_bytes_));
      else if (const auto row = row_of(number); row < made_.rows)
        lose(row);
    }
  }

  void add_runs(const arrow_array& array) {
    keep(array, 0);
    switch (array->type_id()) {
      case arrow::Type::LIST:
        return add_lists(static_cast<const arrow::ListArray&>(*array));
      case arrow::Type::LARGE_LIST:
        return add_lists(static_cast<const arrow::LargeListArray&>(*array));
      case arrow::Type::DICTIONARY:
        return add_dictionary(static_cast<const arrow::DictionaryArray&>(*array));
      default:
        return add_bytes(*array, made_.runs);
    }
  }

  /// Adds an empty run, and the row is lost unless nulls are filled.
  void add_null() {
    if (!fill_) lose(made_.runs.size());
    made_.runs.emplace_back();
  }

  template <class Array>
  void add_views(const Array& array, std::vector<std::span<const std::byte>>& to) {
    for (std::int64_t i = 0; i < array.length(); ++i) {
      if (array.IsNull(i)) {
        if (&to == &made_.runs)
          add_null();
        else
          to.emplace_back();
        continue;
      }
      const auto view = array.GetView(i);
      to.push_back(std::as_bytes(std::span{view.data(), view.size()}));
      made_.bytes += view.size();
    }
  }

  void add_bytes(const arrow::Array& array, std::vector<std::span<const std::byte>>& to) {
    switch (array.type_id()) {
      case arrow::Type::BINARY:
      case arrow::Type::STRING:
        return add_views(static_cast<const arrow::BinaryArray&>(array), to);
      case arrow::Type::LARGE_BINARY:
      case arrow::Type::LARGE_STRING:
        return add_views(static_cast<const arrow::LargeBinaryArray&>(array), to);
      case arrow::Type::BINARY_VIEW:
      case arrow::Type::STRING_VIEW:
        return add_views(static_cast<const arrow::BinaryViewArray&>(array), to);
      default:
        refuse_arrow_type(*array.type());
    }
  }

  void add_dictionary(const arrow::DictionaryArray& array) {
    const arrow_array dictionary = array.dictionary();
    keep(dictionary, 0);
    std::vector<std::span<const std::byte>> entries;
    add_bytes(*dictionary, entries);
    for (std::int64_t i = 0; i < array.length(); ++i) {
      if (array.IsNull(i)) {
        add_null();
        continue;
      }
      const std::int64_t entry = array.GetValueIndex(i);
      if (entry < 0 || entry >= std::ssize(entries))
        throw dataset_error{{}, "a value is outside of its dictionary"};
      if (dictionary->IsNull(entry))
        add_null();
      else
        made_.runs.push_back(entries[static_cast<std::size_t>(entry)]);
    }
  }

  template <class Array>
  void add_lists(const Array& array) {
    const std::int64_t begin = array.value_offset(0);
    const std::int64_t end = array.value_offset(array.length());
    const arrow_array values = array.values();
    if (begin < 0 || end < begin || end > values->length())
      throw dataset_error{{}, "the lengths of lists are wrong"};
    const arrow_array elements = values->Slice(begin, end - begin);
    const std::byte* first = end == begin ? nullptr : numbers_as_they_lie(*elements, number_bytes_);
    const std::size_t bytes = static_cast<std::size_t>(end - begin) * element_bytes_;
    if (end != begin && first == nullptr) {
      flat_values all{number_bytes_};
      all.add(*elements);
      if (all.bytes().size() != bytes) throw dataset_error{{}, "values of lists are missing"};
      replace_nulls(all, [&, row = std::int64_t{0}](std::size_t number) mutable {
        const auto element = begin + static_cast<std::int64_t>(number / numbers_in_element());
        while (row < array.length() && array.value_offset(row + 1) <= element) ++row;
        return made_.runs.size() + static_cast<std::size_t>(row);
      });
      const auto owner = kept_bytes(all.take_bytes());
      first = owner->data();
      keep(owner, 0);
    }
    made_.bytes += bytes;
    for (std::int64_t i = 0; i < array.length(); ++i) {
      const std::int64_t from = array.value_offset(i);
      const std::int64_t to = array.value_offset(i + 1);
      if (array.IsNull(i)) {
        add_null();
        continue;
      }
      if (from < begin || to < from || to > end)
        throw dataset_error{{}, "the lengths of lists are wrong"};
      made_.runs.emplace_back(first + static_cast<std::size_t>(from - begin) * element_bytes_,
                              static_cast<std::size_t>(to - from) * element_bytes_);
    }
  }

  const parquet_column& of_;
  const std::optional<padding>& fill_;
  std::size_t number_bytes_;
  std::size_t element_bytes_;
  parquet_values made_ = {};
};

}  // namespace

parquet_values convert_values(const arrow::ChunkedArray& arrays, const parquet_column& of,
                              const std::optional<padding>& fill) {
  return arrow_converter{of, fill}.convert(arrays);
}

}  // namespace feedline::detail
