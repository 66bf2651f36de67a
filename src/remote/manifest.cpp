#include "remote/manifest.hpp"

#include <feedline/error.hpp>
#include <feedline/remote/manifest.hpp>

#include "detail/json/json_object.hpp"
#include "remote/mount_once.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace feedline::detail {
namespace {

/// A folder's address with one '/' at its end.
std::string prefix_of(std::string_view folder) {
  std::string prefix{folder};
  if (!prefix.ends_with('/')) prefix += '/';
  return prefix;
}

/// Manifests that were mounted, the last one first. None goes: a thread may outlast the process's
/// end, and a child of fork may be made at any moment.
struct mounted {
  std::shared_ptr<const manifest> now;
  const mounted* before = nullptr;
};
constinit std::atomic<const mounted*> last_mounted{nullptr};

/// @param make Makes the next one of the last one; is called again if another thread was faster.
template <class Make>
void mount(Make make) {
  auto made = std::make_unique<mounted>();
  made->before = last_mounted.load(std::memory_order_acquire);
  do made->now = make(made->before == nullptr ? nullptr : made->before->now.get());
  while (!last_mounted.compare_exchange_weak(made->before, made.get(), std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  (void)made.release();
}

}  // namespace

const object_pin* manifest::find(std::string_view address) const {
  const auto found = objects_.find(address);
  return found == objects_.end() ? nullptr : &found->second;
}

bool manifest::has_below(std::string_view folder) const {
  const std::string prefix = prefix_of(folder);
  const auto first = objects_.lower_bound(prefix);
  return first != objects_.end() && first->first.starts_with(prefix);
}

std::vector<folder_entry> manifest::list(std::string_view folder) const {
  const std::string prefix = prefix_of(folder);
  std::vector<folder_entry> found;
  for (auto at = objects_.lower_bound(prefix);
       at != objects_.end() && at->first.starts_with(prefix);) {
    const std::string_view rest = std::string_view{at->first}.substr(prefix.size());
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) {
      if (!rest.empty()) found.push_back({std::string{rest}, false});
      ++at;
      continue;
    }
    std::string name{rest.substr(0, slash)};
    at = objects_.lower_bound(prefix + name + static_cast<char>('/' + 1));  // past all below it
    if (!name.empty()) found.push_back({std::move(name), true});
  }
  return found;
}

manifest::entries read_manifest(std::string_view text, const std::string& name) {
  manifest::entries objects;
  std::size_t number = 0;
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = name, .field = {}},
                         "line " + std::to_string(number) + " of the manifest: " + why};
  };
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::string path;
    object_pin pin;
    bool has_size = false;
    try {
      read_flat_json(line, [&](const std::string& member, flat_json_value value) {
        if (member == "size") {
          const auto* const bytes = std::get_if<std::uint64_t>(&value);
          if (bytes == nullptr) throw refusal("'size' is not a whole number");
          pin.size = *bytes;
          has_size = true;
          return;
        }
        std::string* const to = member == "path"            ? &path
                                : member == "etag"          ? &pin.etag
                                : member == "last_modified" ? &pin.last_modified
                                                            : nullptr;
        if (to == nullptr)
          throw refusal("'" + member +
                        "' is not a member: these are path, size, etag and "
                        "last_modified");
        auto* const words = std::get_if<std::string>(&value);
        if (words == nullptr) throw refusal("'" + member + "' is not a string");
        if (words->find_first_of("\r\n") != std::string::npos)
          throw refusal("'" + member + "' has the end of a line in it");
        *to = std::move(*words);
      });
    } catch (const json_error& why) {
      throw refusal(why.what());
    }
    if (!has_size) throw refusal("'size' is missing");
    if (path.find("://") == std::string::npos)
      throw refusal(path.empty() ? "'path' is missing"
                                 : "'path' is no address such as s3://BUCKET/KEY");
    if (!objects.emplace(std::move(path), std::move(pin)).second)
      throw refusal("its path is in a line before");
  }
  return objects;
}

std::string manifest_line(const std::string& address, const object_pin& pin) {
  return json_object{}
             .string("path", address)
             .member("size", pin.size)
             .string("etag", pin.etag)
             .string("last_modified", pin.last_modified)
             .text() +
         '\n';
}

std::shared_ptr<const manifest> mounted_manifest() noexcept {
  const mounted* const last = last_mounted.load(std::memory_order_acquire);
  return last == nullptr ? nullptr : last->now;
}

entry_kind kind_in_manifest(const std::string& address) {
  const auto known = mounted_manifest();
  if (!known) return entry_kind::nothing;
  if (known->find(address) != nullptr) return entry_kind::file;
  return known->has_below(address) ? entry_kind::folder : entry_kind::nothing;
}

void add_to_manifest(const manifest::entries& more) {
  mount([&](const manifest* before) {
    manifest::entries all = more;
    if (before != nullptr) all.insert(before->all().begin(), before->all().end());
    return std::make_shared<const manifest>(std::move(all));
  });
}

void forget_manifest() {
  mount([](const manifest*) { return std::shared_ptr<const manifest>{}; });
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

void mount_manifest(const std::string& file) {
  detail::mount_remote_files_once();
  const auto opened = detail::open_file(file);
  std::string text(static_cast<std::size_t>(opened->size()), '\0');
  opened->read(0, std::as_writable_bytes(std::span{text}));
  opened->require_unchanged();
  detail::add_to_manifest(detail::read_manifest(text, file));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
