#include "formats/tar/name.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

/// The first part of a path, cut off from it.
std::string_view take_part(std::string_view& path) {
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), part.size() + 1));
  return part;
}

bool is_of_another_kind(std::string_view part) {
  return part.size() >= 4 && part.substr(0, 2) == "__" && part.substr(part.size() - 2) == "__";
}

}  // namespace

std::variant<std::string, refused_name> checked_tar_name(std::string_view name, tar_rules rules) {
  if (name.find('\0') != std::string_view::npos)
    return refused_name{"has a zero byte in its name; the archive is damaged, get it anew"};
  if (!name.empty() && name.front() == '/') {
    if (rules == tar_rules::strict)
      return refused_name{
          "has an absolute name; make the archive with relative ones, or open it with "
          "tar_options::lenient"};
    name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
  }
  while (name.substr(0, 2) == "./")  // with all slashes: ".//a" is no absolute name
    name.remove_prefix(std::min(name.find_first_not_of('/', 1), name.size()));
  if (name.empty()) return refused_name{"has no name; the archive is damaged, get it anew"};
  for (std::string_view rest = name; !rest.empty();)
    if (take_part(rest) == "..")
      return refused_name{"has a name that leads out of the archive; make it without '..'"};
  return std::string{name};
}

std::string quoted_tar_name(std::string_view name) {
  constexpr std::size_t most = 300;
  std::string text{name};
  if (text.size() > most) text.replace(most / 2, text.size() - most, "...");
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
  return "'" + text + "'";
}

tar_sample_name split_tar_name(std::string_view name) noexcept {
  for (std::string_view rest = name; !rest.empty();)
    if (is_of_another_kind(take_part(rest))) return {};
  const std::size_t last = name.rfind('/') + 1;  // npos + 1 is 0
  const std::size_t dot = name.find('.', last);
  if (dot == std::string_view::npos || dot == last) return {};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace feedline::detail
