#include "device/host_memory.hpp"

#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

using feedline::detail::free_host_bytes;
using feedline::test::temporary_directory;

namespace {

/// A system's files about memory.
struct system_files {
  temporary_directory root;

  void write(const std::string& path, const std::string& text) const {
    const auto file = root.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << text;
  }
  [[nodiscard]] std::size_t free() const { return free_host_bytes(root.path()).value(); }
};

}  // namespace

TEST_CASE("free host memory: it is what the system has left", "[host]") {
  const system_files system;
  CHECK_FALSE(free_host_bytes(system.root.path()));
  system.write("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:   3000 kB\n");
  CHECK(system.free() == 3000 * 1024);
  CHECK(free_host_bytes().value_or(1) > 0);
}

TEST_CASE("free host memory: a group, or one that holds it, may have less", "[host]") {
  const system_files system;
  system.write("proc/meminfo", "MemAvailable:   3000 kB\n");
  SECTION("version 2") {
    system.write("proc/self/cgroup", "0::/a/b\n");
    system.write("sys/fs/cgroup/a/b/memory.max", "max\n");
    system.write("sys/fs/cgroup/a/b/memory.current", "500\n");
    CHECK(system.free() == 3000 * 1024);
    system.write("sys/fs/cgroup/a/memory.max", "1000\n");
    system.write("sys/fs/cgroup/a/memory.current", "700\n");
    CHECK(system.free() == 300);
    system.write("sys/fs/cgroup/a/memory.stat", "anon 600\ninactive_file 100\n");
    CHECK(system.free() == 400);
    system.write("sys/fs/cgroup/a/memory.current", "1200\n");
    CHECK(system.free() == 0);
  }
  SECTION("version 1") {
    system.write("proc/self/cgroup", "3:cpu,memory:/c\n2:freezer:/d\n");
    system.write("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "2000\n");
    system.write("sys/fs/cgroup/memory/c/memory.usage_in_bytes", "1500\n");
    system.write("sys/fs/cgroup/memory/c/memory.stat", "total_inactive_file 50\n");
    CHECK(system.free() == 550);
  }
}
