#include "detail/threads.hpp"
#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <sched.h>

using namespace feedline::detail;
using feedline::test::temporary_directory;

namespace {

/// A root with the files of control groups.
class machine {
 public:
  /// @param groups Content of /proc/self/cgroup.
  explicit machine(const std::string& groups) { write("proc/self/cgroup", groups); }

  machine& with(const std::string& group_file, const std::string& text) {
    write("sys/fs/cgroup/" + group_file, text);
    return *this;
  }
  std::optional<unsigned> cores() const { return quota_cores(root_.path()); }

 private:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }

  temporary_directory root_;
};

}  // namespace

TEST_CASE("usable cores: without control groups there is no quota", "[detail][host]") {
  CHECK_FALSE(quota_cores("/nowhere").has_value());
  CHECK_FALSE(machine{""}.cores().has_value());
  CHECK_FALSE(machine{"0::/\n"}.cores().has_value());
}

TEST_CASE("usable cores: a quota of version 2 counts in whole cores, at least one",
          "[detail][host]") {
  const auto with = [](const std::string& quota) {
    return machine{"0::/job\n"}.with("job/cpu.max", quota).cores();
  };
  CHECK(with("400000 100000\n") == 4U);
  CHECK(with("390000 100000\n") == 3U);
  CHECK(with("50000 100000\n") == 1U);
  CHECK_FALSE(with("max 100000\n").has_value());
  CHECK_FALSE(with("").has_value());
  CHECK_FALSE(with("nonsense").has_value());
}

TEST_CASE("usable cores: a quota of version 1 is that of the cpu controller", "[detail][host]") {
  const auto with = [](const std::string& folder, const std::string& quota) {
    return machine{"5:memory:/other\n4:cpu,cpuacct:/job\n1:cpuset:/\n"}
        .with(folder + "/job/cpu.cfs_quota_us", quota)
        .with(folder + "/job/cpu.cfs_period_us", "100000\n")
        .with("memory/other/cpu.cfs_quota_us", "100000\n")
        .with("memory/other/cpu.cfs_period_us", "100000\n")
        .cores();
  };
  CHECK(with("cpu,cpuacct", "300000\n") == 3U);
  CHECK(with("cpu", "300000\n") == 3U);
  CHECK_FALSE(with("cpu", "-1\n").has_value());
}

TEST_CASE("usable cores: a group has no more than those that hold it", "[detail][host]") {
  machine nested{"0::/outer/inner\n"};
  nested.with("outer/inner/cpu.max", "800000 100000\n");
  CHECK(nested.cores() == 8U);
  nested.with("outer/cpu.max", "200000 100000\n");
  CHECK(nested.cores() == 2U);
}

TEST_CASE("usable cores: in a container the group's own files are at the root", "[detail][host]") {
  CHECK(machine{"0::/\n"}.with("cpu.max", "200000 100000\n").cores() == 2U);
  CHECK(machine{"4:cpu,cpuacct:/docker/1234\n"}
            .with("cpu,cpuacct/cpu.cfs_quota_us", "200000\n")
            .with("cpu,cpuacct/cpu.cfs_period_us", "100000\n")
            .cores() == 2U);
}

TEST_CASE("usable cores: a thread that may run on one core alone has one", "[detail][host]") {
  CHECK(usable_cores() >= 1);
  CHECK(usable_cores() <= std::max(1U, std::thread::hardware_concurrency()));
  unsigned found = 0;
  std::thread{[&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
    if (::sched_setaffinity(0, sizeof one, &one) == 0) found = usable_cores();
  }}.join();
  CHECK(found == 1);
}
