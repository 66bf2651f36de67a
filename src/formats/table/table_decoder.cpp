#include "formats/table/table_decoder.hpp"

#include <feedline/error.hpp>

#include "dataset/label_type.hpp"
#include "detail/printable.hpp"
#include "formats/table/label_names.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Memory of one thread.
struct table_scratch {
  std::vector<bool> wanted = {};        ///< for each column
  std::vector<std::size_t> given = {};  ///< columns that each field got a value of
};

std::string words_of_shape(const std::vector<std::uint64_t>& shape, bool is_list) {
  if (!is_list) return "one value";
  std::string text = "a list of ";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : " x ") + std::to_string(shape[i]);
  return text;
}

class table_decoder final : public record_decoder {
 public:
  table_decoder(table_parser_ptr by, table_plan plan)
      : by_{std::move(by)}, plan_{std::move(plan)}, columns_of_(plan_.fields.size()) {
    for (const auto& target : plan_.targets)
      if (target) ++columns_of_[target->field];
    for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
      const field& spec = plan_.fields[i].as.spec;
      if (plan_.fields[i].is_label || plan_.fields[i].counts_classes)
        labels_.emplace(i, label_index{spec.name, spec.classes, spec.type});
    }
    for (const auto& [place, index] : labels_) require_filled_class(plan_.fields[place], index);
    std::array<std::byte, sizeof(std::uint64_t)> tried{};
    for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
      const table_field& each = plan_.fields[i];
      if (each.how.fill && !each.as.is_ragged) write_fill(each, i, tried.data());
    }
  }

  std::vector<described_field> describe(std::span<const std::byte>) const override {
    std::vector<described_field> described;
    for (const table_field& each : plan_.fields) described.push_back(each.as);
    return described;
  }

  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context&) const override {
    const auto scratch = scratch_.take();
    scratch->wanted.assign(plan_.columns.size(), false);
    scratch->given.assign(plan_.fields.size(), 0);
    for (std::size_t i = 0; i < plan_.columns.size(); ++i)
      scratch->wanted[i] = plan_.targets[i] && out.wants(plan_.targets[i]->field);
    by_->parse(stored, scratch->wanted, [&](std::size_t column, const table_value& value) {
      const column_target& to = *plan_.targets[column];
      write(column, to, value, out);
      ++scratch->given[to.field];
    });
    for (std::size_t i = 0; i < plan_.fields.size(); ++i)
      if (out.wants(i) && scratch->given[i] < columns_of_[i]) fill_all(i, out);
  }

 private:
  [[noreturn]] static void refuse(const table_field& of, const std::string& place,
                                  const std::string& why) {
    throw dataset_error{{.path = {}, .field = of.as.spec.name},
                        (place.empty() ? "" : place + ' ') + why};
  }

  [[noreturn]] static void refuse_missing(const table_field& of, const std::string& place) {
    refuse(of, place,
           "has no value; give columns['" + printable(of.as.spec.name) +
               "'].fill for such records, or replace them (error_policy)");
  }

  static void require_filled_class(const table_field& of, const label_index& index) {
    const auto* const text = of.how.fill ? std::get_if<std::string>(&*of.how.fill) : nullptr;
    if (text != nullptr && of.is_label && !of.as.is_ragged && !index.find(*text))
      throw usage_error{"columns['" + printable(of.as.spec.name) +
                        "'].fill: " + index.not_found(*text)};
  }

  /// A field that the record has no column of.
  void fill_all(std::size_t place, record_output& out) const {
    const table_field& of = plan_.fields[place];
    if (!of.how.fill) refuse_missing(of, {});
    fill_value(of, place, {}, out);
  }

  /// @param element Index in a field that several columns make; empty: all elements.
  void fill_value(const table_field& of, std::size_t place, std::optional<std::size_t> element,
                  record_output& out) const {
    if (of.as.is_ragged) {
      const auto* const text = std::get_if<std::string>(&*of.how.fill);
      if (of.kind == value_kind::text && !of.is_label && text != nullptr)
        return out.put(place, std::as_bytes(std::span{*text}));
      (void)out.ragged(place, 0);
      return;
    }
    auto to = out.fixed(place);
    const std::size_t bytes = size_bytes(of.as.spec.type);
    if (element) to = to.subspan(*element * bytes, bytes);
    for (; !to.empty(); to = to.subspan(bytes)) write_fill(of, place, to.data());
  }

  void write_fill(const table_field& of, std::size_t place, std::byte* out) const {
    const column_fill& fill = *of.how.fill;
    if (const auto* const text = std::get_if<std::string>(&fill)) {
      const auto found = labels_.at(place).find(*text);
      write_label(*found, of.as.spec.type, {out, size_bytes(of.as.spec.type)});
      return;
    }
    const auto* const whole = std::get_if<std::int64_t>(&fill);
    const table_number number =
        whole != nullptr ? table_number{*whole} : table_number{std::get<double>(fill)};
    if (const std::string why = write_number(number, of.as.spec.type, out); !why.empty())
      throw usage_error{"columns['" + printable(of.as.spec.name) + "'].fill " + why};
  }

  void write(std::size_t column, const column_target& to, const table_value& value,
             record_output& out) const {
    const table_field& of = plan_.fields[to.field];
    const bool is_part = columns_of_[to.field] > 1;
    const auto place = [&] { return by_->place_of(column); };
    if (!value.trouble.empty()) refuse(of, place(), std::string{value.trouble});
    if (value.kind == value_kind::none && !value.is_list) {
      if (!of.how.fill) refuse_missing(of, place());
      return fill_value(of, to.field, is_part ? std::optional{to.element} : std::nullopt, out);
    }
    const bool wants_text = of.kind == value_kind::text;
    const bool is_empty = value.kind == value_kind::none;
    if (!is_empty && (wants_text ? value.texts.empty() : value.numbers.empty()))
      refuse(of, place(),
             wants_text ? "has " + std::string{words_of(value.kind)} + ", not a text"
                        : "has the text '" + printable(value.texts.front().substr(0, 60)) +
                              "', not " + std::string{words_of(of.kind)} + way_out(of));
    if (wants_text && !of.is_label) return write_bytes(of, to.field, place, value, out);
    if (!wants_text) require_kind(of, place, value);
    if (of.as.is_ragged) return write_list(of, to.field, place, value, out);
    const auto at = out.fixed(to.field);
    if (is_part) {
      const std::size_t bytes = size_bytes(of.as.spec.type);
      return write_elements(of, to.field, place, value, at.subspan(to.element * bytes, bytes));
    }
    const bool is_right =
        value.is_list ? value.shape == of.as.spec.shape : of.as.spec.shape.empty();
    if (!is_right)
      refuse(of, place(),
             "has " + words_of_shape(value.shape, value.is_list) + ", but " +
                 to_string(of.as.spec) + " takes " +
                 words_of_shape(of.as.spec.shape, !of.as.spec.shape.empty()) +
                 "; if lists differ, give columns['" + printable(of.as.spec.name) + "'].is_ragged");
    write_elements(of, to.field, place, value, at);
  }

  static std::string way_out(const table_field& of) {
    return "; the records that were looked at differ: say in columns['" +
           printable(of.as.spec.name) + "'] what all have";
  }

  /// A number and a truth value differ, unless a type is given that holds both.
  template <class Place>
  static void require_kind(const table_field& of, const Place& place, const table_value& value) {
    if (of.how.type || value.kind == value_kind::none) return;
    if ((of.kind == value_kind::boolean) != (value.kind == value_kind::boolean))
      refuse(of, place(),
             "has " + std::string{words_of(value.kind)} + ", not " +
                 std::string{words_of(of.kind)} + way_out(of));
  }

  template <class Place>
  static void write_bytes(const table_field& of, std::size_t field, const Place& place,
                          const table_value& value, record_output& out) {
    if (value.is_list) refuse(of, place(), "has a list, not a text" + way_out(of));
    const std::string_view text = value.texts.front();
    if (!is_utf8(text)) refuse(of, place(), std::string{not_utf8});
    out.put(field, std::as_bytes(std::span{text}));
  }

  template <class Place>
  void write_list(const table_field& of, std::size_t field, const Place& place,
                  const table_value& value, record_output& out) const {
    if (!value.is_list) refuse(of, place(), "has one value, not a list" + way_out(of));
    if (value.kind == value_kind::none) {
      (void)out.ragged(field, 0);
      return;
    }
    const std::vector<std::uint64_t> inner{value.shape.begin() + 1, value.shape.end()};
    if (inner != of.as.spec.shape)
      refuse(of, place(),
             "has a list whose elements are of another shape than " + to_string(of.as.spec));
    write_elements(of, field, place, value, out.ragged(field, value.shape.front()));
  }

  /// @param number A whole number.
  static bool counts_class(const table_field& of, const table_number& number) {
    const auto classes = static_cast<double>(of.as.spec.classes.get().size());
    return std::visit(
        [&](auto value) {
          const auto label = static_cast<double>(value);
          return label >= 0 && label < classes;
        },
        number);
  }

  /// Writes as many values as there is room for.
  template <class Place>
  void write_elements(const table_field& of, std::size_t field, const Place& place,
                      const table_value& value, std::span<std::byte> out) const {
    const element_type type = of.as.spec.type;
    const std::size_t bytes = size_bytes(type);
    const std::size_t count =
        std::min(out.size() / bytes, of.is_label ? value.texts.size() : value.numbers.size());
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const to = out.data() + i * bytes;
      if (of.is_label) {
        const label_index& index = labels_.at(field);
        const auto found = index.find(value.texts[i]);
        if (!found) refuse(of, place(), index.not_found(value.texts[i]));
        write_label(*found, type, {to, bytes});
        continue;
      }
      std::string why = write_number(value.numbers[i], type, to);
      if (of.counts_classes && !(why.empty() && counts_class(of, value.numbers[i])))
        refuse(of, place(),
               "is " + words_of(value.numbers[i]) + ", which counts none of " +
                   to_string(of.as.spec.classes) + "; name all classes in columns['" +
                   printable(of.as.spec.name) +
                   "'].labels, or replace such records (error_policy)");
      if (why.empty() && type == element_type::f64 && !of.how.type &&
          !is_exact_as_double(value.numbers[i]))
        why = "is a whole number that float64 rounds, and other records have fractions";
      if (!why.empty())
        refuse(of, place(),
               why + "; give columns['" + printable(of.as.spec.name) +
                   "'].type a type that holds all values");
    }
  }

  table_parser_ptr by_;
  table_plan plan_;
  std::vector<std::size_t> columns_of_;             ///< number of columns of each field
  std::map<std::size_t, label_index> labels_ = {};  ///< key: index of the field
  mutable scratch_pool<table_scratch> scratch_{[] { return std::make_unique<table_scratch>(); }};
};

}  // namespace

record_decoder_ptr make_table_decoder(table_parser_ptr by, table_plan plan) {
  return std::make_shared<const table_decoder>(std::move(by), std::move(plan));
}

}  // namespace feedline::detail
