#pragma once

#include <system_error>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// A control group of this process's own, below the one that it is in, or below the nearest one
/// above where that is allowed. Version 1 or 2. The process goes back where it was when this ends.
class control_group {
 public:
  struct limit {
    std::string controller;  ///< "cpu", "blkio" of version 1, "io" of version 2
    std::string file;        ///< "cpu.max"
    std::string value;
  };
  /// A group with the first of these limits that can be set, and this process in it. Nothing where
  /// the system or the user's rights do not permit any.
  [[nodiscard]] static std::optional<control_group> make(const std::vector<limit>& either) {
    for (const limit& each : either)
      for (const place& at : places_of(each)) {
        control_group made{at.own, at.parent / ("feedline-test-" + std::to_string(::getpid()))};
        std::error_code error;
        std::filesystem::create_directory(made.group_, error);
        if (!error && !std::filesystem::exists(made.group_ / each.file, error))
          (void)write(at.parent / "cgroup.subtree_control", "+" + each.controller);
        if (write(made.group_ / each.file, each.value) &&
            write(made.group_ / "cgroup.procs", std::to_string(::getpid())))
          return made;
      }
    return std::nullopt;
  }
  /// @param quota_us CPU time in each 100 ms.
  [[nodiscard]] static std::optional<control_group> with_cpu_quota(int quota_us) {
    return make({{"cpu", "cpu.max", std::to_string(quota_us) + " 100000"},
                 {"cpu", "cpu.cfs_quota_us", std::to_string(quota_us)}});
  }

  control_group(control_group&& other) noexcept
      : own_{std::move(other.own_)}, group_{std::exchange(other.group_, {})} {}
  control_group& operator=(control_group&&) = delete;
  ~control_group() {
    if (group_.empty()) return;
    (void)write(own_ / "cgroup.procs", std::to_string(::getpid()));
    std::error_code ignored;
    std::filesystem::remove(group_, ignored);
  }

 private:
  struct place {
    std::filesystem::path own;     ///< the group that this process is in
    std::filesystem::path parent;  ///< where one may be made
  };

  control_group(std::filesystem::path own, std::filesystem::path group)
      : own_{std::move(own)}, group_{std::move(group)} {}

  static bool write(const std::filesystem::path& file, const std::string& value) {
    std::ofstream to{file};
    to << value << std::flush;
    return static_cast<bool>(to);
  }

  /// In the controller's hierarchy, from this process's group upwards.
  static std::vector<place> places_of(const limit& of) {
    const std::filesystem::path mounted = "/sys/fs/cgroup";
    std::ifstream groups{"/proc/self/cgroup"};
    std::vector<place> found;
    for (std::string line; std::getline(groups, line);) {  // number:controllers:group
      const auto first = line.find(':');
      const auto second = line.find(':', first + 1);
      const std::string controllers = line.substr(first + 1, second - first - 1);
      std::filesystem::path hierarchy = mounted;
      if (("," + controllers + ",").find("," + of.controller + ",") != std::string::npos)
        hierarchy /= controllers;
      else if (!controllers.empty())
        continue;
      const auto relative = std::filesystem::path{line.substr(second + 1)}.relative_path();
      const auto own = relative.empty() ? hierarchy : hierarchy / relative;
      if (!std::filesystem::exists(own / "cgroup.procs")) continue;
      for (auto parent = own;; parent = parent.parent_path()) {
        found.push_back({own, parent});
        if (parent == hierarchy) break;
      }
    }
    return found;
  }

  std::filesystem::path own_;
  std::filesystem::path group_;  ///< empty: moved from
};

}  // namespace feedline::test
