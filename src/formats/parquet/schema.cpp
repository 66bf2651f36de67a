#include "formats/parquet/schema.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "formats/columns/hub_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/metadata.h>

namespace feedline::detail {
namespace {

using parquet::arrow::SchemaField;

constexpr int max_nesting = 64;  // levels of nested columns

std::string_view name_of(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return "seconds";
    case arrow::TimeUnit::MILLI:
      return "milliseconds";
    case arrow::TimeUnit::MICRO:
      return "microseconds";
    case arrow::TimeUnit::NANO:
      return "nanoseconds";
  }
  return "units";
}

/// Unit of dates and times; empty: other values.
std::string counted_in(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::DATE32:
      return "days";
    case arrow::Type::DATE64:
      return "milliseconds";
    case arrow::Type::TIMESTAMP:
      return std::string{name_of(static_cast<const arrow::TimestampType&>(type).unit())};
    case arrow::Type::DURATION:
      return std::string{name_of(static_cast<const arrow::DurationType&>(type).unit())};
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return std::string{name_of(static_cast<const arrow::TimeType&>(type).unit())};
    default:
      return {};
  }
}

std::optional<element_type> number_type(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return element_type::boolean;
    case arrow::Type::UINT8:
      return element_type::u8;
    case arrow::Type::INT8:
      return element_type::i8;
    case arrow::Type::UINT16:
      return element_type::u16;
    case arrow::Type::INT16:
      return element_type::i16;
    case arrow::Type::UINT32:
      return element_type::u32;
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
      return element_type::i32;
    case arrow::Type::UINT64:
      return element_type::u64;
    case arrow::Type::INT64:
    case arrow::Type::DATE64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return element_type::i64;
    case arrow::Type::HALF_FLOAT:
      return element_type::f16;
    case arrow::Type::FLOAT:
      return element_type::f32;
    case arrow::Type::DOUBLE:
      return element_type::f64;
    default:
      return std::nullopt;
  }
}

/// A node of the schema without what does not change its values: extensions and dictionaries.
struct plain_node {
  const SchemaField* at;
  std::shared_ptr<arrow::DataType> type;
};

plain_node plain_of(const SchemaField& of) {
  std::shared_ptr<arrow::DataType> type = of.field->type();
  for (int i = 0; i < max_nesting; ++i) {
    if (type->id() == arrow::Type::EXTENSION)
      type = static_cast<const arrow::ExtensionType&>(*type).storage_type();
    else if (type->id() == arrow::Type::DICTIONARY)
      type = static_cast<const arrow::DictionaryType&>(*type).value_type();
    else
      break;
  }
  return {&of, type};
}

bool has_bytes(arrow::Type::type id) {
  return id == arrow::Type::STRING || id == arrow::Type::BINARY ||
         id == arrow::Type::LARGE_STRING || id == arrow::Type::LARGE_BINARY ||
         id == arrow::Type::STRING_VIEW || id == arrow::Type::BINARY_VIEW;
}

bool is_run(arrow::Type::type id) {
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST;
}

/// Values of one size: numbers, bytes of fixed size, lists of fixed size of these. False: others.
bool set_fixed(const SchemaField& of, parquet_column& made, int depth) {
  const auto [at, type] = plain_of(of);
  if (const auto number = number_type(*type)) {
    made.as.spec.type = *number;
    made.counted = counted_in(*type);
    made.leaf = at->column_index;
    return made.leaf >= 0;
  }
  if (type->id() == arrow::Type::FIXED_SIZE_BINARY) {
    const int bytes = static_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width();
    made.as.spec.type = element_type::u8;
    made.as.spec.shape.push_back(static_cast<std::uint64_t>(bytes));
    made.leaf = at->column_index;
    return bytes > 0 && made.leaf >= 0;
  }
  if (type->id() != arrow::Type::FIXED_SIZE_LIST || at->children.size() != 1 || depth > max_nesting)
    return false;
  const int size = static_cast<const arrow::FixedSizeListType&>(*type).list_size();
  if (size <= 0) return false;
  made.as.spec.shape.push_back(static_cast<std::uint64_t>(size));
  return set_fixed(at->children.front(), made, depth + 1);
}

