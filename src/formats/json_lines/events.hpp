#pragma once

#include <feedline/error.hpp>

#include "formats/json_lines/parser.hpp"
#include "formats/table/table_value.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace feedline::detail {

/// The list that is being read.
class json_list {
 public:
  void begin() noexcept {
    open_.clear();
    shape_.clear();
    depth_of_values_ = 0;
  }
  [[nodiscard]] bool is_open() const noexcept { return !open_.empty(); }
  [[nodiscard]] const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }

  /// These return why the list cannot be a field's value; empty: it can be so far.
  [[nodiscard]] std::string_view start();
  [[nodiscard]] std::string_view end();
  [[nodiscard]] std::string_view add_value() noexcept;

 private:
  static constexpr std::size_t max_rank = 16;
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  std::vector<std::uint64_t> open_;   ///< elements so far of each open list
  std::vector<std::uint64_t> shape_;  ///< lengths, as far as lists have ended
  std::size_t depth_of_values_ = 0;   ///< number of lists around values; 0: no value yet
};

/// Follows the parser through a line, and hands out the values of columns.
class json_events {
 public:
  /// @param grows Whether keys that are found are added.
  json_events(json_keys& keys, bool grows) : keys_{keys}, grows_{grows} {}

  void begin(const std::vector<bool>& wanted, const table_parser::sink& use);
  /// The first key that was ignored, if any.
  [[nodiscard]] const std::string& ignored() const noexcept { return ignored_; }

  // Called by nlohmann's parser.
  bool null();
  bool boolean(bool value);
  bool number_integer(std::int64_t value);
  bool number_unsigned(std::uint64_t value);
  bool number_float(double value, const std::string& text);
  bool string(std::string& value);
  bool binary(nlohmann::json::binary_t&) { return true; }
  bool start_object(std::size_t);
  bool key(std::string& name);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  [[noreturn]] bool parse_error(std::size_t position, const std::string& last,
                                const nlohmann::detail::exception& error);

 private:
  struct open_object {
    std::size_t node;
    std::size_t next;  ///< the member that probably comes next
  };
  static constexpr std::size_t ignored_node = ~std::size_t{0};

  void require_object() const;
  [[nodiscard]] std::size_t find_member(open_object& in, const std::string& name);
  [[nodiscard]] std::size_t add_member(std::size_t parent, const std::string& name);
  [[nodiscard]] bool wants(std::size_t node);
  bool skip_value() noexcept { return skipped_ != 0 || node_ == ignored_node; }
  void add_kind(value_kind kind);
  void add_number(value_kind kind, table_number number, std::string_view trouble = {});
  void set_trouble(std::string_view why) noexcept {
    if (value_.trouble.empty()) value_.trouble = why;
  }
  void begin_value();
  void end_value();

  json_keys& keys_;
  bool grows_;
  const std::vector<bool>* wanted_ = nullptr;
  const table_parser::sink* use_ = nullptr;
  std::vector<open_object> objects_;
  std::vector<std::uint64_t> seen_;  ///< for each node, the last line that has it
  std::uint64_t line_ = 0;
  std::size_t node_ = 0;     ///< node whose value comes next
  std::size_t skipped_ = 0;  ///< number of open objects and lists that are ignored
  json_list list_;
  table_value value_;
  std::vector<std::string> texts_;
  std::size_t text_count_ = 0;
  std::string ignored_;
};

}  // namespace feedline::detail
