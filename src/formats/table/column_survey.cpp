#include "formats/table/column_survey.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "formats/table/label_names.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

std::string words_of_value(const seen_table_column& of) {
  return of.is_list ? "a list" : std::string{words_of(of.kind)};
}

/// Adds records to a survey, one after the other.
class column_census {
 public:
  column_census(const line_values& records, bool mixes_texts)
      : records_{records}, mixes_texts_{mixes_texts} {}

  void add(std::uint64_t sample, const table_parser& by, std::span<const std::byte> stored) {
    by.parse(stored, {}, [&](std::size_t column, const table_value& value) {
      if (column >= columns_.size()) grow(column + 1);
      columns_[column].last = looked_at_;
      add(columns_[column], value, sample);
    });
    for (seen_table_column& each : columns_)
      if (each.last != looked_at_ && !each.lacking) each.lacking = sample;
    ++looked_at_;
    before_ = sample;
  }

  [[nodiscard]] table_survey take() { return {std::move(columns_), looked_at_, mixes_texts_}; }

 private:
  void grow(std::size_t count) {
    seen_table_column unseen;
    if (looked_at_ != 0) unseen.lacking = before_;
    columns_.resize(count, unseen);
  }

  void add(seen_table_column& to, const table_value& value, std::uint64_t sample) const {
    if (!to.trouble.empty()) return;
    if (!value.trouble.empty()) {
      to.trouble = std::string{value.trouble} + " (" + records_.words_of(sample) + ')';
      return;
    }
    if (value.kind == value_kind::none && !value.is_list) {
      to.lacking = sample;
      return;
    }
    if (to.records++ == 0) {
      to.first = sample;
      to.is_list = value.is_list;
    }
    if (to.is_list != value.is_list || !merge_kind(to, value)) {
      to.trouble = "is " + words_of_value(to) + " in " + records_.words_of(to.first) + ", and " +
                   (value.is_list ? "a list" : std::string{words_of(value.kind)}) + " in " +
                   records_.words_of(sample);
      return;
    }
    for (const table_number& each : value.numbers)
      to.is_large |= std::holds_alternative<std::uint64_t>(each);
    if (value.is_list) merge_shape(to, value, sample);
  }

  [[nodiscard]] bool merge_kind(seen_table_column& to, const table_value& value) const {
    using enum value_kind;
    if (value.kind == none || value.kind == to.kind) return true;
    const auto is_number = [](value_kind kind) { return kind == whole || kind == real; };
    if (to.kind == none)
      to.kind = value.kind;
    else if (is_number(to.kind) && is_number(value.kind))
      to.kind = real;
    else if (mixes_texts_)
      to.kind = text;
    else
      return false;
    return true;
  }

  void merge_shape(seen_table_column& to, const table_value& value, std::uint64_t sample) const {
    if (value.kind == value_kind::none) {
      to.varies = true;
      return;
    }
    if (to.shape.empty()) {
      to.shape = value.shape;
      return;
    }
    if (to.shape.size() != value.shape.size() ||
        !std::equal(to.shape.begin() + 1, to.shape.end(), value.shape.begin() + 1))
      to.trouble = "has lists whose elements have other shapes in " + records_.words_of(to.first) +
                   " and in " + records_.words_of(sample);
    to.varies |= to.shape.front() != value.shape.front();
  }

  const line_values& records_;
  bool mixes_texts_;
  std::vector<seen_table_column> columns_;
  std::size_t looked_at_ = 0;
  std::uint64_t before_ = 0;
};

element_type inferred_type(const seen_table_column& of) {
  if (of.kind == value_kind::boolean) return element_type::boolean;
  if (of.kind == value_kind::real) return element_type::f64;
  return of.is_large ? element_type::u64 : element_type::i64;
}

[[noreturn]] void refuse_option(const std::string& column, const std::string& why) {
  throw usage_error{"columns['" + column + "']: " + why};
}

void require_sound(const std::string& column, const table_column& how) {
  using enum element_type;
  if (how.type == f16 || how.type == bf16)
    refuse_option(column, std::string{to_string(*how.type)} +
                              " is not made of text; give f32, and convert it by a transform");
  if (int{how.is_text} + int{how.labels.has_value()} + int{how.type.has_value()} > 1)
    refuse_option(column, "give one of type, is_text and labels");
  if (how.shape && how.is_ragged) refuse_option(column, "give one of shape and is_ragged");
  if (how.labels && !how.labels->names.empty() && !how.labels->file.empty())
    refuse_option(column, "give one of text_labels::names and file");
  if (!how.fill) return;
  const bool is_text_fill = std::holds_alternative<std::string>(*how.fill);
  if (how.type && is_text_fill) refuse_option(column, "fill is a text, but the type a number's");
}

