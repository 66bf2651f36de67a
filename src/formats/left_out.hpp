#pragma once

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include "detail/log.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A column, feature or array that is no field.
struct left_out_field {
  std::string name;
  std::string reason;  ///< follows the name: "has values of ..."

  [[nodiscard]] std::string text() const { return "'" + name + "' " + reason; }
};

/// "; 'a' has values of ...", for the error that no field is left. Names the first ten.
[[nodiscard]] inline std::string reasons_of(const std::vector<left_out_field>& left_out) {
  constexpr std::size_t max_named = 10;
  std::string reasons;
  for (std::size_t i = 0; i < std::min(left_out.size(), max_named); ++i)
    reasons += "; " + printable(left_out[i].text());
  return reasons;
}

/// Logs what is left out, if all fields were wanted.
/// @param who Begins messages: "open_mds". @param what "columns".
/// @param wanted Fields that were asked for. @throws usage_error if one of them is left out.
inline void report_left_out(std::string_view who, std::string_view what,
                            const std::vector<left_out_field>& left_out,
                            const std::vector<std::string>& wanted) {
  std::vector<std::string> reasons;
  for (const left_out_field& each : left_out) {
    if (std::ranges::count(wanted, each.name) != 0)
      throw usage_error{std::string{who} + ": '" + printable(each.name) +
                        "' cannot be a field: it " + each.reason};
    reasons.push_back(each.text());
  }
  if (wanted.empty() && !reasons.empty())
    log()->warn("{}: {} are left out: {}", who, what, list_names(reasons));
}

/// Fields as they are in records, and what is left out. Ragged fields are not padded, so no pass
/// over all records is made.
/// @param fields Each has `as`, a `described_field`.
template <class Fields>
[[nodiscard]] std::vector<listed_field> list_described(
    std::uint64_t samples, const Fields& fields, const std::vector<left_out_field>& left_out) {
  std::vector<listed_field> listed;
  for (const auto& each : fields)
    listed.push_back({.name = each.as.spec.name,
                      .samples = samples,
                      .spec = each.as.spec,
                      .is_ragged = each.as.is_ragged,
                      .classes = each.as.spec.classes.get()});
  for (const left_out_field& each : left_out)
    listed.push_back({.name = each.name, .left_out = each.reason});
  return listed;
}

}  // namespace feedline::detail
