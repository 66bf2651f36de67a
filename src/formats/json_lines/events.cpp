// Over 250 lines: one short function for each event of the parser.

#ifdef FEEDLINE_HAS_JSON

#include "formats/json_lines/events.hpp"

#include "detail/printable.hpp"

#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t max_object_depth = 64;
constexpr std::size_t max_keys = std::size_t{1} << 16;
constexpr std::size_t max_name_bytes = 1024;  // each key has the names of the objects around it

dataset_error json_fault(const std::string& why, const std::string& field = {}) {
  return {{.path = {}, .field = field}, why};
}

}  // namespace

std::string_view json_list::start() {
  if (!open_.empty()) {
    if (depth_of_values_ != 0 && open_.size() >= depth_of_values_)
      return "is a list of values and of lists";
    ++open_.back();
  }
  if (open_.size() == max_rank) return "is a list of lists, more than 16 deep";
  open_.push_back(0);
  if (shape_.size() < open_.size()) shape_.push_back(unknown);
  return {};
}

std::string_view json_list::end() {
  std::uint64_t& length = shape_[open_.size() - 1];
  const std::uint64_t count = open_.back();
  open_.pop_back();
  const bool is_equal = length == unknown || length == count;
  length = count;
  if (!is_equal) return "is a list of lists of other lengths";
  if (count == 0 && !open_.empty()) return "is a list of empty lists";
  return {};
}

std::string_view json_list::add_value() noexcept {
  if (depth_of_values_ == 0) depth_of_values_ = open_.size();
  ++open_.back();
  return depth_of_values_ == open_.size() && shape_.size() == depth_of_values_
             ? std::string_view{}
             : "is a list of values and of lists";
}

void json_events::begin(const std::vector<bool>& wanted, const table_parser::sink& use) {
  wanted_ = &wanted;
  use_ = &use;
  objects_.clear();
  seen_.resize(keys_.nodes.size());
  ++line_;
  node_ = 0;
  skipped_ = 0;
  list_.begin();
  ignored_.clear();
}

void json_events::require_object() const {
  if (objects_.empty())
    throw json_fault("is no object ({...}); JSON lines have an object on each line");
}

std::size_t json_events::find_member(open_object& in, const std::string& name) {
  const json_keys::node& parent = keys_.nodes[in.node];
  if (in.next < parent.in_order.size() && parent.in_order[in.next].first == name)
    return parent.in_order[in.next++].second;
  const auto found = parent.members.find(name);
  if (found == parent.members.end()) return grows_ ? add_member(in.node, name) : ignored_node;
  in.next = found->second + 1;
  return parent.in_order[found->second].second;
}

std::size_t json_events::add_member(std::size_t parent, const std::string& name) {
  const std::size_t place = keys_.nodes.size();
  if (place > max_keys)
    throw json_fault("records have more than " + std::to_string(max_keys) +
                     " keys; write values of one kind as a list");
  json_keys::node& in = keys_.nodes[parent];
  std::string full = parent == 0 ? name : in.name + '.' + name;
  if (full.size() > max_name_bytes)
    throw json_fault("a key that begins with '" + printable(full.substr(0, 60)) + "' has " +
                     std::to_string(full.size()) + " bytes with those around it, and " +
                     std::to_string(max_name_bytes) + " are the most");
  in.members.emplace(name, in.in_order.size());
  in.in_order.emplace_back(name, place);
  keys_.nodes.push_back({.name = std::move(full)});
  seen_.push_back(0);
  return place;
}

bool json_events::key(std::string& name) {
  if (skipped_ != 0) return true;
  node_ = find_member(objects_.back(), name);
  if (node_ == ignored_node) {
    if (ignored_.empty()) ignored_ = name;
    return true;
  }
  if (seen_[node_] == line_)
    throw json_fault("the key '" + printable(name) + "' occurs twice", keys_.nodes[node_].name);
  seen_[node_] = line_;
  return true;
}

/// Whether the node's value is a column's that is wanted. A survey makes it one.
bool json_events::wants(std::size_t node) {
  if (!grows_ && keys_.nodes[node].column == json_keys::no_column)
    throw json_fault("is an object in the records that were looked at, and a value here",
                     keys_.nodes[node].name);
  std::size_t& column = keys_.nodes[node].column;
  if (column == json_keys::no_column && grows_) {
    const std::string& name = keys_.nodes[node].name;
    if (!keys_.names.insert(name).second)
      throw json_fault("two keys are named '" + printable(name) +
                           "': one has the dot in it, the other is in an object",
                       name);
    column = keys_.columns.size();
    keys_.columns.push_back(name);
  }
  return wanted_->empty() || (*wanted_)[column];
}

