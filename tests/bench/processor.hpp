#pragma once

#include <fstream>
#include <string>

namespace feedline::bench {

/// The processor's name, as the system gives it.
[[nodiscard]] inline std::string processor() {
  std::ifstream file{"/proc/cpuinfo"};
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace feedline::bench
