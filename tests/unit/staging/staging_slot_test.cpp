#include "staging/staging_slot.hpp"

#include <feedline/device/host_device.hpp>

#include "support/checks/catch.hpp"

#include <exception>
#include <stdexcept>

using namespace feedline;
using namespace feedline::detail;

namespace {

slot_failure failure_at(std::uint64_t first) {
  return {
      {.where = {.path = {}}, .cause = std::make_exception_ptr(std::runtime_error{"unreadable"})},
      position{first},
      first / 10};
}

}  // namespace

TEST_CASE("staging slot: it keeps the first of several failures in the epoch's order",
          "[staging][host]") {
  staging_slot slot{make_host_device()};
  slot.fail(failure_at(50));
  slot.fail(failure_at(30));
  slot.fail(failure_at(40));
  const auto cached = slot.take_failure();
  REQUIRE(cached);
  CHECK(cached->first == position{30});
  CHECK(cached->good_batches == 3);
}

TEST_CASE("staging slot: it knows which reads a failure makes needless, and which not",
          "[staging][host]") {
  staging_slot slot{make_host_device()};
  CHECK_FALSE(slot.failed_before(position{0}));
  CHECK_FALSE(slot.failed_before(position{1'000'000}));
  slot.fail(failure_at(30));
  CHECK_FALSE(slot.failed_before(position{29}));
  CHECK_FALSE(slot.failed_before(position{30}));
  CHECK(slot.failed_before(position{31}));
}

TEST_CASE("staging slot: after its failure was taken, the slot is like new", "[staging][host]") {
  staging_slot slot{make_host_device()};
  CHECK_FALSE(slot.take_failure().has_value());
  slot.fail(failure_at(0));
  CHECK(slot.take_failure().has_value());
  CHECK_FALSE(slot.take_failure().has_value());
  CHECK_FALSE(slot.failed_before(position{1}));
}
