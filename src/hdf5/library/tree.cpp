#include "hdf5/library/file.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

/// Properties with a large chunk cache. Rows are read in any order, so chunks stay decoded as long
/// as there is room: with the library's default of a megabyte a larger chunk would be decoded again
/// for every row.
hdf5_properties_id dataset_access() {
  constexpr std::size_t chunk_slots = 12'421;  // a prime, because the library hashes by remainder
  constexpr std::size_t chunk_cache_bytes = 64 << 20;
  hdf5_properties_id access{H5Pcreate(H5P_DATASET_ACCESS)};
  H5Pset_chunk_cache(access.get(), chunk_slots, chunk_cache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
  return access;
}

bool has_raw_files(hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  return H5Pget_external_count(creation.get()) > 0;
}

struct named_link {
  std::string name;
  H5L_type_t type;
};

herr_t collect_link(hid_t /*group*/, const char* name, const H5L_info_t* info,
                    void* links) noexcept {
  try {
    static_cast<std::vector<named_link>*>(links)->push_back({name, info->type});
  } catch (...) {
    return -1;
  }
  return 0;
}

/// Nested groups are visited without recursion, because files may nest them to any depth.
class search {
 public:
  search(const hdf5_session& hdf5, const dataset_visitor& visitor)
      : hdf5_{hdf5}, visitor_{visitor} {}

  std::vector<hdf5_link> run(hid_t file) {
    if (const auto root = describe_object(hdf5_, file, "/")) entered_.insert(root->key);
    enter(file, "/", "");
    while (!open_.empty()) {
      if (open_.back().links.empty()) {
        open_.pop_back();
        continue;
      }
      const named_link link = std::move(open_.back().links.back());
      open_.back().links.pop_back();
      look_at(link);
    }
    std::ranges::sort(found_, {}, &hdf5_link::path);
    return std::move(found_);
  }

 private:
  struct open_group {
    hdf5_object_id id;
    std::string path;
    std::vector<named_link> links = {};  ///< not visited yet
  };

  void enter(hid_t location, const std::string& name, const std::string& path) {
    open_group group{hdf5_object_id{H5Gopen2(location, name.c_str(), H5P_DEFAULT)}, path};
    hsize_t next = 0;
    if (!group.id || H5Literate(group.id.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &next, collect_link,
                                &group.links) < 0)
      found_.push_back(
          {path.empty() ? "/" : path, "a group that cannot be listed: " + hdf5_.last_message()});
    std::ranges::reverse(group.links);  // so that the first is visited first
    if (group.id) open_.push_back(std::move(group));
  }

  void look_at(const named_link& link) {
    const hid_t group = open_.back().id.get();
    const std::string path = open_.back().path + '/' + link.name;
    const auto object = describe_object(hdf5_, group, link.name);
    if (!object) {
      const std::string why = hdf5_.last_message();
      const bool leads_nowhere = link.type == H5L_TYPE_SOFT &&
                                 H5Oexists_by_name(group, link.name.c_str(), H5P_DEFAULT) == 0;
      if (!leads_nowhere) found_.push_back({path, "cannot be opened: " + why});
    } else if (object->type == H5O_TYPE_DATASET) {
      auto dataset = try_open_dataset(hdf5_, group, link.name);
      found_.push_back({path, dataset ? "" : "cannot be opened: " + hdf5_.last_message()});
      if (dataset && visitor_) visitor_(path, std::move(dataset));
    } else if (object->type == H5O_TYPE_GROUP && link.type == H5L_TYPE_HARD &&
               entered_.insert(object->key).second) {
      enter(group, link.name, path);
    }
  }

  const hdf5_session& hdf5_;
  const dataset_visitor& visitor_;
  std::vector<hdf5_link> found_ = {};
  std::vector<open_group> open_ = {};  ///< each one is in the one before
  std::set<decltype(hdf5_object::key)> entered_ = {};
};

}  // namespace

// Datasets without raw files are opened without a prefix for them, because the library refuses two
// prefixes in one program.
hdf5_dataset_id try_open_dataset(const hdf5_session& /*hdf5*/, hid_t location,
                                 const std::string& name) {
  const auto access = dataset_access();
  hdf5_dataset_id id{H5Dopen2(location, name.c_str(), access.get())};
  if (id && !has_raw_files(id.get())) return id;
  id = hdf5_dataset_id{};
  H5Pset_efile_prefix(access.get(), "${ORIGIN}");
  return hdf5_dataset_id{H5Dopen2(location, name.c_str(), access.get())};
}

std::optional<hdf5_object> describe_object(const hdf5_session& /*hdf5*/, hid_t location,
                                           const std::string& name) {
  hdf5_object object;
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  if (H5Oget_info_by_name3(location, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
    return std::nullopt;
  std::copy(std::begin(info.token.__data), std::end(info.token.__data), object.key.begin());
#else
  H5O_info_t info{};
  if (H5Oget_info_by_name2(location, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
    return std::nullopt;
  object.key = info.addr;
#endif
  object.type = info.type;
  object.file = info.fileno;
  return object;
}

std::vector<hdf5_link> hdf5_file::datasets(const hdf5_session& hdf5,
                                           const dataset_visitor& visitor) const {
  return search{hdf5, visitor}.run(id_.get());
}

std::vector<std::string> hdf5_file::members(const hdf5_session& hdf5,
                                            const std::string& group) const {
  if (driver_) driver_->begin();
  const hdf5_object_id opened{H5Gopen2(id_.get(), group.c_str(), H5P_DEFAULT)};
  if (driver_ && driver_->failure())
    throw error(group, "leads to " + driver_->failure()->path() + ", which " +
                           driver_->failure()->message());
  std::vector<named_link> links;
  hsize_t next = 0;
  if (!opened ||
      H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &next, collect_link, &links) < 0)
    throw unreadable(hdf5, group, "is not a group that can be listed");
  std::vector<std::string> names;
  for (named_link& link : links) names.push_back(std::move(link.name));
  return names;
}

}  // namespace feedline::detail
