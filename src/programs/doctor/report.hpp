#pragma once

#include "programs/doctor/examine.hpp"

#include <string>

namespace doctor {

/// What is in a file, for people: the first lines of the report, also where nothing can be opened.
/// Of long lists the beginning, and how many more there are; JSON has all.
[[nodiscard]] std::string describe(const content& found);

/// All of the report behind `describe`, for people.
[[nodiscard]] std::string describe(const examination& made);

/// All of it as one object of JSON (RFC 8259), with a newline behind it: times in nanoseconds,
/// sizes in bytes, rates a second. Members may be added by later versions.
[[nodiscard]] std::string to_json(const request& asked, const examination& made);

}  // namespace doctor
