#include "formats/csv/parser.hpp"

#include <feedline/error.hpp>

#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace feedline::detail {
namespace {

/// How the cells of a column are taken.
struct cell_reading {
  bool wants_number = true;
  bool takes_zeros = false;  ///< numbers with leading zeros
  bool has_missing = true;   ///< some cells count as no value
};

/// Memory of one thread.
struct csv_scratch {
  csv_cells cells = {};
  table_value value = {};
};

class csv_parser final : public table_parser {
 public:
  csv_parser(std::vector<cell_reading> columns, csv_syntax syntax, std::vector<std::string> missing)
      : columns_{std::move(columns)}, syntax_{syntax}, missing_{std::move(missing)} {}

  void parse(std::span<const std::byte> stored, const std::vector<bool>& wanted,
             const sink& use) const override {
    const auto scratch = scratch_.take();
    scratch->cells.split({reinterpret_cast<const char*>(stored.data()), stored.size()}, syntax_);
    const auto& cells = scratch->cells.all();
    if (cells.size() != columns_.size())
      throw dataset_error{{},
                          "has " + std::to_string(cells.size()) + " cells, but there are " +
                              std::to_string(columns_.size()) +
                              " columns; quote cells that have the separator in them, or remove "
                              "the record"};
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (wanted.empty() || wanted[i]) use(i, value_of(cells[i], columns_[i], scratch->value));
  }

  std::string place_of(std::size_t column) const override {
    return "column " + std::to_string(column + 1);
  }

 private:
  const table_value& value_of(std::string_view cell, const cell_reading& how,
                              table_value& value) const {
    value.kind = value_kind::none;
    value.numbers.clear();
    value.texts.clear();
    if (how.has_missing && std::ranges::find(missing_, cell) != missing_.end()) return value;
    value.texts.push_back(cell);
    value.kind = value_kind::text;
    if (!how.wants_number) return value;
    const csv_number number = number_of_cell(cell, how.takes_zeros);
    if (number.kind == value_kind::none) return value;
    value.kind = number.kind;
    value.numbers.push_back(number.value);
    return value;
  }

  std::vector<cell_reading> columns_;
  csv_syntax syntax_;
  std::vector<std::string> missing_;
  mutable scratch_pool<csv_scratch> scratch_{[] { return std::make_unique<csv_scratch>(); }};
};

}  // namespace

table_parser_ptr make_csv_survey_parser(std::size_t columns, csv_syntax syntax,
                                        std::vector<std::string> missing) {
  return std::make_shared<const csv_parser>(std::vector<cell_reading>(columns), syntax,
                                            std::move(missing));
}

table_parser_ptr make_csv_parser(const table_plan& plan, csv_syntax syntax,
                                 std::vector<std::string> missing) {
  std::vector<cell_reading> columns(plan.columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!plan.targets[i]) continue;
    const table_field& of = plan.fields[plan.targets[i]->field];
    const bool is_text = of.kind == value_kind::text;
    columns[i] = {.wants_number = !is_text,
                  .takes_zeros = of.how.type.has_value(),
                  .has_missing = !is_text || of.is_label || of.how.fill.has_value()};
  }
  return std::make_shared<const csv_parser>(std::move(columns), syntax, std::move(missing));
}

}  // namespace feedline::detail
