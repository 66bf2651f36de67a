#pragma once

#include <feedline/arrays/windows.hpp>

#include "programs/doctor/content.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace doctor {

/// "time", "time=4", "time=4:2:6" (size, stride, step), "x=64@random"; an axis is a name or a
/// number. Empty: it is no such text.
[[nodiscard]] std::optional<feedline::window> read_window(const std::string& text);

/// `{.axis = "time", .size = 4}`.
[[nodiscard]] std::string window_code(const feedline::window& along);

/// Arrays of a file that samples are windows of, and how to open them again.
struct window_arrays {
  std::vector<std::string> names;                          ///< paths in the file
  std::vector<bool> is_packed;                             ///< they are unpacked
  std::function<std::vector<feedline::array_ptr>()> open;  ///< unpacked
  std::string code;  ///< a C++ expression that makes a dataset of their windows
};

/// Chooses the arrays that --fields names, or the largest that has all the windows' axes, and all
/// others that have them with the same extents.
/// @param notes Receives what is unpacked, and what is left out.
/// @throws feedline::usage_error: the format has no arrays, or none has the axes.
[[nodiscard]] window_arrays choose_arrays(const request& asked, const content& found,
                                          std::vector<std::string>& notes);

}  // namespace doctor
