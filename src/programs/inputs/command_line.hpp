#pragma once

#include <feedline/formats/open.hpp>

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace programs {

/// Adds the options of all programs that say how their inputs are opened: --fields,
/// --shorter-side, --interpolation, --follow-orientation, --tokens-per-sample, --external.
void add_open_options(CLI::App& app, feedline::open_options& how);

/// An interpolation as the option --interpolation names it, which is also its name in C++.
[[nodiscard]] std::string name_of(feedline::interpolation of);

/// "1.2.3", as `--version` prints after a program's name.
[[nodiscard]] std::string version();

}  // namespace programs
