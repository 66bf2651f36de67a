#include "hdf5/library/source_places.hpp"

#include <system_error>

#include <algorithm>
#include <cstdlib>

namespace feedline::detail {

namespace fs = std::filesystem;

bool is_numbered(std::string_view name) {
  for (std::size_t at = name.find('%'); at != std::string_view::npos; at = name.find('%', at + 2))
    if (name.substr(at + 1).starts_with('b')) return true;
  return false;
}

std::string numbered_name(std::string_view name, std::uint64_t number) {
  std::string plain;
  while (!name.empty()) {
    const bool is_number = name.starts_with("%b");
    plain += is_number ? std::to_string(number) : std::string{name.front()};
    name.remove_prefix(is_number || name.starts_with("%%") ? 2 : 1);
  }
  return plain;
}

fs::path prefix_folder(std::string_view prefix, const fs::path& own) {
  constexpr std::string_view own_folder = "${ORIGIN}";
  if (prefix == ".") return {};
  if (!prefix.starts_with(own_folder)) return prefix;
  prefix.remove_prefix(own_folder.size());
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  return own / prefix;
}

std::vector<fs::path> places_of_source(const fs::path& own_file, const fs::path& source) {
  const fs::path own = own_file.parent_path();
  std::vector<fs::path> places;
  if (source.is_absolute()) places.push_back(source);
  const fs::path name = source.is_absolute() ? source.filename() : source;
  const char* const prefixes = std::getenv("HDF5_VDS_PREFIX");
  std::string_view left = prefixes != nullptr ? prefixes : "";
  while (!left.empty()) {
    const auto end = std::min(left.find(':'), left.size());
    if (end != 0) places.push_back(prefix_folder(left.substr(0, end), own) / name);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  places.push_back(own / name);
  places.push_back(name);  // in the program's working directory
  std::error_code unknown;
  places.push_back(fs::weakly_canonical(own_file, unknown).parent_path() / name);
  return places;
}

}  // namespace feedline::detail
