// Source: HDF5 Dimension Scale Specification 1.0; NetCDF-4's attributes as netcdf-c writes them
// (its document of the file format).

#include "hdf5/attributes/dimensions.hpp"

#include "arrays/namesakes.hpp"
#include "detail/printable.hpp"
#include "hdf5/attributes/attribute.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view netcdf_mark = "This is a netCDF dimension but not a netCDF variable";

/// An object's path in its file; empty if it has none.
std::string path_of_object(hid_t object) {
  const ssize_t length = H5Iget_name(object, nullptr, 0);
  if (length <= 0) return {};
  std::string path(static_cast<std::size_t>(length) + 1, '\0');
  H5Iget_name(object, path.data(), path.size());
  path.pop_back();
  return path;
}

std::string last_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string group_of(const std::string& path) {
  const std::size_t end = path.find_last_of('/');
  return end == std::string::npos || end == 0 ? "/" : path.substr(0, end);
}

bool is_scale(const hdf5_session& hdf5, hid_t dataset) {
  return hdf5_attribute{hdf5, dataset, "CLASS"}.text() == "DIMENSION_SCALE";
}

/// The values of a scale, if it has one dimension of numbers.
hdf5_scale values_of(const hdf5_session& hdf5, hid_t scale, const std::string& path) {
  const hdf5_type_id type{H5Dget_type(scale)};
  const hdf5_space_id space{H5Dget_space(scale)};
  const H5T_class_t kind = H5Tget_class(type.get());
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      is_netcdf_dimension(hdf5, scale))
    return {};
  return {path, hdf5_attribute{hdf5, scale, "units"}.text()};
}

/// Adds to what is wrong; one reason is enough to look at the file.
void add_fault(hdf5_dimensions& found, std::string fault) {
  if (found.fault.empty()) found.fault = std::move(fault);
}

herr_t collect_name(hid_t /*group*/, const char* name, const H5L_info_t* info,
                    void* names) noexcept {
  try {
    if (info->type == H5L_TYPE_HARD)
      static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  } catch (...) {
    return -1;
  }
  return 0;
}

/// The references of a DIMENSION_LIST, which the library allocates.
class reference_lists {
 public:
  explicit reference_lists(const hdf5_attribute& from)
      : from_{from}, lists_(from.size(), hvl_t{0, nullptr}) {
    is_read_ = H5Aread(from.id(), from.type(), lists_.data()) >= 0;
  }
  reference_lists(const reference_lists&) = delete;
  reference_lists& operator=(const reference_lists&) = delete;
  ~reference_lists() {
    if (is_read_) H5Dvlen_reclaim(from_.type(), from_.space(), H5P_DEFAULT, lists_.data());
  }

  [[nodiscard]] bool are_read() const noexcept { return is_read_; }
  /// The first reference for a dimension; null if it has none.
  [[nodiscard]] const hobj_ref_t* first(std::size_t dimension) const noexcept {
    const hvl_t& list = lists_[dimension];
    return list.len == 0 ? nullptr : static_cast<const hobj_ref_t*>(list.p);
  }

 private:
  const hdf5_attribute& from_;
  std::vector<hvl_t> lists_;
  bool is_read_ = false;
};

}  // namespace

bool is_netcdf_dimension(const hdf5_session& hdf5, hid_t dataset) {
  return is_scale(hdf5, dataset) &&
         hdf5_attribute{hdf5, dataset, "NAME"}.text().starts_with(netcdf_mark);
}

hdf5_dimension_finder::scale hdf5_dimension_finder::describe_scale(hid_t object) const {
  scale found;
  if (object < 0) {
    found.fault = "leads to no object";
    return found;
  }
  found.path = path_of_object(object);
  const std::string where =
      found.path.empty() ? "an object without a path" : '\'' + printable(found.path) + '\'';
  if (H5Iget_type(object) != H5I_DATASET) {
    found.fault = "leads to " + where + ", which is no dataset";
    return found;
  }
  if (!is_scale(hdf5_, object)) {
    found.fault = "leads to " + where + ", which is no dimension scale";
    return found;
  }
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  std::array<hsize_t, H5S_MAX_RANK> max_extents{};
  const hdf5_space_id space{H5Dget_space(object)};
  if (H5Sget_simple_extent_dims(space.get(), extents.data(), max_extents.data()) < 1) {
    found.fault = "leads to " + where + ", which has no dimension";
    return found;
  }
  found.extent = extents[0];
  found.can_grow = max_extents[0] != extents[0];
  const bool is_dimension = is_netcdf_dimension(hdf5_, object);
  found.values = values_of(hdf5_, object, found.path);
  found.name = last_name(found.path);
  if (found.name.empty() && !is_dimension)
    found.name = hdf5_attribute{hdf5_, object, "NAME"}.text();
  return found;
}

const hdf5_dimension_finder::scale& hdf5_dimension_finder::scale_at(const subject& of,
                                                                    const hobj_ref_t& reference) {
  const auto [known, is_new] = scales_.try_emplace({of.file, reference});
  if (is_new) {
    const hdf5_object_id object{H5Rdereference2(of.dataset, H5P_DEFAULT, H5R_OBJECT, &reference)};
    known->second = describe_scale(object.get());
  }
  return known->second;
}

