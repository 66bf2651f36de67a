#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/no_more_threads.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <pthread.h>
#include <system_error>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

using namespace feedline;
using feedline::test::gated;
using feedline::test::make_identity_dataset;

namespace {

/// 4 batches of 4 samples, one a slot, in requests of 1 sample, read by three.
const loader_options small{
    .batch_size = 4,
    .readers = 3,
    .expert = {.batches_per_slot = 1, .request_bytes = 1, .staging_slots = 4}};

std::string name_of_this_thread() {
  char name[16] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return name;
}

const std::string why =
    " cannot be started (Resource temporarily unavailable): the system allows no more threads, or "
    "has no memory for their stacks; ask for fewer readers, or raise the limit (ulimit -u, ulimit "
    "-v, or pids.max of the control group)";

/// Files that this process has open under a name that ends so.
int files_open(const std::string& end) {
  int count = 0;
  std::error_code closed_meanwhile;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"})
    count += std::filesystem::read_symlink(each, closed_meanwhile).string().ends_with(end) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("threads: readers fill every request, and have names for debuggers", "[loader][host]") {
  std::barrier meeting{3};  // no read ends before all three readers are in one
  std::atomic<int> met{0};
  std::mutex mutex;
  std::set<std::string> names;
  const auto data = gated(make_identity_dataset(16, 8), [&](auto) {
    {
      const std::scoped_lock lock{mutex};
      names.insert(name_of_this_thread());
    }
    if (met.fetch_add(1) < 3) meeting.arrive_and_wait();
  });
  loader loader{data, sequential{}, make_host_device(), small};
  std::uint64_t sample = 0;
  for (const batch& batch : loader.epoch(0)) {
    const std::byte* const ids = batch.field_at(0).bytes().data();
    const std::byte* const rows = batch.field_at(1).bytes().data();
    for (std::uint64_t i = 0; i < 4; ++i, ++sample)
      CHECK(test::is_identity(sample, {ids + i * 8, 8}, {rows + i * 8, 8}));
  }
  CHECK(sample == 16);
  CHECK(names == std::set<std::string>{"fl-reader-0", "fl-reader-1", "fl-reader-2"});
}

TEST_CASE("threads: readers open the counters for their CPU time before they read",
          "[loader][host]") {
  if (!std::filesystem::exists("/proc/thread-self/schedstat"))
    FEEDLINE_SKIP("this system does not tell of queues for cores");
  {
    const loader loader{make_identity_dataset(16, 8), sequential{}, make_host_device(), small};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (files_open("/schedstat") < 3 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();  // no epoch was asked for: nothing is read
    CHECK(files_open("/schedstat") == 3);
  }
  CHECK(files_open("/schedstat") == 0);
}

TEST_CASE("threads: a loader is destroyed though its readers never had anything to read",
          "[loader][host]") {
  for (int round = 0; round < 20; ++round)
    const loader loader{make_identity_dataset(16, 8), sequential{}, make_host_device(), small};
  SUCCEED("every thread ended");
}

TEST_CASE("threads: one that cannot be started is named, with the number that was asked for",
          "[loader][host]") {
  const auto data = make_identity_dataset(16, 8);
  const auto in_memory = load_into_memory(data);
  const auto device = std::make_shared<test::scripted_device>();  // has a thread of its own
  const test::no_more_threads limit;
  CHECK(test::message_of<thread_error>([&] {
          const loader loader{data, sequential{}, make_host_device(), small};
        }) == "reader thread 1 of 3" + why);
  CHECK(test::message_of<thread_error>([&] {  // the only one
          const loader loader{
              in_memory, sequential{}, device, {.batch_size = 4, .placement = placement::gather}};
        }) == "the transfer's thread" + why);
}

TEST_CASE("threads: a loader whose threads cannot be started leaks nothing", "[loader][host]") {
  const auto data = make_identity_dataset(16, 8);
  {
    const test::no_more_threads limit;
    CHECK_THROWS_AS((loader{data, sequential{}, make_host_device(), {.readers = 2}}), thread_error);
    loader alone{data, sequential{}, make_host_device(), {.readers = 0}};
    CHECK(alone.epoch(0).next());
  }
  loader loader{data, sequential{}, make_host_device(), {.readers = 2}};
  CHECK(loader.epoch(0).next());
}
