#include "batch/device_slot.hpp"
#include "support/checks/catch.hpp"

#include <cstdint>

using feedline::detail::slot_leases;

namespace {

const auto no_mark = [] { FAIL("marked"); };

}  // namespace

TEST_CASE("slot leases: nobody holds a slot once its batches have ended and the cursor has let go",
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

TEST_CASE("slot leases: a batch that is dealt and ended during the mark is marked too",
          "[device][host]") {
  slot_leases leases;
  leases.hold();
  leases.add();
  int marks = 0;
  CHECK_FALSE(leases.end([&] {
    if (++marks > 1) return;
    leases.add();                      // the consumer deals another one,
    CHECK_FALSE(leases.end(no_mark));  // which another thread ends: it is not the only one
  }));
  CHECK(marks == 2);
  CHECK(leases.held() == 0);
  CHECK(leases.let_go());
}

TEST_CASE("slot leases: a batch that is dealt during the mark leaves the end to its own",
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
