#include "reader/reader_pool.hpp"

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/no_more_threads.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/devices/stages.hpp"

#include <pthread.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <optional>
#include <set>
#include <string>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::gated;
using feedline::test::make_identity_dataset;
using feedline::test::stages;

namespace {

/// 4 batches of 4 samples, one a slot, in requests of 1 sample.
const loader_options small{
    .batch_size = 4, .batches_per_slot = 1, .staging_slots = 4, .request_bytes = 1};

std::string name_of_this_thread() {
  char name[16] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return name;
}

}  // namespace

TEST_CASE("reader pool: its threads fill every request, and have names for debuggers",
          "[reader][host]") {
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
  stages parts{make_host_device(), data, small};
  epoch_schedule schedule{parts.plan.batches_per_epoch, 1};
  slot_scheduler slot_scheduler{parts.slots, schedule, *parts.staging,
                                request_partition{parts.slots}};
  request_executor request_executor{parts.plan.batch_size, parts.reader, *parts.staging};
  {
    const reader_pool pool{3, *parts.device, slot_scheduler, request_executor};
    for (std::uint64_t ticket = 0; ticket < 4; ++ticket) {
      const auto slot = parts.staging->next_filled();
      CHECK(slot.has_value());
      if (!slot) break;
      const std::byte* const ids = (*parts.staging)[*slot].data;
      const std::byte* const rows = ids + parts.format->layout.field_offset(1);
      for (std::uint64_t i = 0; i < 4; ++i)
        CHECK(test::is_identity(4 * ticket + i, {ids + i * 8, 8}, {rows + i * 8, 8}));
    }
    slot_scheduler.close();
  }
  CHECK(names == std::set<std::string>{"fl-reader-0", "fl-reader-1", "fl-reader-2"});
}

TEST_CASE("reader pool: it goes away though its threads never had anything to read",
          "[reader][host]") {
  for (int round = 0; round < 20; ++round) {
    stages parts{make_host_device(), make_identity_dataset(16, 8), small};
    epoch_schedule schedule{parts.plan.batches_per_epoch, 0};
    slot_scheduler slot_scheduler{parts.slots, schedule, *parts.staging,
                                  request_partition{parts.slots}};
    request_executor request_executor{parts.plan.batch_size, parts.reader, *parts.staging};
    const reader_pool pool{3, *parts.device, slot_scheduler, request_executor};
    slot_scheduler.close();
  }
  SUCCEED("every thread ended");
}

TEST_CASE("reader pool: a thread that cannot be started is named, with how many there were to be",
          "[reader][host]") {
  stages parts{make_host_device(), make_identity_dataset(16, 8), small};
  epoch_schedule schedule{parts.plan.slots_per_epoch, 0};
  slot_scheduler slot_scheduler{parts.slots, schedule, *parts.staging,
                                request_partition{parts.slots}};
  request_executor request_executor{parts.plan.batch_size, parts.reader, *parts.staging};
  const test::no_more_threads limit;
  CHECK(
      test::message_of<thread_error>([&] {
        const reader_pool pool{3, *parts.device, slot_scheduler, request_executor};
      }) ==
      "reader thread 1 of 3 cannot be started (Resource temporarily unavailable): the system "
      "allows no more threads, or has no memory for their stacks; ask for fewer readers, or raise "
      "the limit (ulimit -u, ulimit -v, or pids.max of the control group)");
}

TEST_CASE("reader pool: a loader whose threads cannot be started says so and leaves nothing behind",
          "[loader][host]") {
  const auto data = make_identity_dataset(16, 8);
  {
    const test::no_more_threads limit;
    const auto message = test::message_of<thread_error>([&] {
      const loader loader{data, sequential{}, make_host_device(), {.readers = 2}};
    });
    CHECK(message.find("the transfer's thread cannot be started (Resource temporarily") == 0);
    loader alone{data, sequential{}, make_host_device(), {.readers = 0}};
    CHECK(alone.epoch(0).next());
  }
  loader loader{data, sequential{}, make_host_device(), {.readers = 2}};
  CHECK(loader.epoch(0).next());
}
