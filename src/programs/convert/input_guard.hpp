#pragma once

#include "programs/convert/work/job.hpp"

namespace convert {

/// Refuses a job whose output, or the folder in which that is made, is an input, contains one or lies
/// inside one, whatever links and mounts they are named by. Links within input folders are followed.
/// @throws feedline::usage_error.
void require_apart_from_inputs(const job& job);

}  // namespace convert
