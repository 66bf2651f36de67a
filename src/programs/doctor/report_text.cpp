// The report as text, and as JSON.

#include "detail/printable.hpp"
#include "programs/doctor/json.hpp"
#include "programs/doctor/report.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace doctor {
namespace {

using enum section::in_json;

/// A line of a fact; long sentences are folded after the label's column.
std::string folded(const std::string& label, std::string rest) {
  constexpr std::size_t width = 84;
  std::string text;
  for (std::string begin = label; !rest.empty(); begin.clear()) {
    std::size_t at = rest.size() <= width ? rest.size() : rest.rfind(' ', width);
    if (at == std::string::npos) at = std::min(rest.find(' '), rest.size());
    text += fmt::format("  {:<14}{}\n", feedline::detail::printable(begin),
                        feedline::detail::printable(rest.substr(0, at)));
    rest.erase(0, at + 1);
  }
  return text;
}

}  // namespace

std::string words_of(const std::vector<section>& sections) {
  constexpr std::size_t most = 50;
  std::string text;
  for (const section& each : sections) {
    std::string lines;
    std::size_t many = 0;
    for (const fact& told : each.facts)
      if (!told.is_one_of_many || ++many <= most) lines += folded(told.label, told.words);
    if (many > most)
      lines += folded("", fmt::format("and {} more: --json FILE lists all", many - most));
    if (!each.title.empty() && !lines.empty()) text += '\n' + each.title + '\n' + lines;
  }
  return text;
}

std::string json_of(const std::vector<section>& sections) {
  json_members whole;
  for (const section& each : sections) {
    json_members joined;
    std::vector<raw> items;
    for (const fact& told : each.facts) {
      joined.insert(joined.end(), told.members.begin(), told.members.end());
      items.push_back(object(told.members));
    }
    if (each.name.empty()) {
      whole.insert(whole.end(), joined.begin(), joined.end());
      continue;
    }
    if (each.kind == one_object) {
      whole.emplace_back(each.name, object(joined).text);
      continue;
    }
    if (each.kind == item_of_list) items = {object(joined)};
    if (whole.empty() || whole.back().first != each.name) whole.emplace_back(each.name, "[]");
    std::string& list = whole.back().second;  // sections of one name follow one another
    const std::string more = json(items).substr(1);
    list = list.size() == 2 ? '[' + more
                            : list.substr(0, list.size() - 1) + (items.empty() ? "]" : ", " + more);
  }
  return object(whole).text + '\n';
}

}  // namespace doctor
