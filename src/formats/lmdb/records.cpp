#include "formats/lmdb/records.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>

#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/crc32c.hpp"
#include "formats/lmdb/tree.hpp"
#include "io/file_system.hpp"
#include "ragged/file_values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

/// Whether a key describes the set instead of being a record of it.
bool describes_set(std::string_view key) {
  constexpr std::array<std::string_view, 5> names{"len", "length", "keys", "num-samples",
                                                  "num_samples"};
  return std::ranges::find(names, key) != names.end() ||
         (key.size() > 4 && key.starts_with("__") && key.ends_with("__"));
}

/// The keys of a file, by their names.
class key_groups {
 public:
  void add(std::string_view key, byte_range value) {
    all_.push_back(value);
    if (is_one_) return;
    const std::size_t dash = key.rfind('-');
    const bool has_number = dash != key.npos && dash != 0 && dash + 1 < key.size() &&
                            key.find_first_not_of("0123456789", dash + 1) == key.npos;
    if (!has_number) return forget();
    const std::string name{key.substr(0, dash)};
    if (!groups_.contains(name) && groups_.size() == max_groups) return forget();
    group& to = groups_[name];
    to.values.push_back(value);
    to.numbers = crc32c(std::as_bytes(std::span{key.substr(dash)}), to.numbers);
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return all_.size(); }

  /// The ranges of each name. All are named "value" if no names have the same numbers.
  [[nodiscard]] std::map<std::string, std::vector<byte_range>> take() {
    std::map<std::string, std::vector<byte_range>> found;
    const auto is_alike = [&](const auto& each) {
      return each.second.numbers == groups_.begin()->second.numbers &&
             each.second.values.size() == groups_.begin()->second.values.size();
    };
    if (is_one_ || groups_.size() < 2 || !std::ranges::all_of(groups_, is_alike))
      found["value"] = std::move(all_);
    else
      for (auto& [name, of] : groups_) found[name] = std::move(of.values);
    return found;
  }

 private:
  static constexpr std::size_t max_groups = 64;

  struct group {
    std::vector<byte_range> values = {};
    std::uint32_t numbers = 0;  ///< checksum of all numbers
  };

  void forget() {
    is_one_ = true;
    groups_.clear();
  }

  std::vector<byte_range> all_;
  std::map<std::string, group> groups_;
  bool is_one_ = false;
};

std::string names_in(const std::map<std::string, std::vector<values_in_file>>& groups) {
  std::vector<std::string> names;
  for (const auto& [name, files] : groups) names.push_back("'" + name + "'");
  return list_names(names);
}

}  // namespace

lmdb_records open_lmdb_records(const std::vector<byte_file_ptr>& files,
                               const std::string& database) {
  lmdb_records opened;
  std::map<std::string, std::vector<values_in_file>> groups;
  for (const byte_file_ptr& file : files) {
    key_groups keys;
    read_lmdb_entries(*file, database, [&](std::string_view key, byte_range value) {
      if (describes_set(key))
        opened.left_out.push_back(printable(key));
      else
        keys.add(key, value);
    });
    file->require_unchanged();
    if (keys.size() == 0) continue;
    const bool is_first = groups.empty();
    auto found = keys.take();
    const bool is_alike = std::ranges::equal(
        found, groups, [](const auto& one, const auto& other) { return one.first == other.first; });
    if (!is_first && !is_alike)
      throw dataset_error{{.path = file->name(), .field = {}},
                          "has other names of keys than " + files.front()->name() + ", which has " +
                              names_in(groups) +
                              "; environments that are opened together have the same ones"};
    for (auto& [name, values] : found) groups[name].push_back({file, std::move(values)});
  }
  if (groups.empty())
    throw dataset_error{{.path = files.front()->name(), .field = {}}, "holds no record"};
  for (auto& [name, values] : groups)
    opened.groups.push_back({name, make_file_values(std::move(values))});
  return opened;
}

std::vector<byte_file_ptr> open_lmdb_files(const std::vector<std::string>& paths) {
  if (paths.empty()) throw usage_error{"open_lmdb: there is no path"};
  std::vector<byte_file_ptr> files;
  for (const std::string& path : expand_paths(paths)) {
    const bool is_folder = kind_of_entry(path) == entry_kind::folder;
    const std::string within = path.ends_with('/') ? "data.mdb" : "/data.mdb";
    files.push_back(open_file(is_folder ? path + within : path));
  }
  return files;
}

}  // namespace feedline::detail
