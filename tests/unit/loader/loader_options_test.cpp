#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  CHECK(validated({.batch_size = 7, .readers = 0, .expert = {.staging_slots = 2}})
            .expert.staging_slots == 2);
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
  CHECK(refusal({.expert = {.staging_slots = 1}}) ==
        "loader_options::expert.staging_slots is 1: say 2 to 4096, or 0 for automatic");
  CHECK(refusal({.expert = {.device_slots = 1}}) ==
        "loader_options::expert.device_slots is 1: say 2 to 4096, or 0 for automatic");
  CHECK(refusal({.expert = {.device_slots = 4097}}) ==
        "loader_options::expert.device_slots is 4097: say 2 to 4096, or 0 for automatic");
  CHECK_NOTHROW(validated({.expert = {.staging_slots = 4096, .device_slots = 2}}));
}

TEST_CASE("loader options: a limit of destruction below zero is refused", "[loader][host]") {
  loader_options options;
  options.expert.leave_reads_after = std::chrono::milliseconds{-3};
  CHECK(refusal(options) ==
        "loader_options::expert.leave_reads_after is -3 ms: say how long destruction may wait, or "
        "0 for "
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

TEST_CASE("loader options: a value outside of its enumeration is refused, with name and value",
          "[loader][host]") {
  const auto with = [](auto change) {
    loader_options options;
    change(options);
    return refusal(options);
  };
  CHECK(with([](auto& of) { of.partial_batch = static_cast<partial_batch>(4); }) ==
        "loader_options::partial_batch is 4, which is not a value of its type: say one of keep, "
        "drop, "
        "error, fill");
  CHECK(with([](auto& of) { of.placement = static_cast<placement>(5); }) ==
        "loader_options::placement is 5, which is not a value of its type: say one of automatic, "
        "stream, gather, resident, cached");
  CHECK(
      with([](auto& of) { of.decode_on = static_cast<decode_on>(255); }) ==
      "loader_options::decode_on is 255, which is not a value of its type: say one of cpu, device, "
      "automatic");
  CHECK(with([](auto& of) { of.errors.action = static_cast<error_action>(3); }) ==
        "loader_options::errors.action is 3, which is not a value of its type: say one of fail, "
        "skip, "
        "substitute");
  const std::string types =
      ", which is not a value of its type: say one of u8, i8, u16, i16, u32, i32, u64, i64, f16, "
      "bf16, f32, f64, boolean";
  const auto no_type = static_cast<element_type>(13);
  const auto no_layout = static_cast<image_layout>(2);
  CHECK(with([&](auto& of) { of.transforms = {{.field = "x", .to = no_type}}; }) ==
        "loader_options::transforms: field 'x': to is 13" + types);
  CHECK(with([&](auto& of) { of.transforms = {{.field = "x", .layout = no_layout}}; }) ==
        "loader_options::transforms: field 'x': layout is 2, which is not a value of its type: say "
        "one of hwc, chw");
  CHECK(with([&](auto& of) { of.transforms = {{.field = "x", .to_layout = no_layout}}; }) ==
        "loader_options::transforms: field 'x': to_layout is 2, which is not a value of its type: "
        "say one of hwc, chw");
  CHECK(with([&](auto& of) {
          of.expert.batch_transform =
              batch_transform{.fields = {{"x", no_type, {}}}, .run = [](auto) {}};
        }) == "loader_options::expert.batch_transform: field 'x': type is 13" + types);
}

TEST_CASE("loader options: a loader refuses a dataset whose types or concurrency are no values",
          "[loader][host]") {
  struct odd final : dataset {
    element_type type = element_type::u8;
    read_concurrency how = read_concurrency::parallel;
    [[nodiscard]] std::uint64_t size() const override { return 4; }
    [[nodiscard]] std::vector<field> fields() const override { return {{"x", type, {}}}; }
    void do_read(const read_request&) const override {}
    [[nodiscard]] read_concurrency concurrency() const override { return how; }
  };
  const auto refused = [](auto change) {
    const auto of = std::make_shared<odd>();
    change(*of);
    return test::message_of<usage_error>([&] {
      const loader made{of, sequential{}, make_host_device(), {}};
    });
  };
  CHECK(refused([](odd& of) {
          of.type = static_cast<element_type>(77);
        }).find("field 'x': element type is 77, which is not a value of its type") == 0);
  CHECK(refused([](odd& of) { of.how = static_cast<read_concurrency>(2); }) ==
        "dataset::concurrency() is 2, which is not a value of its type: say one of parallel, "
        "serialized");
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
