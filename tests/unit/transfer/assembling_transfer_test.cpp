#include "transfer/assembling_transfer.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "unit/transfer/carrying.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test::carried;
using feedline::test::data_path;
using feedline::test::device_call;
using feedline::test::recorded_call;
using feedline::test::recording_device;
using feedline::test::scripted_device;

TEST_CASE(
    "assembling transfer: a slot is copied after the buffer's last assembly, and assembled after "
    "its copy and its last use and before all its events",
    "[transfer][host]") {
  const data_path through = GENERATE(from_range(test::slotwise_data_paths()));
  CAPTURE(to_string(through));
  carrying<recording_device> on{through};
  const slot_index slot = on.fill(0);
  on.device->forget_calls();
  REQUIRE(on.under_test->step());
  const auto calls = on.device->calls();
  REQUIRE(calls.size() == 9);
  const slot_index to = on.parts->ring->try_take().value();
  const device_slot& target = (*on.parts->ring)[to];
  const event_handle assembled = calls[7].event;
  const stream_ref copies = calls[1].stream;
  const stream_ref stream = calls[6].stream;
  CHECK(copies);
  CHECK(stream);
  CHECK(copies != stream);
  CHECK(calls[0] == call(device_call::wait, assembled, copies));
  CHECK(calls[1] == recorded_call{.what = device_call::copy,
                                  .stream = copies,
                                  .bytes = on.table_bytes() + on.staged(slot).chunk_bytes.load()});
  CHECK(calls[2] == call(device_call::record, on.staged(slot).copied.get(), copies));
  CHECK(calls[3] == call(device_call::wait, on.staged(slot).copied.get(), stream));
  CHECK(calls[4] == call(device_call::wait, target.released.get(), stream));
  CHECK(calls[5] ==
        call(device_call::wait, target.ready.get(), stream));  // event of its last assembly
  CHECK(calls[6] == call(device_call::assemble, event_handle::none, stream));
  CHECK(calls[7] == call(device_call::record, assembled, stream));
  CHECK(calls[8] == call(device_call::record, target.ready.get(), stream));
  CHECK(on.staged(slot).state.load() == staging_state::copying);
  CHECK(target.state.load() == device_state::filled);
}

TEST_CASE("assembling transfer: the rows arrive at their positions, in every kind of slot",
          "[transfer][host]") {
  const data_path through = GENERATE(from_range(test::slotwise_data_paths()));
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
    "assembling transfer: a slot that was not taken is assembled again only after its last "
    "assembly is done",
    "[transfer][host]") {
  const data_path through = GENERATE(from_range(test::slotwise_data_paths()));
  CAPTURE(to_string(through));
  carrying<scripted_device> on{through};
  on.device->hold_assemblies();
  for (std::uint64_t ticket = 0; ticket < 3; ++ticket) {
    (void)on.fill(ticket);
    REQUIRE(on.under_test->step());
  }
  const slot_index left = on.parts->ring->take().value();
  on.parts->ring->discard(left);  // like an abandoned epoch: no consumer's stream waited for it
  (void)on.fill(1);
  REQUIRE(on.under_test->step());  // into the same slot, through the other copy destination
  on.device->favour_young_streams();
  on.device->allow_all_assemblies();
  on.device->sync((*on.parts->ring)[left].ready.get());
  (void)on.parts->ring->take();
  (void)on.parts->ring->take();
  on.under_test.reset();  // all work is done
  CHECK(on.delivered() == numbers(12, 24));
}

TEST_CASE("assembling transfer: only tables and rows that the device lacks are copied",
          "[transfer][host]") {
  const auto bytes_of = [](const std::vector<recorded_call>& calls) { return calls.at(1).bytes; };
  SECTION("none of them: each time all") {
    carrying<recording_device> on{data_path::transformed};
    const std::size_t first = bytes_of(on.carry(0));
    CHECK(first >= on.table_bytes() + 12 * (8 + row_bytes + 1));
    CHECK(bytes_of(on.carry(0)) == first);
  }
  SECTION("resident: the first time all, then none") {
    carrying<recording_device> on{data_path::resident};
    CHECK(bytes_of(on.carry(0)) >= on.table_bytes() + 12 * (8 + row_bytes + 1));
    CHECK(bytes_of(on.carry(0)) == on.table_bytes());
    CHECK(bytes_of(on.carry(1)) > on.table_bytes());
    (void)on.delivered();
    CHECK(bytes_of(on.carry(1)) == on.table_bytes());
  }
  SECTION("gather: none") {
    carrying<recording_device> on{data_path::gather};
    for (std::uint64_t ticket = 0; ticket < 3; ++ticket)
      CHECK(bytes_of(on.carry(ticket)) == on.table_bytes());
  }
  SECTION("cached: about half of them") {
    carrying<recording_device> on{data_path::cached_half};
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
  carrying<recording_device> on{data_path::resident};
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
        2 * destination_layout{slot_layout{on.parts->dataset->fields(), 4, 3}.row_bytes(), 12,
                               request_layout{on.parts->slots}, false, 12, true}
                .chunk_bytes(4));
}

TEST_CASE(
    "assembling transfer: a call that the device refuses is the transfer's failure, and both slots "
    "circulate",
    "[transfer][host]") {
  // In the order of the test above; the work on either stream is marked after all of it.
  const auto refused = static_cast<std::size_t>(GENERATE(range(0, 9)));
  CAPTURE(refused);
  carrying<recording_device> on{data_path::resident};
  std::size_t count = 0;
  on.device->on_call = [&](const recorded_call&) {
    if (count++ == refused) throw device_error{"refused"};
  };
  const slot_index slot = on.fill(1);
  CHECK(on.under_test->step());
  CHECK(on.failure() == "the transfer stage failed in epoch 4, batch 3: refused");
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
  CHECK(recorded_behind(device_call::wait) >= 3);
  if (refused >= 6) CHECK(recorded_behind(device_call::assemble) >= 2);
  // Rows count as kept only if all went well.
  on.device->on_call = [](const recorded_call&) {};
  const slot_index again = on.fill(1);
  CHECK(on.staged(again).chunk_bytes.load() > 0);
}

TEST_CASE(
    "assembling transfer: the first refusal is reported, although the device then refuses all",
    "[transfer][host]") {
  carrying<recording_device> on{data_path::resident};
  bool gone = false;
  on.device->on_call = [&](const recorded_call& call) {
    if (gone) throw device_error{"gone"};
    gone = call.what == device_call::assemble;
    if (gone) throw device_error{"no kernel image"};
  };
  (void)on.fill(1);
  CHECK_FALSE(on.under_test->step());
  CHECK(on.failure() == "the transfer stage failed in epoch 4, batch 3: no kernel image");
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
                                refusal{device_call::wait, 3}, refusal{device_call::wait, 4},
                                refusal{device_call::record, 4}, refusal{device_call::assemble, 1});
  const data_path through = GENERATE(from_range(test::slotwise_data_paths()));
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
  carrying<scripted_device> on{data_path::resident};
  on.device->hold_copies();
  for (std::uint64_t ticket = 0; ticket < 3; ++ticket) {
    (void)on.fill(ticket);
    CHECK(on.under_test->step());
  }
  CHECK(on.device->issued_copies() == 3);
  CHECK(on.device->issued_assemblies() == 3);
  on.device->allow_all_copies();
}
