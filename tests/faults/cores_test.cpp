/// Few cores: one for 64 readers, and a control group's quota that pays for half of one.

#include <feedline/sampler/shuffle.hpp>

#include "detail/threads.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/ways.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sched.h>

using namespace feedline;
using namespace feedline::test;

namespace {

/// While it lives, this thread, and all that it starts, may run on one core alone.
class one_core {
 public:
  one_core() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(first, &only);
    if (::sched_setaffinity(0, sizeof only, &only) != 0)
      throw std::runtime_error{"this thread cannot be kept to one core"};
  }
  one_core(const one_core&) = delete;
  one_core& operator=(const one_core&) = delete;
  ~one_core() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

bool write_text(const std::filesystem::path& to, const std::string& text) {
  std::ofstream file{to};
  file << text << std::flush;
  return file.good();
}

/// A control group below this process's own, with a CPU quota; this process is in it while it
/// lives. Of version 1 or 2, whichever this process may make.
class quota_group {
 public:
  explicit quota_group(const std::string& quota_us) {
    std::ifstream groups{"/proc/self/cgroup"};
    for (std::string line; path_.empty() && std::getline(groups, line);) {
      std::istringstream parts{line};
      std::string number;
      std::string controllers;
      std::string path;
      std::getline(parts, number, ':');
      std::getline(parts, controllers, ':');
      std::getline(parts, path);
      const std::filesystem::path root{"/sys/fs/cgroup"};
      if (controllers.empty()) {
        enter(root / ("." + path),
              [&](const auto& made) { return write_text(made / "cpu.max", quota_us + " 100000"); });
      } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
        enter(root / controllers / ("." + path),
              [&](const auto& made) { return write_text(made / "cpu.cfs_quota_us", quota_us); });
      }
    }
  }
  quota_group(const quota_group&) = delete;
  quota_group& operator=(const quota_group&) = delete;
  ~quota_group() {
    if (path_.empty()) return;
    write_text(outside_ / "cgroup.procs", std::to_string(::getpid()));
    ::rmdir(path_.c_str());
  }
  [[nodiscard]] bool is_there() const noexcept { return !path_.empty(); }

 private:
  template <class Limit>
  void enter(const std::filesystem::path& own, Limit limit) {
    const auto made = own / ("feedline-test-" + std::to_string(::getpid()));
    if (::mkdir(made.c_str(), 0755) != 0) return;
    if (limit(made) && write_text(made / "cgroup.procs", std::to_string(::getpid()))) {
      outside_ = own;
      path_ = made;
    } else {
      ::rmdir(made.c_str());
    }
  }

  std::filesystem::path outside_;
  std::filesystem::path path_;
};

std::vector<seen_batch> deliver(way through, int readers) {
  const travelling by{through};
  loader loader = by.load(make_identity_rows(512, 16), shuffle{.seed = 4},
                          {.batch_size = 8, .readers = readers, .batches_per_slot = 1});
  return consume_epochs(loader, by, 2);
}

}  // namespace

TEST_CASE("faults: 64 readers on one core deliver what none would", "[loader][host]") {
  const way through = GENERATE(from_range(all_ways()));
  CAPTURE(to_string(through));
  const auto expected = deliver(through, 0);
  const one_core only;
  REQUIRE(detail::usable_cores() == 1);
  CHECK(deliver(through, 64) == expected);
}

TEST_CASE("faults: a control group that pays for half a core changes no batch", "[loader][host]") {
  const quota_group half{"50000"};
  if (!half.is_there()) FEEDLINE_SKIP("no control group with a CPU quota can be made here");
  CHECK(detail::usable_cores() == 1);
  for (const way through : {way::in_place, way::stream, way::cached_half}) {
    CAPTURE(to_string(through));
    const auto expected = deliver(through, 0);
    CHECK(deliver(through, 8) == expected);
    CHECK(deliver(through, automatic_readers) == expected);
  }
}