/// Whether labels of a column are whole numbers already, so that names only tell what they count.
/// In a CSV file, names that are numbers themselves are compared with the cells.
bool are_counted(const text_labels& labels, const seen_table_column& seen, bool mixes_texts) {
  const auto is_number = [](std::string_view name) {
    if (name.starts_with('-')) name.remove_prefix(1);
    return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
  };
  return seen.kind == value_kind::whole && !labels.names.empty() &&
         !(mixes_texts && std::ranges::any_of(labels.names, is_number));
}

/// Why values that are no texts are no labels.
std::string why_no_labels(const std::string& name, const seen_table_column& seen) {
  std::string why = "has " + std::string{words_of(seen.kind)} + ", not a text";
  if (seen.kind == value_kind::whole)
    why += "; name the classes that it counts in columns['" + printable(name) +
           "'].labels (names, or a file), or leave labels out";
  return why;
}

/// Checks the fill with the kind that the records have.
void require_fill(const std::string& column, const table_field& of) {
  if (!of.how.fill || of.as.is_ragged != (of.kind == value_kind::text && !of.is_label)) return;
  const bool is_text = of.kind == value_kind::text;
  if (std::holds_alternative<std::string>(*of.how.fill) != is_text)
    refuse_option(column, is_text ? "fill is a number, but values are texts"
                                  : "fill is a text, but values are numbers");
}

}  // namespace

table_survey survey_table(const line_values& records, const table_parser& by, std::size_t looked_at,
                          bool mixes_texts) {
  const std::uint64_t wanted = std::max<std::uint64_t>(1, looked_at);
  const auto count = std::min<std::uint64_t>(wanted, records.size());
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i < count; ++i)
    samples.push_back({records.size() / count * i + records.size() % count * i / count});
  if (records.wants_prefetch()) records.prefetch(samples);
  column_census census{records, mixes_texts};
  std::vector<std::byte> memory;
  for (const auto [sample] : samples) {
    const auto stored =
        records.read(sample, [&](std::size_t bytes) { return room_in(memory, bytes); });
    try {
      census.add(sample, by, stored);
    } catch (const dataset_error& fault) {
      records.refuse(fault, sample);
    }
  }
  return census.take();
}

std::string choose_field(const std::string& name, const seen_table_column& seen,
                         const table_column* given, const line_values& records,
                         const table_survey& survey, table_field& made) {
  if (given != nullptr) {
    require_sound(name, *given);
    made.how = *given;
  }
  if (!seen.trouble.empty()) return seen.trouble;
  const table_column& how = made.how;
  made.as.spec.name = name;
  if (made.how.labels && !made.how.labels->file.empty())
    made.how.labels->names = read_class_names(made.how.labels->file);
  made.counts_classes = how.labels && are_counted(*how.labels, seen, survey.mixes_texts);
  made.is_label = how.labels && !made.counts_classes;
  made.kind = how.is_text || made.is_label ? value_kind::text : seen.kind;
  const bool is_told = how.type || how.is_text || made.is_label;
  if (seen.records == 0 && !is_told)
    return "has no value in the " + std::to_string(survey.looked_at) +
           " records that were looked at, so its type is not known";
  if (how.type && seen.kind == value_kind::text && !survey.mixes_texts)
    return "has texts, so it cannot be " + std::string{to_string(*how.type)};
  const bool has_texts =
      survey.mixes_texts || seen.kind == value_kind::text || seen.kind == value_kind::none;
  if (made.is_label && !has_texts) return why_no_labels(name, seen);
  if (how.is_text && !has_texts) return "has " + std::string{words_of(seen.kind)} + ", not a text";
  if (survey.mixes_texts && (how.shape || how.is_ragged))
    return "has one value in each record, so leave out shape and is_ragged";
  if (how.type)
    made.kind =
        how.type == element_type::boolean ? value_kind::boolean : value_kind::real;  // for messages
  const bool is_bytes = made.kind == value_kind::text && !made.is_label;
  if (seen.lacking && !how.fill && !(is_bytes && survey.mixes_texts))  // CSV: an empty text
    return "has no value in " + records.words_of(*seen.lacking) + "; give columns['" +
           printable(name) + "'].fill for such records";
  if (is_bytes && seen.is_list)
    return "is a list of texts; if they are labels, give columns['" + printable(name) + "'].labels";
  made.as.spec.type = how.labels ? how.labels->type
                      : is_bytes ? element_type::u8
                      : how.type ? *how.type
                                 : inferred_type(seen);
  made.as.is_ragged = is_bytes || how.is_ragged || (seen.varies && !how.shape);
  if (how.shape) made.as.spec.shape = *how.shape;
  if (!how.shape && !seen.shape.empty())
    made.as.spec.shape = {seen.shape.begin() + (made.as.is_ragged ? 1 : 0), seen.shape.end()};
  require_fill(name, made);
  return {};
}

}  // namespace feedline::detail