/// How the Hub stores images and sounds: the file's bytes, and a name.
const SchemaField* file_bytes(const plain_node& of) {
  if (of.at->children.size() != 2) return nullptr;
  const auto named = [&](std::string_view name) {
    return std::ranges::find(of.at->children, name,
                             [](const SchemaField& each) { return each.field->name(); });
  };
  const auto bytes = named("bytes");
  const auto path = named("path");
  if (bytes == of.at->children.end() || path == of.at->children.end()) return nullptr;
  if (!has_bytes(plain_of(*bytes).type->id()) || !has_bytes(plain_of(*path).type->id()))
    return nullptr;
  return &*bytes;
}

std::string refusal_of(const plain_node& of) {
  const std::string has = "has values of the type " + of.type->ToString() + ", ";
  if (arrow::is_decimal(of.type->id()))
    return has + "which no field has: cast it to float64, or to int64 in its smallest unit";
  switch (of.type->id()) {
    case arrow::Type::MAP:
      return has + "a map: write its keys and its values as a column each";
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      return has +
             "lists of what is no number: write them flat, with their lengths as a column of "
             "their own, or texts as lists of token ids";
    case arrow::Type::NA:
      return "has nulls alone";
    default:
      return has + "which no field has: cast it to numbers, to lists of numbers, or to bytes";
  }
}

void add_columns(const SchemaField& of, const std::string& prefix, parquet_schema& to, int depth) {
  const std::string name = prefix + of.field->name();
  const plain_node node = plain_of(of);
  const auto leave_out = [&](std::string reason) {
    to.left_out.push_back({name, std::move(reason)});
  };
  if (depth > max_nesting) return leave_out("is nested too deep");
  parquet_column made;
  made.as.spec.name = name;
  const auto id = node.type->id();
  const SchemaField* bytes = has_bytes(id) ? node.at : nullptr;
  if (id == arrow::Type::STRUCT) {
    bytes = file_bytes(node);
    if (bytes == nullptr) {
      for (const SchemaField& each : node.at->children)
        add_columns(each, name + '.', to, depth + 1);
      if (node.at->children.empty()) leave_out("is a struct without members");
      return;
    }
  }
  if (bytes != nullptr) {
    made.as.spec.type = element_type::u8;
    made.as.is_ragged = made.is_bytes = true;
    made.leaf = bytes->column_index;
  } else if (is_run(id) && node.at->children.size() == 1) {
    made.as.is_ragged = true;
    if (!set_fixed(node.at->children.front(), made, depth)) return leave_out(refusal_of(node));
  } else if (!set_fixed(*node.at, made, depth)) {
    return leave_out(refusal_of(node));
  }
  if (made.leaf < 0) return leave_out(refusal_of(node));
  if (std::ranges::any_of(to.columns,
                          [&](const parquet_column& each) { return each.as.spec.name == name; }))
    return leave_out("has the name of another column");
  to.columns.push_back(std::move(made));
}

[[maybe_unused]] std::string hub_text(const parquet::FileMetaData& metadata) {
  const auto pairs = metadata.key_value_metadata();
  return pairs ? pairs->Get("huggingface").ValueOr("") : "";
}

[[maybe_unused]] bool is_label_type(element_type type) {
  using enum element_type;
  return type == u8 || type == i8 || type == u16 || type == i16 || type == u32 || type == i32 ||
         type == u64 || type == i64;
}

}  // namespace

bool parquet_column::suits(const parquet_column& other) const {
  field own = as.spec;
  if (own.classes.empty() || other.as.spec.classes.empty()) own.classes = other.as.spec.classes;
  return own == other.as.spec && as.is_ragged == other.as.is_ragged && counted == other.counted;
}

void name_hub_classes([[maybe_unused]] parquet_schema& schema,
                      [[maybe_unused]] const parquet::FileMetaData& metadata,
                      [[maybe_unused]] const std::string& path) {
#ifdef FEEDLINE_HAS_JSON
  const std::string text = hub_text(metadata);
  if (text.empty()) return;
  std::map<std::string, std::vector<std::string>> classes;
  try {
    classes = read_hub_classes(text, path);
  } catch (const dataset_error& fault) {
    log()->warn("open_parquet: names of classes are not known: {}", printable(fault.what()));
    return;
  }
  for (parquet_column& each : schema.columns)
    if (const auto at = classes.find(each.as.spec.name);
        at != classes.end() && is_label_type(each.as.spec.type) && each.counted.empty())
      each.as.spec.classes = class_names{at->second};
#endif
}

parquet_schema read_parquet_schema(const parquet::arrow::SchemaManifest& manifest) {
  parquet_schema found;
  for (const SchemaField& each : manifest.schema_fields) add_columns(each, {}, found, 0);
  return found;
}

}  // namespace feedline::detail
