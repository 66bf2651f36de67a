/// Verdicts about loops that the system slows down: by a quota of CPU time, and by a slow disk with
/// a cold page cache. Both run in a control group of the test's own.

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/statistics/statistics.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/control_group.hpp"
#include "support/checks/cpu_burner.hpp"
#include "support/checks/sanitized.hpp"
#include "support/files/temporary_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

loader_statistics read_epoch(loader& from, std::uint64_t epoch) {
  const loader_statistics before = from.statistics();
  for (const batch& each : from.epoch(epoch)) (void)each;
  return from.statistics().since(before);
}

/// Samples that take 2 ms of a core each.
class computed_samples final : public dataset {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 240; }
  [[nodiscard]] std::vector<field> fields() const override {
    return {{"x", element_type::u8, {64}}};
  }
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) burn_cpu(2ms);
    std::fill(request.out[0].begin(), request.out[0].end(), std::byte{1});
  }
};

constexpr std::uint64_t record_bytes = 64 << 10;
constexpr std::uint64_t records = 512;

/// Puts a file's pages out of memory.
bool drop_from_memory(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool dropped = ::fsync(file) == 0 && ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
  ::close(file);
  return dropped;
}

/// "254:0": the whole disk that holds a file. Empty: there is none, as in memory or over a network.
std::string disk_of(const std::string& path) {
  struct stat of {};
  if (::stat(path.c_str(), &of) != 0 || major(of.st_dev) == 0) return {};
  const std::string device =
      std::to_string(major(of.st_dev)) + ":" + std::to_string(minor(of.st_dev));
  const std::filesystem::path known = std::filesystem::path{"/sys/dev/block"} / device;
  if (!std::filesystem::exists(known / "partition")) return device;
  std::string disk;
  std::ifstream{std::filesystem::canonical(known).parent_path() / "dev"} >> disk;
  return disk;
}

}  // namespace

TEST_CASE("verdict: a control group's quota makes a loop decode-bound, and no reader would help",
          "[statistics][host]") {
  if (sanitized)
    FEEDLINE_SKIP("who is out of quota may hold a lock of the sanitizer's, and others wait for it");
  const auto group = control_group::with_cpu_quota(25'000);
  if (!group) FEEDLINE_SKIP("no control group with a CPU quota can be made here");
  loader loader{std::make_shared<const computed_samples>(),
                sequential{},
                make_host_device(),
                {.batch_size = 8, .epochs = 1, .readers = 2}};
  const loader_statistics seen = read_epoch(loader, 0);
  const loader_verdict verdict = judge(seen);
  INFO(report(seen));
  CHECK(seen.cores == 1);
  CHECK(seen.quota_cores == 1);
  CHECK(to_string(verdict.limit) == "decode-bound");
  CHECK(verdict.next.find("a larger quota") != std::string::npos);
  if (seen.queue_known) CHECK(seen.sampled_queue > seen.sampled_cpu);
}

TEST_CASE("verdict: a page cache that is cold makes a loop storage-bound, until it is warm",
          "[statistics][host]") {
  if (sanitized) FEEDLINE_SKIP("a sanitizer's work in reads counts as computing");
  const temporary_directory folder;
  const std::vector<std::byte> bytes(records * record_bytes, std::byte{7});
  const std::string path = folder.write("records.bin", bytes).string();
  const std::string disk = disk_of(path);
  if (disk.empty()) FEEDLINE_SKIP("the folder for temporary files is on no disk of this machine");
  // A disk that gives 20 MB a second.
  const auto group =
      control_group::make({{"io", "io.max", disk + " rbps=20000000"},
                           {"blkio", "blkio.throttle.read_bps_device", disk + " 20000000"}});
  if (!group) FEEDLINE_SKIP("no control group with a limit of reads can be made here");
  loader_statistics cold;
  loader_statistics warm;
  // Now and then throttled reads take a core for most of their time, in the kernel. The verdict
  // then goes by that, and another loop is tried.
  for (int attempt = 0; attempt < 5; ++attempt) {
    REQUIRE(drop_from_memory(path));
    loader loader{open_records({path}, {{"x", element_type::u8, {record_bytes}}}),
                  sequential{},
                  make_host_device(),
                  {.batch_size = 16, .epochs = 2, .readers = 2}};
    cold = read_epoch(loader, 0);
    warm = read_epoch(loader, 1);
    if (2 * (cold.sampled_cpu + cold.sampled_queue) < cold.sampled_reading) break;
  }
  const loader_verdict verdict = judge(cold);
  INFO(report(cold) << "\nwarm:\n" << report(warm));
  CHECK(to_string(verdict.limit) == "storage-bound");
  CHECK(verdict.next.find("more readers") != std::string::npos);
  CHECK(to_string(judge(warm).limit) != "storage-bound");
}
