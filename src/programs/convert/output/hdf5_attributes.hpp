#pragma once

#include <feedline/dataset/field.hpp>

#include "programs/convert/attributes/attributes.hpp"
#include "programs/convert/output/hdf5_column.hpp"

namespace convert {

/// Writes attributes to an object of a file that is being made. Names of dimensions become labels.
/// @param field The array's field; null: the object is a group.
/// @param type The array's type, which `_FillValue` has.
void write_hdf5_attributes(const hdf5_session& hdf5, hid_t object, const attributes& of,
                           const feedline::field* field, hid_t type);

}  // namespace convert
