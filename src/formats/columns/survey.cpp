#include "formats/columns/survey.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "formats/columns/arrays.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;
using array_shape = std::vector<std::uint64_t>;

/// A column as the records have it.
struct seen_column {
  bool is_first = true;
  element_type type = element_type::u8;
  array_shape shape = {};        ///< shape of the first value
  bool is_one_shape = true;      ///< all values have it
  bool is_one_row_shape = true;  ///< all have it, except for the first dimension
  bool is_image = true;
  std::vector<std::byte> example = {};
  std::string trouble = {};  ///< why it cannot be a field
};

std::string shape_text(const array_shape& shape) {
  std::string text = "[";
  for (const std::uint64_t each : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(each);
  return text + ']';
}

bool are_rows_alike(const array_shape& a, const array_shape& b) {
  return !a.empty() && a.size() == b.size() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

void add_array(seen_column& to, const stored_array& found) {
  if (to.is_first) {
    to.type = found.type;
    to.shape = found.shape;
  }
  to.is_first = false;
  if (to.type != found.type && to.trouble.empty())
    to.trouble = "has values of " + std::string{to_string(to.type)} + " and of " +
                 std::string{to_string(found.type)};
  to.is_one_shape = to.is_one_shape && to.shape == found.shape;
  to.is_one_row_shape = to.is_one_row_shape && are_rows_alike(to.shape, found.shape);
}

/// The element type that a column's values are read as.
element_type type_of(const stored_column& of, const column_options* given) {
  return given != nullptr && given->type ? *given->type : of.type;
}

void add_value(seen_column& to, const stored_column& of, const column_options* given,
               byte_span value) {
  if (to.example.empty()) to.example.assign(value.begin(), value.end());
  to.is_image = to.is_image && (is_jpeg(value) || is_png(value));
  if (of.kind == column_kind::array) {
    const stored_array found = of.read_array(of, value);
    require_all_elements(found);  // a few bytes may claim an array of any size
    return add_array(to, found);
  }
  const element_type type = type_of(of, given);
  const std::uint64_t bytes = size_bytes(type);
  if (of.kind == column_kind::elements && value.size() % bytes != 0 && to.trouble.empty())
    to.trouble = "has a value of " + std::to_string(value.size()) +
                 " bytes, which are not whole elements of " + std::string{to_string(type)};
  add_array(to, {.type = type, .shape = {value.size() / bytes}, .elements = value});
}

/// Chooses the field that a column becomes.
class field_choice {
 public:
  field_choice(std::string_view who, const shard_options& options) : who_{who}, options_{options} {}

  [[nodiscard]] const column_options* given(const stored_column& of) const {
    const auto found = options_.columns.find(of.name);
    return found == options_.columns.end() ? nullptr : &found->second;
  }

  /// @return Why it is no field; empty: `made` is one.
  [[nodiscard]] std::string choose(const stored_column& of, const seen_column& seen,
                                   column_field& made) const {
    if (!of.left_out.empty()) return of.left_out;
    const column_options* const how = given(of);
    if (how != nullptr) require_one_way(of, *how);
    field& spec = made.as.spec;
    spec.name = of.name;
    if (how != nullptr && how->decoder) return decode(seen, how->decoder, made);
    if (of.kind == column_kind::digits) {
      spec.type = of.type;
      return {};
    }
    const bool may_be_image = of.kind == column_kind::image ||
                              (of.kind == column_kind::elements && of.type == element_type::u8);
    if (how == nullptr && options_.image && may_be_image && seen.is_image)
      return decode(seen, options_.image, made);
    if (!seen.trouble.empty()) return seen.trouble;
    spec.type = seen.type;
    if (of.kind == column_kind::fixed) {
      spec.shape = of.shape;
    } else if (how != nullptr && how->shape) {
      spec.shape = *how->shape;
    } else if (seen.is_one_shape && (how == nullptr || !how->is_ragged) && has_elements(seen)) {
      spec.shape = seen.shape;
    } else {
      if (!seen.is_one_row_shape)
        return "has arrays of shapes that differ, such as " + shape_text(seen.shape) +
               ", in more than the first dimension";
      made.as.is_ragged = true;
      spec.shape.assign(seen.shape.begin() + 1, seen.shape.end());
      if (count_elements_of(spec.shape) == 0)
        return "has arrays of the shape " + shape_text(seen.shape) + ", which have no elements";
    }
    return {};
  }

 private:
  static bool has_elements(const seen_column& seen) {
    return std::ranges::count(seen.shape, std::uint64_t{0}) == 0;
  }

  void require_one_way(const stored_column& of, const column_options& how) const {
    const std::string begin =
        std::string{who_} + ": shard_options::columns names '" + of.name + "'";
    const int ways = int{how.decoder != nullptr} + int{how.shape.has_value()} + int{how.is_ragged};
    if (ways > 1 || (ways == 0 && !how.type))
      throw usage_error{begin + " with " + (ways == 0 ? "no" : "more than one") +
                        " way to read it: say one of decoder, shape and is_ragged, or a type"};
    if (how.decoder && how.type)
      throw usage_error{begin +
                        " with a decoder and a type; the decoder has its own, so leave "
                        "out the type"};
    const bool is_bytes = of.kind == column_kind::elements || of.kind == column_kind::image;
    if (!is_bytes && (how.decoder || how.type))
      throw usage_error{begin + ", whose values are stored as '" + of.coding +
                        "', not as bytes: leave out decoder and type"};
    if (!is_bytes && of.kind != column_kind::array)
      throw usage_error{begin + ", whose values are all of one type and shape; leave it out"};
  }

  static std::string decode(const seen_column& seen, const decoder_ptr& by, column_field& made) {
    if (seen.example.empty()) return "has only empty values, which cannot be decoded";
    const std::string name = std::move(made.as.spec.name);
    made.by = by;
    made.as.spec = by->describe(seen.example);
    made.as.spec.name = name;
    return {};
  }

  std::string_view who_;
  const shard_options& options_;
};

void require_known(std::string_view who, const record_layout& layout,
                   const shard_options& options) {
  if (options.record)
    throw usage_error{std::string{who} +
                      ": shard_options::record decodes records that a format does not describe "
                      "(LMDB); decode a column by shard_options::columns"};
  std::vector<std::string> names;
  for (const stored_column& each : layout.columns) names.push_back(each.name);
  for (const auto& [name, how] : options.columns)
    if (std::ranges::count(names, name) == 0)
      throw usage_error{std::string{who} + ": shard_options::columns names '" + name +
                        "', which is no column; there are " + list_names(names)};
}

/// The index of a record to look at: spread evenly over all, or, where records are read together,
/// in four runs, so that few of their chunks are read.
std::uint64_t index_to_look_at(std::uint64_t i, std::uint64_t count, const coded_values& records) {
  const std::uint64_t all = records.size();
  if (count == all || records.chunks().samples <= 1)
    return all / count * i + all % count * i / count;
  constexpr std::uint64_t runs = 4;
  const std::uint64_t run = (count + runs - 1) / runs;
  return std::min(all - 1, all / runs * (i / run) + i % run);
}

/// Looks at one record. @throws dataset_error with its location
void look_at(const coded_values& records, std::uint64_t record, const record_layout& layout,
             const field_choice& choice, std::vector<std::byte>& memory,
             std::vector<seen_column>& seen) {
  const byte_span stored =
      records.read(record, [&](std::size_t bytes) { return room_in(memory, bytes); });
  std::string field;
  try {
    record_values values;
    split_record(layout, stored, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const stored_column& of = layout.columns[i];
      field = of.name;
      if (of.left_out.empty()) add_value(seen[i], of, choice.given(of), values[i]);
    }
  } catch (const dataset_error& fault) {
    records.refuse(
        {{.path = {}, .field = fault.field().empty() ? field : fault.field()}, fault.message()},
        record);
  }
}

}  // namespace

column_survey survey_columns(std::string_view who, const coded_values& records,
                             const record_layout& layout, const shard_options& options) {
  require_known(who, layout, options);
  const field_choice choice{who, options};
  std::vector<seen_column> seen(layout.columns.size());
  const std::uint64_t wanted = std::max<std::uint64_t>(1, options.looked_at);
  const std::uint64_t count = std::min<std::uint64_t>(wanted, records.size());
  std::vector<std::byte> memory;
  for (std::uint64_t i = 0; i < count; ++i)
    look_at(records, index_to_look_at(i, count, records), layout, choice, memory, seen);
  column_survey found;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    column_field made{.column = i};
    std::string reason;
    try {
      reason = choice.choose(layout.columns[i], seen[i], made);
    } catch (const dataset_error& fault) {
      records.refuse({{.path = {}, .field = layout.columns[i].name}, fault.message()}, 0);
    }
    if (reason.empty())
      found.fields.push_back(std::move(made));
    else
      found.left_out.push_back({layout.columns[i].name, std::move(reason)});
  }
  if (!found.fields.empty()) return found;
  records.refuse({{}, "no column can be a field" + reasons_of(found.left_out)}, 0);
  __builtin_unreachable();  // g++ 12 loses that a virtual function does not return
}

}  // namespace feedline::detail
