#include "transfer/assembling_transfer.hpp"

#include <feedline/error.hpp>

#include "loader/slot_strategy.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/stages.hpp"
#include "support/devices/ways.hpp"
#include "transfer/transfer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::device_call;
using feedline::test::make_identity_rows;
using feedline::test::recorded_call;
using feedline::test::recording_device;
using feedline::test::scripted_device;
using feedline::test::stages;
using feedline::test::way;

namespace {

constexpr std::uint64_t samples = 34;
constexpr std::size_t row_bytes = 13;

/// 34 samples in batches of 4 4 4 | 4 4 4 | 4 4 2, a request each; rings of 3 slots.
loader_options small(way through) {
  return test::on_way(through, *make_identity_rows(samples, row_bytes),
                      {.batch_size = 4,
                       .batches_per_slot = 3,
                       .staging_slots = 3,
                       .device_slots = 3,
                       .request_bytes = 4 * (8 + row_bytes + 1)});
}

/// Rings, and what a loader would put between them; the test plays slot scheduler and reader.
template <class Device>
struct carrying {
  explicit carrying(way through, std::shared_ptr<Device> on = std::make_shared<Device>())
      : device{std::move(on)},
        parts{std::in_place, device, make_identity_rows(samples, row_bytes), small(through)},
        strategy{make_slot_strategy(parts->plan, *parts->dataset, device, small(through),
                                    parts->source)},
        under_test{std::in_place, std::move(strategy.slot_transfer), parts->staging, parts->ring} {}

  slot_index fill(std::uint64_t ticket) {
    const slot_index slot = parts->open(run, ticket);
    request_executor request_executor{parts->plan.batch_size, *strategy.writer, *parts->staging};
    reader_scratch own;
    for (std::uint32_t number = 0; number < staged(slot).work.requests(); ++number)
      request_executor.fill({static_cast<std::uint32_t>(slot.value), number}, own);
    return slot;
  }
  /// Fills a ticket's slot and carries it; what the device was called for it.
  std::vector<recorded_call> carry(std::uint64_t ticket) {
    device->forget_calls();
    (void)fill(ticket);
    REQUIRE(under_test->step());
    return device->calls();
  }
  /// The device slot that comes next, and its samples by the ids in it, if they are whole.
  std::vector<std::uint64_t> delivered() {
    const slot_index slot = parts->ring->take().value();
    const device_slot& taken = (*parts->ring)[slot];
    const slot_layout& layout = parts->format->layout;
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < taken.content.samples; ++i) {
      const std::byte* const batch = taken.data + i / 4 * layout.batch_bytes();
      const std::byte* const id = batch + layout.field_offset(0) + i % 4 * 8;
      const std::byte* const row = batch + layout.field_offset(1) + i % 4 * row_bytes;
      std::uint64_t sample = 0;
      std::memcpy(&sample, id, 8);
      if (test::is_identity(sample, {id, 8}, {row, row_bytes})) found.push_back(sample);
    }
    parts->ring->lease(slot, stream);
    parts->ring->let_go(slot);
    return found;
  }
  staging_slot& staged(slot_index slot) { return (*parts->staging)[slot]; }
  std::size_t table_bytes() const {
    const request_layout runs{parts->slots};
    return landing_layout{slot_layout{parts->dataset->fields(), 4, 3}, runs, false, 0, false}
        .chunks_at();
  }
  std::string failure() { return parts->failure(); }

  std::shared_ptr<Device> device;
  std::optional<stages> parts;
  slot_strategy strategy;
  std::optional<transfer> under_test;
  std::shared_ptr<epoch_run> run = std::make_shared<epoch_run>(4);
  stream_ref stream = device->make_stream();  ///< the consumer's
};

std::vector<std::uint64_t> numbers(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> all;
  for (; begin < end; ++begin) all.push_back(begin);
  return all;
}

recorded_call call(device_call what, event_handle event, stream_ref stream) {
  return {.what = what, .event = event, .stream = stream};
}

}  // namespace

