#pragma once

#include "programs/doctor/advice.hpp"
#include "programs/doctor/content.hpp"
#include "programs/doctor/findings.hpp"
#include "programs/doctor/gpu.hpp"
#include "programs/doctor/request.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace doctor {

/// Told what is measured next.
using progress = std::function<void(const std::string& what)>;

/// All that is reported.
struct examination {
  std::vector<content> found;  ///< content of each input
  std::vector<std::string> notes;
  findings measured;
  advice recommended;
  std::string program;  ///< C++
};

/// Measures everything, within the time that was asked for, and advises. The order matters: the
/// storage comes first, before files are mapped.
/// @throws feedline::usage_error if the request does not suit the data, or the machine;
/// feedline::error if it cannot be opened.
[[nodiscard]] examination examine(const request& asked, std::vector<content> found,
                                  const progress& tell, const gpu_finder& find = find_gpu);

}  // namespace doctor
