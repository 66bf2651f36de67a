/// Many loaders: one after the other, left in the middle of an epoch, and several at once.
/// Nothing of them stays.

#include <feedline/formats/records.hpp>

#include "detail/threads.hpp"
#include "faults/starved_loader.hpp"
#include "faults/system_calls.hpp"
#include "support/checks/process.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/files/temporary_directory.hpp"

#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

// A leak shows after a few rounds, too: a fifth are enough with a sanitizer.
constexpr int rounds = sanitized ? 200 : 1000;
constexpr int rounds_a_way = sanitized ? 29 : 143;  // 1001 on all seven

loader_options small(int readers) {
  return {.batch_size = 4, .epochs = 2, .readers = readers, .expert = {.batches_per_slot = 1}};
}

/// Makes a loader on a way, takes a few batches of its 16, and leaves it there; in turn the range,
/// the loader and a batch go last.
void leave_in_mid_epoch(const path_setup& by, const dataset_ptr& data, int round) {
  std::optional<loader> left{by.load(data, shuffle{.seed = 2}, small(round % 3))};
  std::optional<epoch_range> range{left->epoch(0, by.stream)};
  std::optional<batch> last;
  for (int taken = 0; taken < round % 5; ++taken) last = range->next();
  if (round % 2 == 0) last.reset();
  if (round % 4 < 2) range.reset();
  left.reset();
}

/// Resources of a process and its device.
struct belongings {
  explicit belongings(const scripted_device& device)
      : handles{device.handles()},
        staging_bytes{device.allocated_bytes(memory_kind::staging)},
        device_bytes{device.allocated_bytes(memory_kind::device)},
        mappings{device.mappings()} {}

  std::int64_t blocks = living_blocks();
  std::size_t threads = thread_count();
  std::size_t descriptors = descriptor_count();
  std::size_t handles;
  std::size_t staging_bytes;
  std::size_t device_bytes;
  std::size_t mappings;

  friend bool operator==(const belongings&, const belongings&) = default;
};

/// A sanitizer of clang's starts a process that finds names for its first report, a suppressed one
/// as well, and keeps two descriptors of it: let it do so before these are counted.
extern "C" __attribute__((weak)) void __sanitizer_symbolize_pc(void*, const char*, char*,
                                                               std::size_t);
void start_symbolizer() {
  if (__sanitizer_symbolize_pc == nullptr) return;
  std::array<char, 64> name{};
  __sanitizer_symbolize_pc(__builtin_return_address(0), "%f", name.data(), name.size());
}

/// The resources once they are as before, or after a long while. The system has a thread on its
/// list for a moment after it was joined, and the scripted device has streams to clear away.
template <class Look>
auto settled(const decltype(std::declval<Look>()())& before, Look look) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  detail::poll_until([&] { return look() == before || std::chrono::steady_clock::now() > until; });
  return look();
}

}  // namespace

TEST_CASE("faults: 1000 loaders that are left in mid-epoch leak nothing", "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  const auto data = make_identity_rows(64, 8);
  const path_setup by{through};
  const auto leave = [&](int count) {
    for (int round = 0; round < count; ++round) leave_in_mid_epoch(by, data, round);
    by.on.device->drain(by.on.stream);
  };
  start_symbolizer();
  leave(10);  // and warms everything up
  const belongings before{*by.on.device};
  leave(rounds_a_way);
  const belongings after = settled(before, [&] { return belongings{*by.on.device}; });
  CHECK(after.blocks == before.blocks);
  CHECK(after.threads == before.threads);
  CHECK(after.descriptors == before.descriptors);
  CHECK(after == before);
  CHECK(by.on.device->freed_in_use() == 0);
}

TEST_CASE("faults: 1000 datasets of a file and their loaders leave no descriptor open",
          "[loader][host]") {
  const temporary_directory folder;
  const auto path = folder.write("rows.bin", std::vector<std::byte>(64 * 16));
  const auto leave = [&](int count) {
    for (int round = 0; round < count; ++round) {
      const auto data = open_records({path.string()}, {{"row", element_type::u8, {16}}});
      loader loader{data, shuffle{}, make_host_device(), small(round % 3)};
      auto range = loader.epoch(0);
      for (int taken = 0; taken < round % 5; ++taken) (void)range.next();
    }
  };
  start_symbolizer();
  leave(10);
  const scripted_device none;
  const belongings before{none};
  leave(rounds);
  const belongings after = settled(before, [&] { return belongings{none}; });
  CHECK(after.blocks == before.blocks);
  CHECK(after.threads == before.threads);
  CHECK(after.descriptors == before.descriptors);
}

TEST_CASE("faults: 16 loaders at once, each on a thread, deliver the same as one alone",
          "[loader][host]") {
  constexpr int loaders = 16;
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  const auto data = make_identity_rows(256, 24);
  const path_setup alone{through};
  loader reference = alone.load(data, shuffle{.seed = 6}, small(0));
  const auto expected = consume_epochs(reference, alone, 2);

  const scripted shared;  // all are on one device
  std::barrier start{loaders};
  std::vector<std::vector<seen_batch>> seen(loaders);
  std::vector<std::thread> consumers;
  for (int each = 0; each < loaders; ++each) {
    consumers.emplace_back([&, each] {
      path_setup by{through};
      if (through != data_path::in_place) {
        by.on = {shared.device, shared.device->make_stream()};
        by.device = shared.device;
        by.stream = by.on.stream;
      }
      start.arrive_and_wait();
      loader loader = by.load(data, shuffle{.seed = 6}, small(each % 4));
      seen[static_cast<std::size_t>(each)] = consume_epochs(loader, by, 2);
    });
  }
  for (std::thread& consumer : consumers) consumer.join();
  int equal = 0;
  for (const auto& one : seen) equal += one == expected ? 1 : 0;
  CHECK(equal == loaders);
  CHECK(shared.device->freed_in_use() == 0);
}