TEST_CASE(
    "assembling transfer: a slot is copied and assembled on one stream, behind its last use and "
    "before all "
    "its events",
    "[transfer][host]") {
  const way through = GENERATE(from_range(test::assembled_ways()));
  CAPTURE(to_string(through));
  carrying<recording_device> on{through};
  const slot_index slot = on.fill(0);
  on.device->forget_calls();
  REQUIRE(on.under_test->step());
  const auto calls = on.device->calls();
  REQUIRE(calls.size() == 8);
  const slot_index to = on.parts->ring->try_take().value();
  const device_slot& target = (*on.parts->ring)[to];
  const stream_ref stream = calls[0].stream;
  CHECK(stream);
  CHECK(calls[0] == recorded_call{.what = device_call::copy,
                                  .stream = stream,
                                  .bytes = on.table_bytes() + on.staged(slot).chunk_bytes.load()});
  CHECK(calls[1] == call(device_call::record, on.staged(slot).copied.get(), stream));
  CHECK(calls[2] == call(device_call::wait, target.released.get(), stream));
  CHECK(calls[3].what == device_call::record);  // the landing buffer's `has_room`
  CHECK(calls[3].stream == stream);
  CHECK(calls[4] == call(device_call::wait, target.ready.get(), stream));  // of its last assembly
  CHECK(calls[5] == call(device_call::assemble, event_handle::none, stream));
  CHECK(calls[6].what == device_call::record);  // the landing buffer's `assembled`
  CHECK(calls[6].stream == stream);
  CHECK(calls[7] == call(device_call::record, target.ready.get(), stream));
  CHECK(on.staged(slot).state.load() == staging_state::copying);
  CHECK(target.state.load() == device_state::filled);
}

TEST_CASE("assembling transfer: landing buffers, and with them streams, are taken in turns",
          "[transfer][host]") {
  carrying<recording_device> on{way::gather};
  std::vector<std::vector<recorded_call>> slots;
  for (std::uint64_t i = 0; i < 2 * assembling_transfer::landing_buffers + 1; ++i) {
    slots.push_back(on.carry(i % 3));
    REQUIRE(slots.back().size() == 8);  // no assembly of a gather waits for another
    (void)on.delivered();
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    CHECK(slots[i][0].stream == slots[i % assembling_transfer::landing_buffers][0].stream);
    CHECK(slots[i][6].event == slots[i % assembling_transfer::landing_buffers][6].event);
    if (i == 0) continue;
    CHECK(slots[i][0].stream != slots[i - 1][0].stream);
    CHECK(slots[i][6].event != slots[i - 1][6].event);
  }
}

TEST_CASE(
    "assembling transfer: while nothing but the consumer is in the way, all work stands on one "
    "stream",
    "[transfer][host]") {
  constexpr std::size_t landing_buffers = assembling_transfer::landing_buffers;
  carrying<recording_device> on{way::gather};
  std::vector<stream_ref> streams;
  std::vector<event_handle> copied;
  std::vector<event_handle> has_room;
  std::vector<event_handle> assembled;
  for (std::size_t i = 0; i < landing_buffers; ++i) {
    const auto calls = on.carry(0);
    (void)on.delivered();
    streams.push_back(calls[0].stream);
    copied.push_back(calls[1].event);
    has_room.push_back(calls[3].event);
    assembled.push_back(calls[6].event);
  }
  const auto is_one_of = [](const std::vector<event_handle>& all, event_handle event) {
    return std::count(all.begin(), all.end(), event) != 0;
  };
  const auto copies_are_done = [&](event_handle event) { return is_one_of(copied, event); };
  const auto stream_of = [&](std::uint64_t ticket) {
    const auto calls = on.carry(ticket);
    (void)on.delivered();
    return calls.end()[-1].stream;
  };

  SECTION("the consumer uses the slots") {
    on.device->on_is_done = copies_are_done;
    CHECK(stream_of(0) == streams[0]);
    const auto moved = on.carry(1);
    CHECK(moved[0] == call(device_call::wait, assembled[1], streams[0]));
    for (const recorded_call& each : moved) CHECK(each.stream == streams[0]);
    (void)on.delivered();
    CHECK(stream_of(2) == streams[0]);
    CHECK(stream_of(0) == streams[0]);
    on.device->on_is_done = [](event_handle) { return true; };
    CHECK(stream_of(0) == streams[0]);
    const auto back = on.carry(1);
    CHECK(back[0] == call(device_call::wait, assembled[1], streams[1]));
    for (const recorded_call& each : back) CHECK(each.stream == streams[1]);
  }
  SECTION("an assembly is under way") {
    on.device->on_is_done = [&](event_handle event) {
      return copies_are_done(event) || is_one_of(has_room, event);
    };
    for (std::size_t i = 0; i < landing_buffers; ++i) CHECK(stream_of(0) == streams[i]);
  }
  SECTION("a copy is under way") {
    on.device->on_is_done = [&, asked = 0](event_handle event) mutable {
      // Opening a slot asks for its copy too: first, and it must be done.
      return copies_are_done(event) && asked++ % 2 == 0;
    };
    for (std::size_t i = 0; i < landing_buffers; ++i) CHECK(stream_of(0) == streams[i]);
  }
}

