#pragma once

#include <ostream>

namespace doctor {

/// Runs feedline-doctor. @return Its exit code: see `--help`. Throws nothing that it can tell.
/// @param err_is_terminal Progress is drawn there, and erased again.
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
        bool err_is_terminal);

}  // namespace doctor
