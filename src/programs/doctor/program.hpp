#pragma once

#include "programs/doctor/gpu.hpp"

#include <ostream>

namespace doctor {

/// Runs feedline-doctor. @return Its exit code: see `--help`. Throws nothing that it can tell.
/// @param find Finds the GPU. @param err_is_terminal Progress is drawn there, and erased again.
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
        bool err_is_terminal, const gpu_finder& find = find_gpu);

}  // namespace doctor
