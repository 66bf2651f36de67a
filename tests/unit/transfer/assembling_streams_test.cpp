/// On which streams slots are assembled, and what they wait for there.

#include "support/checks/catch.hpp"
#include "transfer/assembling_transfer.hpp"
#include "unit/transfer/carrying.hpp"

#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test::carried;
using feedline::test::data_path;
using feedline::test::device_call;
using feedline::test::recorded_call;
using feedline::test::recording_device;

namespace {

constexpr std::size_t copy_destinations = assembling_transfer::copy_destinations;

/// A slot's calls if it waited for no other slot.
struct carried_slot {
  explicit carried_slot(const std::vector<recorded_call>& calls)
      : copies{calls.at(1).stream}, stream{calls.back().stream}, assembled{calls.end()[-2].event} {}
  stream_ref copies;
  stream_ref stream;  ///< the assembly's
  event_handle assembled;
};

template <class Device>
carried_slot carry(carrying<Device>& on, std::uint64_t ticket) {
  const auto calls = on.carry(ticket);
  REQUIRE(calls.size() == 9);  // it waits for no other slot's assembly
  (void)on.delivered();
  return carried_slot{calls};
}

}  // namespace

TEST_CASE(
    "assembling transfer: copies are issued to one stream, copy destinations are taken in turn",
    "[transfer][host]") {
  carrying<recording_device> on{data_path::gather};
  std::vector<carried_slot> slots;
  for (std::uint64_t i = 0; i < 2 * copy_destinations + 1; ++i) slots.push_back(carry(on, i % 3));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    CHECK(slots[i].copies == slots[0].copies);
    CHECK(slots[i].assembled == slots[i % copy_destinations].assembled);
    if (i != 0) CHECK(slots[i].assembled != slots[i - 1].assembled);
  }
}

TEST_CASE("assembling transfer: assemblies of cached rows take turns on a buffer's stream each",
          "[transfer][host]") {
  carrying<recording_device> on{data_path::gather};
  std::vector<carried_slot> slots;
  for (std::uint64_t i = 0; i < 2 * copy_destinations + 1; ++i) slots.push_back(carry(on, i % 3));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    CHECK(slots[i].stream == slots[i % copy_destinations].stream);
    CHECK(slots[i].stream != slots[0].copies);
    if (i != 0) CHECK(slots[i].stream != slots[i - 1].stream);
  }
}

TEST_CASE("assembling transfer: if all rows come by copies, assemblies stand on one stream",
          "[transfer][host]") {
  carrying<recording_device> on{data_path::transformed};
  const stream_ref first = carry(on, 0).stream;
  for (std::uint64_t i = 1; i < 2 * copy_destinations; ++i) CHECK(carry(on, i % 3).stream == first);
}

TEST_CASE(
    "assembling transfer: after a slot that caches rows all later slots wait for it, until its "
    "copy destination is reused",
    "[transfer][host]") {
  carrying<recording_device> on{data_path::resident};
  const carried_slot keeping = carry(on, 0);
  for (std::size_t behind = 1; behind < copy_destinations; ++behind) {
    const auto calls = on.carry(0);  // all its rows are held
    (void)on.delivered();
    REQUIRE(calls.size() == 10);
    CHECK(calls[6] == call(device_call::wait, keeping.assembled, calls[7].stream));
  }
  for (std::size_t behind = 0; behind < copy_destinations; ++behind) (void)carry(on, 0);
}

TEST_CASE(
    "assembling transfer: a slot that keeps rows waits for those before, which may be reading them",
    "[transfer][host]") {
  carrying<recording_device> on{data_path::resident};
  std::vector<event_handle> reading;
  for (std::size_t i = 0; i < 2 * copy_destinations; ++i) {
    reading.push_back(on.carry(0).end()[-2].event);
    (void)on.delivered();
  }
  const auto keeping = on.carry(1);
  REQUIRE(keeping.size() == 9 + copy_destinations - 1);
  for (std::size_t back = 1; back < copy_destinations; ++back) {
    CHECK(keeping[5 + back] ==
          call(device_call::wait, reading[reading.size() - back], keeping.back().stream));
  }
}
