#include "hdf5/library/file.hpp"

#include "detail/text.hpp"
#include "hdf5/format/metadata.hpp"
#include "hdf5/library/storage.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace feedline::detail {
namespace {

/// Checked without the library: once some versions have loaded such an image, they crash as the
/// program ends, whatever was closed.
/// @throws hdf5_error if the path cannot be read, because the library's message would not be clear.
bool is_cache_image(const std::filesystem::path& path) try {
  const byte_file_ptr file = detail::open_file(path.string());
  hdf5_metadata metadata{*file};
  return has_cache_image(metadata);
} catch (const hdf5_metadata_error&) {
  return false;  // the library reports what is wrong
} catch (const dataset_error& failure) {
  throw hdf5_error{failure.where(), failure.message()};
}

std::string list_of(const std::vector<hdf5_link>& links) {
  std::vector<std::string> names;
  std::vector<std::string> unreadable;
  for (const auto& link : links)
    link.fault.empty() ? names.push_back(link.path)
                       : unreadable.push_back(link.path + " (" + link.fault + ")");
  if (names.empty() && unreadable.empty()) return "the file has no datasets";
  std::string text;
  if (!names.empty()) text = "the file has " + list_names(names);
  if (!unreadable.empty())
    text += (text.empty() ? "of the file's " : "; besides, of the file's ") +
            std::string{"objects these are not readable: "} + list_names(unreadable);
  return text;
}

/// Length of the part of a path for which there are links; the library's own check takes one link
/// at a time.
std::size_t linked_length(hid_t file, std::string_view path) {
  std::size_t linked = 0;
  for (std::size_t end = 0; end < path.size();) {
    const std::size_t begin = path.find_first_not_of('/', end);
    if (begin == std::string_view::npos) break;
    end = std::min(path.find('/', begin), path.size());
    if (H5Lexists(file, std::string{path.substr(0, end)}.c_str(), H5P_DEFAULT) <= 0) return linked;
    linked = end;
  }
  return path.size();
}

}  // namespace

hdf5_file::hdf5_file(const hdf5_session& hdf5, const std::filesystem::path& path,
                     external_files external)
    : path_{path.string()}, rule_{path, external} {
  if (is_cache_image(path))
    throw error({},
                "its metadata was left in a cache image, after which the HDF5 library may crash "
                "when the program ends; rewrite it by 'h5repack " +
                    path.filename().string() + " NEW.h5', and open that");
  id_ = open_if_being_written(hdf5, path);
  if (id_) return;
  driver_ = std::make_shared<hdf5_driver>(hdf5, rule_);
  id_ = hdf5_file_id{H5Fopen(path_.c_str(), H5F_ACC_RDONLY, driver_->access(hdf5).get())};
  if (const auto& failure = driver_->failure()) throw error({}, failure->message());
  if (id_) return;
  const auto message = hdf5.last_message();
  if (H5Fis_hdf5(path_.c_str()) == 0) throw error({}, "is not an HDF5 file: " + message);
  throw error({},
              "the HDF5 library cannot open it; it may be cut short, damaged, or still being "
              "written: " +
                  message);
}

hdf5_error hdf5_file::no_such_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                      const std::string& besides) const {
  return error(dataset, "there is no such dataset; " + list_of(datasets(hdf5)) + besides);
}

hdf5_error hdf5_file::no_such_member(const hdf5_session& hdf5, const std::string& path,
                                     const std::string& member) const {
  return no_such_dataset(hdf5, path,
                         "; the values of '" + path.substr(0, path.size() - member.size() - 1) +
                             "' are not records, so they have no members");
}

void hdf5_file::require_look_up(const hdf5_session& hdf5, const std::string& dataset,
                                std::size_t linked) const {
  const std::string part = dataset.substr(0, linked);
  const std::string in_words = "cannot be looked for, since '" + part + "' cannot be ";
  if (linked == 0) return;
  const auto object = describe_object(hdf5, id_.get(), part);
  if (!object) throw unreadable(hdf5, dataset, in_words + "opened");
  if (object->type == H5O_TYPE_DATASET && !try_open_dataset(hdf5, id_.get(), part))
    throw unreadable(hdf5, dataset, in_words + "opened");
  const std::size_t begin = dataset.find_first_not_of('/', linked);
  const std::string next = dataset.substr(0, dataset.find('/', begin));
  if (object->type == H5O_TYPE_GROUP && H5Lexists(id_.get(), next.c_str(), H5P_DEFAULT) < 0)
    throw unreadable(hdf5, dataset, in_words + "searched");
}

hdf5_dataset_id hdf5_file::try_open(const hdf5_session& hdf5, const std::string& dataset) const {
  if (driver_) driver_->begin();
  auto id = try_open_dataset(hdf5, id_.get(), dataset);
  if (driver_ && driver_->failure())
    throw error(dataset, "leads to " + driver_->failure()->path() + ", which " +
                             driver_->failure()->message());
  if (!id) return id;
  const auto holder = path_of_file(hdf5, id.get());
  if (holder == path_) return id;
  const std::string which = "lies in " + holder.string() + ", which ";
  if (!driver_)
    throw error(dataset,
                which +
                    "cannot be watched for changes, because this program has the file that leads "
                    "there open for writing; close it there, or open that file itself");
  if (open_if_being_written(hdf5, holder))
    throw error(dataset, which +
                             "this program has open for writing, so that newer values may lie in "
                             "the library's memory; close it there, or open that file itself");
  return id;
}

hdf5_dataset_id hdf5_file::open_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                        std::string* member) const {
  if (member != nullptr) member->clear();
  if (auto id = try_open(hdf5, dataset)) return id;
  const auto failure = unreadable(hdf5, dataset, "cannot be opened");

  if (const std::size_t linked = linked_length(id_.get(), dataset); linked < dataset.size()) {
    if (member != nullptr && linked > 0)
      if (auto id = try_open(hdf5, dataset.substr(0, linked))) {
        *member = dataset.substr(linked + 1);
        return id;
      }
    require_look_up(hdf5, dataset, linked);
    throw no_such_dataset(hdf5, dataset);
  }
  const hdf5_object_id object{
      H5Oopen(id_.get(), dataset.empty() ? "/" : dataset.c_str(), H5P_DEFAULT)};
  if (object && H5Iget_type(object.get()) != H5I_DATASET)
    throw error(dataset, "is a group or a type, not a dataset; " + list_of(datasets(hdf5)));
  throw failure;
}

}  // namespace feedline::detail
