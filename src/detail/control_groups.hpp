#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace feedline::detail {

/// Folders of this process's control groups that a controller limits (versions 1 and 2), and of
/// those that hold them. In a container a group may be outside of the hierarchy: then its folder
/// does not exist.
/// @param root Where `proc` and `sys` are: "/". @param controller "cpu", "memory".
[[nodiscard]] inline std::vector<std::filesystem::path> control_groups(
    const std::filesystem::path& root, const std::string& controller) {
  std::vector<std::filesystem::path> folders;
  const auto add = [&](std::filesystem::path folder, const std::filesystem::path& group) {
    folders.push_back(folder);
    for (const auto& part : group.relative_path()) folders.push_back(folder /= part);
  };
  const std::filesystem::path hierarchies = root / "sys/fs/cgroup";
  std::ifstream groups{root / "proc/self/cgroup"};
  for (std::string line; std::getline(groups, line);) {  // number:controllers:group
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      add(hierarchies, group);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      add(hierarchies / controllers, group);
      if (controllers != controller) add(hierarchies / controller, group);
    }
  }
  return folders;
}

}  // namespace feedline::detail
