#include "hdf5/attributes/array_attributes.hpp"

#include "hdf5/attributes/attribute.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace feedline::detail {
namespace {

struct attribute_numbers {
  std::vector<double> values;
  bool are_f32 = false;
};

attribute_numbers numbers_of(const hdf5_session& hdf5, hid_t dataset, const char* name) {
  const hdf5_attribute from{hdf5, dataset, name};
  if (from.size() == 0 || (from.kind() != H5T_FLOAT && from.kind() != H5T_INTEGER)) return {};
  attribute_numbers found{std::vector<double>(from.size()),
                          from.kind() == H5T_FLOAT && H5Tget_size(from.type()) == sizeof(float)};
  if (H5Aread(from.id(), H5T_NATIVE_DOUBLE, found.values.data()) < 0) return {};
  return found;
}

std::optional<value_packing::number> packed_number(const hdf5_session& hdf5, hid_t dataset,
                                                   const char* name) {
  const attribute_numbers found = numbers_of(hdf5, dataset, name);
  if (found.values.size() != 1) return std::nullopt;
  return value_packing::number{found.values.front(), found.are_f32};
}

}  // namespace

value_packing packing_attributes(const hdf5_session& hdf5, hid_t dataset) {
  value_packing packing{.scale_factor = packed_number(hdf5, dataset, "scale_factor"),
                        .add_offset = packed_number(hdf5, dataset, "add_offset")};
  for (const char* const name : {"_FillValue", "missing_value"})
    for (const double value : numbers_of(hdf5, dataset, name).values)
      if (!std::isnan(value) && std::ranges::count(packing.missing, value) == 0)
        packing.missing.push_back(value);
  const std::string is_unsigned = hdf5_attribute{hdf5, dataset, "_Unsigned"}.text();
  if (is_unsigned == "true" || is_unsigned == "false") packing.is_unsigned = is_unsigned == "true";
  return packing;
}

}  // namespace feedline::detail
