#include "remote/web_files.hpp"

#include "remote/manifest.hpp"

namespace feedline::detail {

remote_target web_files::target_of(const std::string& path) const {
  remote_target target = target_;
  target.url = path;
  return target;
}

entry_kind web_files::kind_of(const std::string& path) const noexcept try {
  if (const entry_kind listed = kind_in_manifest(path); listed != entry_kind::nothing)
    return listed;
  if (path.ends_with('/')) return entry_kind::unknown;  // listing it tells why
  answer_verdict fault;
  if (try_open(path, fault)) return entry_kind::file;
  return fault.fault == remote_fault::missing ? entry_kind::nothing : entry_kind::unknown;
} catch (...) {
  return entry_kind::unknown;  // opening it tells why
}

std::vector<folder_entry> web_files::list(const std::string& folder) const {
  if (kind_in_manifest(folder) == entry_kind::folder) return mounted_manifest()->list(folder);
  throw dataset_error{{.path = folder, .field = {}},
                      "cannot be listed: web servers have no lists of files; name each file, as "
                      "in train-{000..127}.tar, or mount a manifest of them"};
}

}  // namespace feedline::detail
