#include <feedline/error.hpp>
#include <feedline/loader/loader_options.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <chrono>
#include <string>

using namespace feedline;

namespace {

std::string refusal(const loader_options& options) {
  return test::message_of<usage_error>([&] { (void)validated(options); });
}

}  // namespace

TEST_CASE("loader options: the defaults are valid, and come back unchanged", "[loader][host]") {
  const loader_options defaults = validated({});
  CHECK(defaults.batch_size == 1);
  CHECK(defaults.partial_batch == partial_batch::keep);
  CHECK(defaults.readers == automatic_readers);
  CHECK(validated({.batch_size = 7, .readers = 0, .staging_slots = 2}).staging_slots == 2);
}

TEST_CASE("loader options: a batch of nothing is refused", "[loader][host]") {
  CHECK(refusal({.batch_size = 0}) ==
        "loader_options::batch_size is 0: a batch holds at least 1 sample");
}

TEST_CASE("loader options: a number of readers that cannot be is refused, with the limits",
          "[loader][host]") {
  CHECK(refusal({.readers = -2}) ==
        "loader_options::readers is -2: say 0 to 1024, or automatic_readers");
  CHECK(refusal({.readers = 1025}) ==
        "loader_options::readers is 1025: say 0 to 1024, or automatic_readers");
  CHECK_NOTHROW(validated({.readers = 1024}));
}

TEST_CASE("loader options: a ring of one slot cannot overlap anything, and is refused",
          "[loader][host]") {
  CHECK(refusal({.staging_slots = 1}) ==
        "loader_options::staging_slots is 1: say 2 to 4096, or 0 for automatic");
  CHECK(refusal({.device_slots = 1}) ==
        "loader_options::device_slots is 1: say 2 to 4096, or 0 for automatic");
  CHECK(refusal({.device_slots = 4097}) ==
        "loader_options::device_slots is 4097: say 2 to 4096, or 0 for automatic");
  CHECK_NOTHROW(validated({.staging_slots = 4096, .device_slots = 2}));
}

TEST_CASE("loader options: a limit of destruction below zero is refused", "[loader][host]") {
  loader_options options;
  options.leave_reads_after = std::chrono::milliseconds{-3};
  CHECK(refusal(options) ==
        "loader_options::leave_reads_after is -3 ms: say how long destruction may wait, or 0 for "
        "no limit");
}
