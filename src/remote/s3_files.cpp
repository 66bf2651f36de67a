#include "remote/s3_files.hpp"

#include "detail/printable.hpp"
#include "remote/manifest.hpp"
#include "remote/request/awaited.hpp"
#include "remote/request/percent.hpp"

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view scheme = "s3://";
constexpr int keys_a_page = 1000;
// A list without an end is refused.
constexpr int max_empty_pages = 1000;
constexpr std::uint64_t max_list_bytes = std::uint64_t{4} << 30;

/// Whether a part of the key, between slashes, is "." or "..".
bool has_dots_alone(const std::string& key) {
  const std::string parts = '/' + key + '/';
  return parts.find("/./") != std::string::npos || parts.find("/../") != std::string::npos;
}

/// A folder's location: its key ends in '/', unless it is the bucket.
s3_location below(const std::string& folder) {
  s3_location place = s3_location_of(folder);
  if (!place.key.empty() && !place.key.ends_with('/')) place.key += '/';
  return place;
}

}  // namespace

s3_location s3_location_of(const std::string& path) {
  const std::string rest = path.substr(scheme.size());
  const std::size_t slash = rest.find('/');
  s3_location place{rest.substr(0, slash),
                    slash == std::string::npos ? std::string{} : rest.substr(slash + 1)};
  if (place.bucket.empty())
    throw dataset_error{{.path = path, .field = {}}, "names no bucket: write s3://BUCKET/KEY"};
  if (place.bucket.find_first_of("@:?#%") != std::string::npos)
    throw dataset_error{{.path = path, .field = {}},
                        "is not the name of a bucket and a key: write s3://BUCKET/KEY, and "
                        "credentials into AWS's variables or files"};
  return place;
}

std::string s3_address(const s3_location& place, const std::string& endpoint,
                       const std::string& region) {
  const std::string key = encoded(place.key, true);
  if (!endpoint.empty())
    return endpoint + (endpoint.ends_with('/') ? "" : "/") + encoded(place.bucket, false) + "/" +
           key;
  const std::string domain =
      "s3." + region + ".amazonaws.com" + (region.starts_with("cn-") ? ".cn" : "");
  return place.bucket.find('.') == std::string::npos
             ? "https://" + place.bucket + "." + domain + "/" + key
             : "https://" + domain + "/" + encoded(place.bucket, false) + "/" + key;
}

remote_target s3_files::at(const s3_location& place) const {
  remote_target target = target_;
  target.url = s3_address(place, target_.identity->endpoint(), target_.identity->region());
  return target;
}

remote_target s3_files::target_of(const std::string& path) const {
  const s3_location place = s3_location_of(path);
  if (place.key.empty() || place.key.ends_with('/'))
    throw dataset_error{{.path = path, .field = {}}, "is a folder; name an object in it"};
  if (has_dots_alone(place.key))
    throw dataset_error{{.path = path, .field = {}},
                        "cannot be read: libcurl would shorten the '.' or '..' in its key, and ask "
                        "for another object; copy the object to a key without them"};
  return at(place);
}

entry_kind s3_files::kind_of(const std::string& path) const noexcept try {
  if (const entry_kind listed = kind_in_manifest(path); listed != entry_kind::nothing)
    return listed;
  const s3_location place = s3_location_of(path);
  if (!place.key.empty() && !place.key.ends_with('/')) {
    answer_verdict fault;
    if (try_open(path, fault)) return entry_kind::file;
    if (fault.fault != remote_fault::missing) return entry_kind::unknown;
  }
  const s3_page first = page(path, below(path), {}, 1);
  const bool is_empty = first.objects.empty() && first.folders.empty();
  return is_empty ? entry_kind::nothing : entry_kind::folder;
} catch (...) {
  return entry_kind::unknown;  // opening it tells why
}

std::vector<folder_entry> s3_files::list(const std::string& folder) const {
  if (kind_in_manifest(folder) == entry_kind::folder) return mounted_manifest()->list(folder);
  const s3_location place = below(folder);
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = folder, .field = {}}, "cannot be listed: " + why};
  };
  std::vector<folder_entry> entries;
  std::set<std::string> tokens;
  int empty_pages = 0;
  std::uint64_t bytes = 0;
  // A file without a name has the folder's key: consoles make it, as a mark. A folder without one
  // is made of keys with "//"; no path leads into it.
  const auto add = [&](std::string name, bool is_folder, std::optional<std::uint64_t> size = {}) {
    bytes += name.size();
    if (!name.empty()) entries.push_back({std::move(name), is_folder, size});
  };
  for (std::string token;;) {
    const s3_page part = page(folder, place, token, keys_a_page);
    const bool is_empty = part.objects.empty() && part.folders.empty();
    for (std::size_t i = 0; i < part.objects.size(); ++i)
      add(part.objects[i].substr(place.key.size()), false, part.bytes[i]);
    for (const std::string& prefix : part.folders)
      add(prefix.substr(place.key.size(), prefix.size() - place.key.size() - 1), true);
    if (!part.is_truncated) return entries;
    token = part.next;
    bytes += token.size();
    if (!tokens.insert(token).second) throw refusal("the list comes to the same page again");
    empty_pages = is_empty ? empty_pages + 1 : 0;
    if (empty_pages > max_empty_pages)
      throw refusal("more than " + std::to_string(max_empty_pages) + " pages in a row are empty");
    if (bytes > max_list_bytes)
      throw refusal("the list has more than " + std::to_string(max_list_bytes) +
                    " bytes; name the objects instead");
  }
}

s3_page s3_files::page(const std::string& folder, const s3_location& below,
                       const std::string& token, int max_keys) const {
  remote_target target = at({below.bucket, {}});
  // In the order of their names, which signatures are made of.
  target.url += "?" + (token.empty() ? "" : "continuation-token=" + encoded(token, false) + "&") +
                "delimiter=%2F&encoding-type=url&list-type=2&max-keys=" + std::to_string(max_keys) +
                "&prefix=" + encoded(below.key, false);
  awaited answer;
  answer.submit(std::make_shared<const remote_target>(std::move(target)),
                {.what = wanted_bytes::kind::text}, {});
  answer.wait();
  const remote_transfer& ended = *answer.all().front();
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = folder, .field = {}}, "cannot be listed: " + printable(why)};
  };
  if (ended.fault.fault == remote_fault::missing)
    throw refusal("there is no such bucket; check its name, and the region");
  if (ended.fault.fault != remote_fault::none) throw refusal(ended.fault.words);
  s3_page read;
  try {
    read = read_s3_page(ended.text);
  } catch (const std::runtime_error& why) {
    throw refusal(why.what());
  }
  const auto require_below = [&](const std::vector<std::string>& names, std::size_t tail) {
    for (const std::string& name : names)
      if (!name.starts_with(below.key) || name.size() < below.key.size() + tail ||
          (tail != 0 && !name.ends_with('/')))
        throw refusal("the list names '" + name + "', which is not in the folder");
  };
  require_below(read.objects, 0);
  require_below(read.folders, 1);
  return read;
}

}  // namespace feedline::detail
