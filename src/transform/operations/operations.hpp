#pragma once

#include "transform/operations/color_jitter.hpp"
#include "transform/operations/operation_list.hpp"
#include "transform/operations/random_erasing.hpp"

namespace feedline::detail {

/// All operations, in the order in which they are applied and named in texts.
using operations = operation_list<color_jitter_operation, random_erasing_operation>;

}  // namespace feedline::detail
