#include <feedline/error.hpp>
#include <feedline/loader/loader_options.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <chrono>
#include <cmath>
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

TEST_CASE("loader options: an error policy that cannot be is refused, with value and limit",
          "[loader][host]") {
  using std::chrono::milliseconds;
  const auto policy = [](const error_policy& errors) {
    loader_options options;
    options.errors = errors;
    return refusal(options);
  };
  CHECK(policy({.action = static_cast<error_action>(3)}) ==
        "loader_options::errors.action is none of fail, skip, substitute");
  CHECK(policy({.retries = -1}) == "loader_options::errors.retries is -1: say 0 to 1000");
  CHECK(policy({.retries = 1001}) == "loader_options::errors.retries is 1001: say 0 to 1000");
  CHECK(policy({.first_pause = milliseconds{-1}}) ==
        "loader_options::errors.first_pause is -1 ms: say 0 ms or more");
  CHECK(policy({.first_pause = milliseconds{20}, .max_pause = milliseconds{10}}) ==
        "loader_options::errors.max_pause is 10 ms: say first_pause, 20 ms, to 86400000 ms");
  CHECK(policy({.max_pause = milliseconds::max()}).find("to 86400000 ms") != std::string::npos);
  for (const double share : {-0.1, 1.5, std::nan("")})
    CHECK(policy({.max_share = share}).find("say a share of the samples, 0 to 1") !=
          std::string::npos);
  CHECK(policy({.max_share = 1.5}) ==
        "loader_options::errors.max_share is 1.5: say a share of the samples, 0 to 1");
  loader_options accepted;
  accepted.errors = {.action = error_action::skip,
                     .retries = 1000,
                     .first_pause = milliseconds{0},
                     .max_pause = std::chrono::hours{24},
                     .max_share = 0,
                     .listed = 0};
  CHECK_NOTHROW(validated(accepted));
}

TEST_CASE(
    "loader options: samples cannot be skipped by one of several ranks, nor where a last "
    "batch must be full",
    "[loader][host]") {
  loader_options options;
  options.errors.action = error_action::skip;
  options.shard = {.rank = 0, .world = 2};
  CHECK(refusal(options) ==
        "loader_options::errors.action is skip in a world of 2: ranks would get unequal numbers of "
        "batches; take error_action::substitute");
  options.shard = {};
  options.partial_batch = partial_batch::error;
  CHECK(refusal(options) ==
        "loader_options::errors.action is skip with partial_batch::error: samples that are left "
        "out leave a last batch that is not full; keep, drop or fill it, or take "
        "error_action::substitute");
  options.errors.action = error_action::substitute;
  CHECK_NOTHROW(validated(options));
}