TEST_CASE(
    "assembling transfer: where a slot cached rows all behind it wait for it, until its landing "
    "buffer is reused",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  const auto keeping = on.carry(0);
  (void)on.delivered();
  REQUIRE(keeping.size() == 8);
  for (std::size_t behind = 1; behind < assembling_transfer::landing_buffers; ++behind) {
    const auto calls = on.carry(0);  // all its rows are held
    (void)on.delivered();
    REQUIRE(calls.size() == 9);
    CHECK(calls[5] == call(device_call::wait, keeping[6].event, calls[0].stream));
  }
  for (std::size_t behind = 0; behind < assembling_transfer::landing_buffers; ++behind) {
    CHECK(on.carry(0).size() == 8);
    (void)on.delivered();
  }
}

TEST_CASE(
    "assembling transfer: a slot that keeps rows waits for those before, which may be reading them",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  std::vector<event_handle> reading;
  for (std::size_t i = 0; i < 2 * assembling_transfer::landing_buffers; ++i) {
    reading.push_back(on.carry(0).end()[-2].event);
    (void)on.delivered();
  }
  const auto keeping = on.carry(1);
  REQUIRE(keeping.size() == 8 + assembling_transfer::landing_buffers - 1);
  for (std::size_t back = 1; back < assembling_transfer::landing_buffers; ++back) {
    CHECK(keeping[4 + back] ==
          call(device_call::wait, reading[reading.size() - back], keeping[0].stream));
  }
}

TEST_CASE("assembling transfer: the rows arrive in their places, in every kind of slot",
          "[transfer][host]") {
  const way through = GENERATE(from_range(test::assembled_ways()));
  CAPTURE(to_string(through));
  carrying<recording_device> on{through};
  for (int pass = 0; pass < 3; ++pass) {
    (void)on.carry(0);
    (void)on.carry(1);
    (void)on.carry(2);
    CHECK(on.delivered() == numbers(0, 12));
    CHECK(on.delivered() == numbers(12, 24));
    CHECK(on.delivered() == numbers(24, 34));
  }
}

TEST_CASE(
    "assembling transfer: a slot that nobody took is not assembled anew before its last assembly "
    "is done",
    "[transfer][host]") {
  const way through = GENERATE(from_range(test::assembled_ways()));
  CAPTURE(to_string(through));
  carrying<scripted_device> on{through};
  on.device->hold_assemblies();
  for (std::uint64_t ticket = 0; ticket < 3; ++ticket) {
    (void)on.fill(ticket);
    REQUIRE(on.under_test->step());
  }
  const slot_index left = on.parts->ring->take().value();
  on.parts->ring->discard(
      left);  // as in an epoch that was left: no consumer's stream waited for it
  (void)on.fill(1);
  REQUIRE(on.under_test->step());  // into the same slot, through the other landing buffer
  on.device->favour_young_streams();
  on.device->allow_all_assemblies();
  on.device->sync((*on.parts->ring)[left].ready.get());
  (void)on.parts->ring->take();
  (void)on.parts->ring->take();
  on.under_test.reset();  // all work is done
  CHECK(on.delivered() == numbers(12, 24));
}

TEST_CASE("assembling transfer: what is copied is the tables and the rows that the device has not",
          "[transfer][host]") {
  const auto bytes_of = [](const std::vector<recorded_call>& calls) { return calls.at(0).bytes; };
  SECTION("none of them: each time all") {
    carrying<recording_device> on{way::transformed};
    const std::size_t first = bytes_of(on.carry(0));
    CHECK(first >= on.table_bytes() + 12 * (8 + row_bytes + 1));
    CHECK(bytes_of(on.carry(0)) == first);
  }
  SECTION("resident: the first time all, then none") {
    carrying<recording_device> on{way::resident};
    CHECK(bytes_of(on.carry(0)) >= on.table_bytes() + 12 * (8 + row_bytes + 1));
    CHECK(bytes_of(on.carry(0)) == on.table_bytes());
    CHECK(bytes_of(on.carry(1)) > on.table_bytes());
    (void)on.delivered();
    CHECK(bytes_of(on.carry(1)) == on.table_bytes());
  }
  SECTION("gather: none") {
    carrying<recording_device> on{way::gather};
    for (std::uint64_t ticket = 0; ticket < 3; ++ticket)
      CHECK(bytes_of(on.carry(ticket)) == on.table_bytes());
  }
  SECTION("cached: about half of them") {
    carrying<recording_device> on{way::cached_half};
    const std::size_t cached = on.parts->plan.cached_samples;
    CHECK(cached >= samples / 2);
    CHECK(cached < samples);
    const std::size_t first = bytes_of(on.carry(0)) - on.table_bytes();
    const std::size_t second = bytes_of(on.carry(0)) - on.table_bytes();
    CHECK(second > 0);
    CHECK(second < first);
  }
}

