#include "io/file_system.hpp"

#include "io/range_source.hpp"
#include "io/remote_path.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include <fnmatch.h>

namespace feedline::detail {
namespace {

struct mounts {
  std::mutex mutex;
  std::map<std::string, file_system_ptr, std::less<>> by_scheme;
};

/// Never destroyed: a thread that was left in a read may ask for it as the process ends.
mounts& all_mounts() {
  alignas(mounts) static std::byte room[sizeof(mounts)];  // NOLINT(modernize-avoid-c-arrays)
  static auto* const all = new (room) mounts;
  return *all;
}

/// The part of a pattern for which there are matches, and the rest.
class matcher {
 public:
  explicit matcher(const std::string& pattern) : files_{file_system_of(pattern)} {
    match({}, pattern);
    std::ranges::sort(found_);
  }
  std::vector<std::string> take() && { return std::move(found_); }

 private:
  /// @param before A path without special meaning; ends in '/' unless it is empty.
  void match(std::string before, std::string_view rest) {
    while (rest.starts_with('/')) {
      before += '/';
      rest.remove_prefix(1);
    }
    const std::string part{rest.substr(0, rest.find('/'))};
    rest.remove_prefix(part.size());
    if (part.empty()) {  // the pattern ends in '/'
      if (files_->kind_of(before) == entry_kind::folder) found_.push_back(std::move(before));
    } else if (part.find_first_of("*?[") == std::string::npos) {
      go_on(before + without_escapes(part), rest);
    } else if (const std::string folder = before.empty() ? "." : before; may_be_folder(folder)) {
      for (const folder_entry& entry : files_->list(folder))
        if ((rest.empty() || entry.is_folder) &&
            ::fnmatch(part.c_str(), entry.name.c_str(), FNM_PERIOD) == 0)
          rest.empty() ? found_.push_back(before + entry.name) : match(before + entry.name, rest);
    }
  }

  /// Also true if that is unknown, because listing it then tells why.
  [[nodiscard]] bool may_be_folder(const std::string& path) const {
    const entry_kind kind = files_->kind_of(path);
    return kind == entry_kind::folder || kind == entry_kind::unknown;
  }

  void go_on(std::string path, std::string_view rest) {
    if (!rest.empty()) return match(std::move(path), rest);
    if (files_->kind_of(path) != entry_kind::nothing) found_.push_back(std::move(path));
  }

  static std::string without_escapes(std::string_view part) {
    std::string plain;
    for (std::size_t i = 0; i < part.size(); ++i)
      plain += part[i] == '\\' && i + 1 < part.size() ? part[++i] : part[i];
    return plain;
  }

  file_system_ptr files_;
  std::vector<std::string> found_;
};

}  // namespace

std::unique_ptr<byte_source> file_system::stream(const file_field& name) const {
  byte_file_ptr file = open(name.path);
  const std::uint64_t bytes = file->size();
  return std::make_unique<range_source>(std::move(file), 0, bytes);
}

whole_file file_system::read_whole(const std::string& path, const room& memory) const {
  const byte_file_ptr file = open(path);
  if (file->size() > max_whole_bytes)
    throw dataset_error{{.path = path, .field = {}},
                        "has " + std::to_string(file->size()) + " bytes, and more than " +
                            std::to_string(max_whole_bytes) + " are not read"};
  const bool was_in_memory = !file->is_cold();
  const auto bytes = memory(static_cast<std::size_t>(file->size()));
  file->read(0, bytes);
  file->require_unchanged();
  return {bytes, was_in_memory};
}

std::uint64_t file_system::size_of(const std::string& path) const noexcept try {
  return open(path)->size();
} catch (...) {
  return 0;
}

file_system_ptr file_system_of(const std::string& path) {
  file_system_ptr local{file_system_ptr{}, &local_files()};  // static, so without an owner
  const std::size_t end = path.find("://");
  if (end == std::string::npos) return local;
  {
    auto& [mutex, by_scheme] = all_mounts();
    const std::lock_guard lock{mutex};
    const auto found = by_scheme.find(std::string_view{path}.substr(0, end));
    if (found != by_scheme.end()) return found->second;
  }
  refuse_remote_path(path);
  return local;
}

void mount_files(const std::string& scheme, file_system_ptr files) {
  auto& [mutex, by_scheme] = all_mounts();
  const std::lock_guard lock{mutex};
  if (files)
    by_scheme.insert_or_assign(scheme, std::move(files));
  else
    by_scheme.erase(scheme);
}

byte_file_ptr open_file(const std::string& path, file_access how) {
  return file_system_of(path)->open(path, how);
}

entry_kind kind_of_entry(const std::string& path) {
  return file_system_of(path)->kind_of(path);
}

std::unique_ptr<byte_source> open_stream(const file_field& name) {
  return file_system_of(name.path)->stream(name);
}

std::vector<std::string> match_files(const std::string& pattern) {
  return matcher{pattern}.take();
}

}  // namespace feedline::detail
