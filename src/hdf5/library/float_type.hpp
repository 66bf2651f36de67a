#pragma once

#include <feedline/dataset/element_type.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <optional>

namespace feedline::detail {

/// What a floating-point type is by its bits, in either byte order; nothing if none of feedline's.
[[nodiscard]] std::optional<element_type> hdf5_float_type(const hdf5_session& hdf5, hid_t type);

}  // namespace feedline::detail