TEST_CASE(
    "assembling transfer: rows of a slot that was cut short by a failure are kept as far as it "
    "goes",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  const slot_index slot = on.fill(0);
  stage_location where;
  where.stage = stage::reader;
  on.staged(slot).fail(
      {{where, std::make_exception_ptr(std::runtime_error{"unreadable"})}, position{4}, 1});
  CHECK(on.under_test->step());
  CHECK(on.delivered() == numbers(0, 4));
  const slot_index again = on.fill(0);
  // Tables, and the rows of batches 1 and 2, whose work was never issued.
  CHECK(on.staged(again).chunk_bytes.load() ==
        2 * landing_layout{slot_layout{on.parts->dataset->fields(), 4, 3},
                           request_layout{on.parts->slots}, false, 12, true}
                .chunk_bytes(4));
}

TEST_CASE(
    "assembling transfer: a call that the device refuses is the transfer's failure, and both slots "
    "go "
    "round",
    "[transfer][host]") {
  // In the order of the test above; what stands on either stream is marked behind all of it.
  const auto refused = static_cast<std::size_t>(GENERATE(range(0, 8)));
  CAPTURE(refused);
  carrying<recording_device> on{way::resident};
  std::size_t count = 0;
  on.device->on_call = [&](const recorded_call&) {
    if (count++ == refused) throw device_error{"refused"};
  };
  const slot_index slot = on.fill(1);
  CHECK(on.under_test->step());
  CHECK(on.failure() == "the transfer stage failed in epoch 4, batch 3 (ticket 1): refused");
  CHECK(on.staged(slot).state.load() == staging_state::copying);
  const auto calls = on.device->calls();
  const auto recorded_behind = [&](device_call what) {
    std::size_t records = 0;
    bool seen = false;
    for (const auto& each : calls) {
      seen = seen || each.what == what;
      if (seen && each.what == device_call::record) ++records;
    }
    return records;
  };
  // The copy may have been issued even if it was refused, and so may the assembly.
  CHECK(recorded_behind(device_call::copy) >= 3);
  if (refused >= 5) CHECK(recorded_behind(device_call::assemble) >= 2);
  // Rows count as kept only if all went well.
  on.device->on_call = [](const recorded_call&) {};
  const slot_index again = on.fill(1);
  CHECK(on.staged(again).chunk_bytes.load() > 0);
}

TEST_CASE(
    "assembling transfer: what was refused first is reported, although the device then refuses all",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  bool gone = false;
  on.device->on_call = [&](const recorded_call& call) {
    if (gone) throw device_error{"gone"};
    gone = call.what == device_call::assemble;
    if (gone) throw device_error{"no kernel image"};
  };
  (void)on.fill(1);
  CHECK_FALSE(on.under_test->step());
  CHECK(on.failure() ==
        "the transfer stage failed in epoch 4, batch 3 (ticket 1): no kernel image");
}

TEST_CASE("assembling transfer: memory is not freed under work, whichever call was refused",
          "[transfer][host]") {
  struct refusal {
    device_call call;
    std::uint64_t nth;
  };
  const auto refused = GENERATE(refusal{device_call::copy, 1}, refusal{device_call::record, 1},
                                refusal{device_call::record, 2}, refusal{device_call::record, 3},
                                refusal{device_call::wait, 1}, refusal{device_call::wait, 2},
                                refusal{device_call::assemble, 1});
  const way through = GENERATE(from_range(test::assembled_ways()));
  const bool hold_copies = GENERATE(true, false);
  CAPTURE(static_cast<int>(refused.call), refused.nth, to_string(through), hold_copies);
  const auto device = std::make_shared<scripted_device>();
  std::optional<carrying<scripted_device>> on;
  on.emplace(through, device);
  if (hold_copies) {
    device->hold_copies();
  } else {
    device->hold_assemblies();
  }
  device->fail_call(refused.call, refused.nth);
  (void)on->fill(0);
  CHECK(on->under_test->step());
  std::thread ender{[&] { on.reset(); }};  // blocks as long as there is work
  device->allow_all_copies();
  device->allow_all_assemblies();
  ender.join();
  CHECK(device->freed_in_use() == 0);
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
  CHECK(device->mappings() == 0);
  CHECK(device->handles() == 1);  // the consumer's stream
}

TEST_CASE("assembling transfer: it issues its work without waiting for any", "[transfer][host]") {
  carrying<scripted_device> on{way::resident};
  on.device->hold_copies();
  for (std::uint64_t ticket = 0; ticket < 3; ++ticket) {
    (void)on.fill(ticket);
    CHECK(on.under_test->step());
  }
  CHECK(on.device->issued_copies() == 3);
  CHECK(on.device->issued_assemblies() == 3);
  on.device->allow_all_copies();
}
