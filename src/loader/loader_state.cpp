#include <feedline/error.hpp>
#include <feedline/loader/loader_state.hpp>

#include "detail/json/flat_json.hpp"
#include "detail/text.hpp"
#include "loader/partial_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <set>
#include <type_traits>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// The first member of a state of this version, which also identifies a text as a state. A
/// change of a state's members must increase the format number, still read the old numbers, and add
/// a text of each to the tests.
constexpr const char* format_name = "feedline_loader_state";
constexpr std::uint64_t format = 2;

using detail::partial_names;

[[noreturn]] void refuse(const std::string& why) {
  throw usage_error{"loader_state::from_json: the text is no whole state of a loader: " + why +
                    "; give it what to_json wrote"};
}

std::string array_of(const std::vector<std::string>& texts) {
  std::string array;
  for (const std::string& text : texts)
    array += (array.empty() ? "" : ", ") + detail::json_string(text);
  return '[' + array + ']';
}

/// Visits the members of a state with their names, in the order in which they are written.
template <class State, class Visit>
void for_each_member(State& state, Visit visit) {
  visit("epoch", state.epoch);
  visit("batch", state.batch);
  visit("samples", state.samples);
  visit("fields", state.fields);
  visit("positions", state.positions);
  visit("order", state.order);
  visit("global_batch", state.global_batch);
  visit("partial_batch", state.partial_batch);
  visit("transform_seed", state.transform_seed);
  visit("transforms", state.transforms);
  visit("unreadable", state.unreadable);
  visit("skipped", state.skipped);
}

/// A member that may be too large for JSON's numbers: many programs read them with 53 bits.
bool is_hexadecimal(std::string_view name) {
  return name == "order" || name == "transform_seed";
}

void read(std::string_view name, const detail::flat_json_value& from, std::uint64_t& to) {
  if (!is_hexadecimal(name)) {
    const auto* const number = std::get_if<std::uint64_t>(&from);
    if (number == nullptr) refuse("its '" + std::string{name} + "' is not a number");
    to = *number;
    return;
  }
  const auto* const text = std::get_if<std::string>(&from);
  const auto is_digit = [](char one) {
    return (one >= '0' && one <= '9') || (one >= 'a' && one <= 'f');
  };
  if (text == nullptr || text->size() != 16 || !std::all_of(text->begin(), text->end(), is_digit))
    refuse("its '" + std::string{name} + "' is not a string of 16 hexadecimal digits");
  std::from_chars(text->data(), text->data() + text->size(), to, 16);
}
void read(std::string_view name, const detail::flat_json_value& from,
          std::vector<std::string>& to) {
  const auto* const texts = std::get_if<std::vector<std::string>>(&from);
  if (texts == nullptr) refuse("its '" + std::string{name} + "' is not an array of strings");
  to = *texts;
}
void read(std::string_view name, const detail::flat_json_value& from, partial_batch& to) {
  const auto* const text = std::get_if<std::string>(&from);
  const auto found = text == nullptr ? partial_names.end()
                                     : std::find(partial_names.begin(), partial_names.end(), *text);
  if (found == partial_names.end())
    refuse("its '" + std::string{name} + "' is not keep, drop, error or fill");
  to = static_cast<partial_batch>(found - partial_names.begin());
}

/// A member that states of format 1 do not have.
bool is_newer(std::string_view name) {
  return name == "unreadable" || name == "skipped";
}

std::uint64_t checked_format(const detail::flat_json_value& found) {
  const auto* const number = std::get_if<std::uint64_t>(&found);
  if (number == nullptr || *number == 0) refuse("its format is no number from 1");
  if (*number <= format) return *number;
  throw usage_error{"loader_state::from_json: the state has format " + std::to_string(*number) +
                    ", and this version of feedline reads formats up to " + std::to_string(format) +
                    ": resume with the version that wrote it, or a newer one"};
}

}  // namespace

std::string to_json(const loader_state& state) {
  std::string text = "{" + detail::json_string(format_name) + ": " + std::to_string(format);
  for_each_member(state, [&](std::string_view name, const auto& value) {
    using type = std::remove_cvref_t<decltype(value)>;
    text += ", " + detail::json_string(name) + ": ";
    if constexpr (std::is_same_v<type, std::uint64_t>) {
      text +=
          is_hexadecimal(name) ? detail::json_string(detail::to_hex(value)) : std::to_string(value);
    } else if constexpr (std::is_same_v<type, partial_batch>) {
      text += detail::json_string(detail::name_of(value));
    } else {
      text += array_of(value);
    }
  });
  return text + '}';
}

loader_state loader_state::from_json(std::string_view text) {
  loader_state state;
  std::set<std::string> seen;
  std::uint64_t found = format;
  try {
    detail::read_flat_json(text,
                           [&](const std::string& name, const detail::flat_json_value& value) {
                             if (!seen.insert(name).second) refuse("it has '" + name + "' twice");
                             if (name == format_name) {
                               found = checked_format(value);
                               return;
                             }
                             bool known = false;
                             for_each_member(state, [&](std::string_view each, auto& member) {
                               if (each != name) return;
                               known = true;
                               read(each, value, member);
                             });
                             if (!known) refuse("it has a member '" + name + "'");
                           });
  } catch (const detail::json_error& error) {
    refuse(error.what());
  }
  const auto require = [&](const std::string& name) {
    if (seen.count(name) == 0) refuse("it has no '" + name + "'");
  };
  require(format_name);
  for_each_member(state, [&](const char* name, const auto&) {
    if (found > 1 || !is_newer(name)) require(name);
  });
  return state;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
