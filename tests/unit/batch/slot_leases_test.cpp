#include "batch/device_slot.hpp"
#include "support/checks/catch.hpp"

#include <cstdint>

using feedline::detail::slot_leases;

namespace {

const auto no_mark = [] { FAIL("marked"); };

}  // namespace

TEST_CASE("slot leases: a slot is free once its batches have ended and the cursor has released it",
          "[device][host]") {
  slot_leases leases;
  leases.hold();
  leases.add();
  leases.add();
  CHECK(leases.held() == 2);
  SECTION("the cursor last") {
    int marks = 0;
    CHECK_FALSE(leases.end(no_mark));
    CHECK_FALSE(leases.end([&] { ++marks; }));
    CHECK(marks == 1);
    CHECK(leases.let_go());
  }
  SECTION("a batch last") {
    CHECK_FALSE(leases.let_go());
    CHECK_FALSE(leases.end(no_mark));
    int marks = 0;
    CHECK(leases.end([&] { ++marks; }));
    CHECK(marks == 1);
  }
}

TEST_CASE("slot leases: a batch that is handed out and ended during the mark is marked too",
          "[device][host]") {
  slot_leases leases;
  leases.hold();
  leases.add();
  int marks = 0;
  CHECK_FALSE(leases.end([&] {
    if (++marks > 1) return;
    leases.add();                      // the consumer hands out another one,
    CHECK_FALSE(leases.end(no_mark));  // and another thread ends it: it is not the only one
  }));
  CHECK(marks == 2);
  CHECK(leases.held() == 0);
  CHECK(leases.let_go());
}

TEST_CASE(
    "slot leases: a batch that is handed out during the mark leaves the release to its own end",
    "[device][host]") {
  slot_leases leases;
  leases.hold();
  leases.add();
  int marks = 0;
  CHECK_FALSE(leases.end([&] {
    ++marks;
    leases.add();
    CHECK_FALSE(leases.let_go());
  }));
  CHECK(marks == 1);
  CHECK(leases.held() == 1);
  CHECK(leases.end([&] { ++marks; }));
  CHECK(marks == 2);
}