void json_events::begin_value() {
  value_.kind = value_kind::none;
  value_.is_list = false;
  value_.trouble = {};
  value_.shape.clear();
  value_.numbers.clear();
  value_.texts.clear();
  text_count_ = 0;
}

void json_events::end_value() {
  for (std::size_t i = 0; i < text_count_; ++i) value_.texts.emplace_back(texts_[i]);
  (*use_)(keys_.nodes[node_].column, value_);
}

void json_events::add_kind(value_kind kind) {
  using enum value_kind;
  if (list_.is_open()) set_trouble(list_.add_value());
  if (value_.kind == none || value_.kind == kind)
    value_.kind = kind;
  else if ((value_.kind == whole && kind == real) || (value_.kind == real && kind == whole))
    value_.kind = real;
  else
    set_trouble("is a list of values of several kinds");
}

void json_events::add_number(value_kind kind, table_number number, std::string_view trouble) {
  require_object();
  if (skip_value() || !wants(node_)) return;
  if (!list_.is_open()) begin_value();
  add_kind(kind);
  value_.numbers.push_back(number);
  if (!trouble.empty()) set_trouble(trouble);
  if (!list_.is_open()) end_value();
}

bool json_events::null() {
  require_object();
  const bool is_no_column =
      node_ != ignored_node && !grows_ && keys_.nodes[node_].column == json_keys::no_column;
  if (skip_value() || is_no_column || !wants(node_)) return true;
  if (list_.is_open()) {
    set_trouble("is a list with null in it");
    return true;
  }
  begin_value();
  end_value();
  return true;
}

bool json_events::boolean(bool value) {
  add_number(value_kind::boolean, std::int64_t{value});
  return true;
}

bool json_events::number_integer(std::int64_t value) {
  add_number(value_kind::whole, value);
  return true;
}

bool json_events::number_unsigned(std::uint64_t value) {
  add_number(value_kind::whole, std::in_range<std::int64_t>(value)
                                    ? table_number{static_cast<std::int64_t>(value)}
                                    : table_number{value});
  return true;
}

bool json_events::number_float(double value, const std::string& text) {
  const bool is_whole = text.find_first_of(".eE") == std::string::npos;
  add_number(value_kind::real, value,
             is_whole ? "has a whole number of more than 64 bits; write it as a text, or with a "
                        "fraction"
                      : "");
  return true;
}

bool json_events::string(std::string& value) {
  require_object();
  if (skip_value() || !wants(node_)) return true;
  if (!list_.is_open()) begin_value();
  add_kind(value_kind::text);
  if (texts_.size() == text_count_) texts_.emplace_back();
  texts_[text_count_++].swap(value);
  if (!list_.is_open()) end_value();
  return true;
}

bool json_events::start_object(std::size_t) {
  if (skip_value() && !objects_.empty()) {
    ++skipped_;
    return true;
  }
  if (list_.is_open()) {
    set_trouble("is a list of objects");
    ++skipped_;
    return true;
  }
  if (objects_.size() == max_object_depth)
    throw json_fault("objects are nested more than " + std::to_string(max_object_depth) + " deep");
  // A value of other records.
  if (!objects_.empty() && keys_.nodes[node_].column != json_keys::no_column && wants(node_)) {
    begin_value();
    set_trouble("is an object, and a value in other records");
    end_value();
  }
  objects_.push_back({node_, 0});
  return true;
}

bool json_events::end_object() {
  if (skipped_ != 0)
    --skipped_;
  else
    objects_.pop_back();
  return true;
}

bool json_events::start_array(std::size_t) {
  require_object();
  if (skip_value() || !wants(node_)) {
    ++skipped_;
    return true;
  }
  if (!list_.is_open()) {
    begin_value();
    list_.begin();
    value_.is_list = true;
  }
  if (const std::string_view why = list_.start(); !why.empty()) {
    set_trouble(why);
    ++skipped_;
  }
  return true;
}

bool json_events::end_array() {
  if (skipped_ != 0) {
    --skipped_;
    return true;
  }
  if (const std::string_view why = list_.end(); !why.empty()) set_trouble(why);
  if (list_.is_open()) return true;
  value_.shape = list_.shape();
  end_value();
  return true;
}

bool json_events::parse_error(std::size_t position, const std::string& last,
                              const nlohmann::detail::exception& error) {
  const std::string_view text{error.what()};
  const std::size_t reason = text.find("- ");
  const bool is_nan = last.find_first_of("NI") != std::string::npos;
  throw json_fault(
      "column " + std::to_string(position) + ": is no JSON: " +
      printable(text.substr(reason == std::string_view::npos ? 0 : reason + 2).substr(0, 200)) +
      (is_nan ? "; JSON has neither NaN nor Infinity: write null, and give a fill" : ""));
}

}  // namespace feedline::detail

#endif