/// NetCDF's unlimited dimensions are as long as the longest variable, so that scales may be shorter
/// or longer there.
void hdf5_dimension_finder::add_scale(const subject& of, std::size_t dimension, const scale& from,
                                      hdf5_dimensions& found) const {
  const std::string where = "dimension " + std::to_string(dimension) + ": ";
  if (!from.fault.empty()) return add_fault(found, where + "DIMENSION_LIST " + from.fault);
  const hsize_t extent = of.extents[dimension];
  const bool can_grow = from.can_grow || of.max_extents[dimension] != extent;
  if (from.extent != extent && !can_grow)
    return add_fault(found, where + "it has " + std::to_string(extent) +
                                " elements, but its scale '" + printable(from.path) + "' has " +
                                std::to_string(from.extent));
  found.names[dimension] = from.name;
  if (from.extent == extent) found.scales[dimension] = from.values;
}

void hdf5_dimension_finder::add_attached(const subject& of, hdf5_dimensions& found) {
  const hdf5_attribute list{hdf5_, of.dataset, "DIMENSION_LIST"};
  if (list.size() == 0) return;
  if (list.size() != of.extents.size())
    return add_fault(found, "DIMENSION_LIST has " + std::to_string(list.size()) + " entries for " +
                                std::to_string(of.extents.size()) + " dimensions");
  const hdf5_type_id each{list.kind() == H5T_VLEN ? H5Tget_super(list.type()) : H5I_INVALID_HID};
  if (!each || H5Tequal(each.get(), H5T_STD_REF_OBJ) <= 0)
    return add_fault(found, "DIMENSION_LIST has no lists of references to objects");
  const reference_lists references{list};
  if (!references.are_read())
    return add_fault(found, "DIMENSION_LIST cannot be read: " + hdf5_.last_message());
  for (std::size_t d = 0; d < of.extents.size(); ++d)
    if (const hobj_ref_t* const first = references.first(d); first != nullptr)
      add_scale(of, d, scale_at(of, *first), found);
}

const std::map<std::int64_t, hdf5_dimension_finder::scale>& hdf5_dimension_finder::numbered_in(
    const subject& of, const std::string& path) {
  const auto [known, is_new] = numbered_.try_emplace({of.file, path});
  if (!is_new) return known->second;
  const hdf5_file_id file{H5Iget_file_id(of.dataset)};
  const hdf5_object_id group{H5Gopen2(file.get(), path.c_str(), H5P_DEFAULT)};
  std::vector<std::string> names;
  hsize_t next = 0;
  if (!group ||
      H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &next, collect_name, &names) < 0)
    return known->second;
  for (const std::string& name : names) {
    if (H5Aexists_by_name(group.get(), name.c_str(), "_Netcdf4Dimid", H5P_DEFAULT) <= 0) continue;
    const hdf5_object_id object{H5Oopen(group.get(), name.c_str(), H5P_DEFAULT)};
    const auto number = hdf5_attribute{hdf5_, object.get(), "_Netcdf4Dimid"}.integers<std::int64_t>(
        H5T_NATIVE_INT64);
    if (number.size() != 1) continue;
    scale described = describe_scale(object.get());
    if (described.fault.empty()) known->second.emplace(number.front(), std::move(described));
  }
  return known->second;
}

/// NetCDF-4 attaches no scales to a coordinate of several dimensions, because it is a scale itself,
/// but writes the numbers of its dimensions. Those are in the group, or in one around it.
void hdf5_dimension_finder::add_numbered(const subject& of, hdf5_dimensions& found) {
  const auto numbers =
      hdf5_attribute{hdf5_, of.dataset, "_Netcdf4Coordinates"}.integers<std::int64_t>(
          H5T_NATIVE_INT64);
  if (numbers.size() != of.extents.size()) return;
  std::string path = path_of_object(of.dataset);
  while (path.size() > 1) {
    path = group_of(path);
    const auto& near = numbered_in(of, path);
    for (std::size_t d = 0; d < numbers.size(); ++d)
      if (const auto scale = near.find(numbers[d]); scale != near.end() && found.names[d].empty())
        add_scale(of, d, scale->second, found);
  }
}

hdf5_dimensions hdf5_dimension_finder::find(hid_t dataset) {
  hdf5_dimensions found;
  const hdf5_space_id space{H5Dget_space(dataset)};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  const auto object = describe_object(hdf5_, dataset, ".");
  if (rank < 1 || !object) return found;
  const auto count = static_cast<std::size_t>(rank);
  subject of{dataset, object->file, std::vector<hsize_t>(count), std::vector<hsize_t>(count)};
  if (H5Sget_simple_extent_dims(space.get(), of.extents.data(), of.max_extents.data()) != rank)
    return found;
  found.names.resize(count);
  found.scales.resize(count);
  if (rank == 1 && is_scale(hdf5_, dataset)) {
    const std::string path = path_of_object(dataset);
    found.names = {last_name(path)};
    found.scales = {values_of(hdf5_, dataset, path)};
  } else if (H5Aexists(dataset, "DIMENSION_LIST") > 0) {
    add_attached(of, found);
  } else {
    add_numbered(of, found);
  }
  const auto labels = hdf5_attribute{hdf5_, dataset, "DIMENSION_LABELS"}.texts();
  for (std::size_t d = 0; d < count && labels.size() == count; ++d)
    if (found.names[d].empty()) found.names[d] = labels[d];
  found.names = without_namesakes(std::move(found.names));
  for (std::size_t d = 0; d < count; ++d)
    if (found.names[d].empty()) found.scales[d] = {};
  if (std::ranges::all_of(found.names, &std::string::empty)) found.names.clear();
  return found;
}

}  // namespace feedline::detail
