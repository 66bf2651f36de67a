#include "remote/web_files.hpp"

#include <utility>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto recent_life = 2s;
constexpr std::size_t max_recent = 256;

}  // namespace

std::shared_ptr<const object_file> recent_objects::find(const std::string& path) {
  const std::lock_guard lock{mutex_};
  drop_old();
  const auto found = entries_.find(path);
  if (found == entries_.end() || found->second.file->was_changed()) return nullptr;
  return found->second.file;
}

void recent_objects::add(const std::string& path, std::shared_ptr<const object_file> opened) {
  const std::lock_guard lock{mutex_};
  drop_old();
  if (entries_.size() >= max_recent) entries_.erase(entries_.begin());
  entries_.insert_or_assign(path, entry{std::move(opened), std::chrono::steady_clock::now()});
}

void recent_objects::drop_old() {
  const auto oldest = std::chrono::steady_clock::now() - recent_life;
  std::erase_if(entries_, [&](const auto& each) { return each.second.opened < oldest; });
}

std::shared_ptr<const object_file> web_files::try_open(const std::string& path,
                                                       answer_verdict& fault) const {
  if (auto found = recent_.find(path)) return found;
  remote_target target = target_;
  target.url = path;
  auto opened = object_file::try_open(
      path, {std::make_shared<const remote_target>(std::move(target)), max_ahead_bytes_}, fault);
  if (opened) recent_.add(path, opened);
  return opened;
}

byte_file_ptr web_files::open(const std::string& path, file_access) const {
  answer_verdict fault;
  if (auto opened = try_open(path, fault)) return opened;
  throw dataset_error{{.path = path, .field = {}}, "cannot be opened: " + fault.words};
}

entry_kind web_files::kind_of(const std::string& path) const noexcept try {
  if (path.ends_with('/')) return entry_kind::unknown;  // listing it tells why
  answer_verdict fault;
  if (try_open(path, fault)) return entry_kind::file;
  return fault.fault == remote_fault::missing ? entry_kind::nothing : entry_kind::unknown;
} catch (...) {
  return entry_kind::unknown;  // opening it tells why
}

std::vector<folder_entry> web_files::list(const std::string& folder) const {
  throw dataset_error{{.path = folder, .field = {}},
                      "cannot be listed: web servers have no lists of files; name each file, as "
                      "in train-{000..127}.tar"};
}

}  // namespace feedline::detail
