#include "hdf5/library/array_attributes.hpp"

#include "arrays/namesakes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace feedline::detail {
namespace {

using attribute_id = hdf5_handle<H5Aclose>;

/// An attribute that is open, with its type and the number of its values.
struct attribute {
  attribute_id id;
  hdf5_type_id type;
  hdf5_space_id space;
  std::size_t values = 0;  ///< 0: there is no such attribute

  attribute(hid_t object, const char* name) {
    constexpr hssize_t most = 4096;  // more are not what these attributes have
    if (H5Aexists(object, name) <= 0) return;
    id = attribute_id{H5Aopen(object, name, H5P_DEFAULT)};
    if (!id) return;
    type = hdf5_type_id{H5Aget_type(id.get())};
    space = hdf5_space_id{H5Aget_space(id.get())};
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    if (type && count > 0 && count <= most) values = static_cast<std::size_t>(count);
  }
};

struct numbers {
  std::vector<double> values;
  bool are_f32 = false;
};

numbers numbers_of(hid_t dataset, const char* name) {
  const attribute from{dataset, name};
  if (from.values == 0) return {};
  const H5T_class_t kind = H5Tget_class(from.type.get());
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) return {};
  numbers found{std::vector<double>(from.values),
                kind == H5T_FLOAT && H5Tget_size(from.type.get()) == sizeof(float)};
  if (H5Aread(from.id.get(), H5T_NATIVE_DOUBLE, found.values.data()) < 0) return {};
  return found;
}

std::optional<value_packing::number> packed_number(hid_t dataset, const char* name) {
  const numbers found = numbers_of(dataset, name);
  if (found.values.size() != 1) return std::nullopt;
  return value_packing::number{found.values.front(), found.are_f32};
}

/// Texts of an attribute, of fixed or varying length; empty if it has none.
std::vector<std::string> texts_of(hid_t object, const char* name) {
  const attribute from{object, name};
  if (from.values == 0 || H5Tget_class(from.type.get()) != H5T_STRING) return {};
  std::vector<std::string> texts;
  if (H5Tis_variable_str(from.type.get()) > 0) {
    std::vector<char*> each(from.values, nullptr);
    if (H5Aread(from.id.get(), from.type.get(), each.data()) < 0) return {};
    for (const char* const text : each) texts.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(from.type.get(), from.space.get(), H5P_DEFAULT, each.data());
    return texts;
  }
  const std::size_t bytes = H5Tget_size(from.type.get());
  if (bytes == 0 || bytes > 4096) return {};
  std::vector<char> all(bytes * from.values);
  if (H5Aread(from.id.get(), from.type.get(), all.data()) < 0) return {};
  for (std::size_t i = 0; i < from.values; ++i) {
    const char* const text = all.data() + i * bytes;
    texts.emplace_back(text, ::strnlen(text, bytes));
  }
  return texts;
}

/// The last part of an object's path in the file; empty if it has none.
std::string object_name(hid_t object) {
  const ssize_t length = H5Iget_name(object, nullptr, 0);
  if (length <= 0) return {};
  std::string path(static_cast<std::size_t>(length) + 1, '\0');
  H5Iget_name(object, path.data(), path.size());
  path.pop_back();
  return path.substr(path.find_last_of('/') + 1);
}

/// Names of the scales of each dimension, by the attribute that dimension scales have.
std::vector<std::string> scales_of(hid_t dataset, std::size_t rank) {
  const attribute list{dataset, "DIMENSION_LIST"};
  if (list.values != rank || H5Tget_class(list.type.get()) != H5T_VLEN) return {};
  const hdf5_type_id each{H5Tget_super(list.type.get())};
  if (H5Tequal(each.get(), H5T_STD_REF_OBJ) <= 0) return {};
  std::vector<hvl_t> scales(rank, hvl_t{0, nullptr});
  if (H5Aread(list.id.get(), list.type.get(), scales.data()) < 0) return {};
  std::vector<std::string> names(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    if (scales[d].len == 0 || scales[d].p == nullptr) continue;
    const hdf5_object_id scale{H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, scales[d].p)};
    if (scale) names[d] = object_name(scale.get());
  }
  H5Dvlen_reclaim(list.type.get(), list.space.get(), H5P_DEFAULT, scales.data());
  return names;
}

}  // namespace

std::vector<std::string> dimension_names(const hdf5_session& /*hdf5*/, hid_t dataset,
                                         std::size_t rank) {
  std::vector<std::string> names = scales_of(dataset, rank);
  if (names.empty() && rank == 1) {
    const auto kind = texts_of(dataset, "CLASS");
    if (kind.size() == 1 && kind.front() == "DIMENSION_SCALE") names = {object_name(dataset)};
  }
  if (names.empty()) names = texts_of(dataset, "DIMENSION_LABELS");
  if (names.size() != rank) return {};
  names = without_namesakes(std::move(names));
  if (std::ranges::all_of(names, &std::string::empty)) return {};
  return names;
}

value_packing packing_attributes(const hdf5_session& /*hdf5*/, hid_t dataset) {
  value_packing packing{.scale_factor = packed_number(dataset, "scale_factor"),
                        .add_offset = packed_number(dataset, "add_offset")};
  for (const char* const name : {"_FillValue", "missing_value"})
    for (const double value : numbers_of(dataset, name).values)
      if (!std::isnan(value) && std::ranges::count(packing.missing, value) == 0)
        packing.missing.push_back(value);
  const auto is_unsigned = texts_of(dataset, "_Unsigned");
  if (is_unsigned.size() == 1 && (is_unsigned.front() == "true" || is_unsigned.front() == "false"))
    packing.is_unsigned = is_unsigned.front() == "true";
  return packing;
}

std::vector<std::uint64_t> attribute_integers(const hdf5_session& /*hdf5*/, hid_t object,
                                              const char* attribute) {
  const struct attribute from { object, attribute };
  if (from.values == 0 || H5Tget_class(from.type.get()) != H5T_INTEGER) return {};
  std::vector<std::uint64_t> values(from.values);
  if (H5Aread(from.id.get(), H5T_NATIVE_UINT64, values.data()) < 0) return {};
  return values;
}

std::string attribute_text(const hdf5_session& /*hdf5*/, hid_t object, const char* attribute) {
  const auto texts = texts_of(object, attribute);
  return texts.size() == 1 ? texts.front() : "";
}

}  // namespace feedline::detail
