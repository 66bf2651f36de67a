/// Tests the cores that a loader's threads run on.

#include <feedline/sampler/sequential.hpp>

#include "detail/cores.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <utility>

using namespace feedline;
using feedline::detail::allowed_cores;
using feedline::detail::core_list;
using feedline::detail::resolve;

namespace {

core_list planned(core_list near, const loader_options& options) {
  const device_capabilities device{.name = "gpu", .near_cores = std::move(near)};
  return resolve(*test::make_identity_rows(100, 16), sequential{}, device, options).report.cores;
}

loader_options tuned_to(int readers) {
  loader_options options{.readers = 1};
  options.expert.tuning.max_readers = readers;
  return options;
}

}  // namespace

TEST_CASE("plan: a loader's threads run near the device, if readers find a core each there",
          "[loader][host]") {
  const core_list allowed = allowed_cores();
  if (allowed.size() == 1) FEEDLINE_SKIP("this process may use one core alone");
  const core_list one{allowed.front()};
  CHECK(planned(one, {.readers = 1}) == one);
  CHECK(planned({allowed.front(), allowed.back() + 1}, {.readers = 1}) == one);
  CHECK(planned(one, {.readers = 2}).empty());
  CHECK(planned({allowed.front(), allowed.back() + 1}, {.readers = 2}).empty());
  CHECK(planned(one, tuned_to(1)) == one);
  CHECK(planned(one, tuned_to(2)).empty());
  CHECK(planned(one, {.placement = placement::gather}) == one);  // the transfer alone
}

TEST_CASE("plan: a loader's threads run anywhere if no cores are known or asked for",
          "[loader][host]") {
  const core_list allowed = allowed_cores();
  CHECK(planned({}, {.readers = 1}).empty());
  CHECK(planned(allowed, {.readers = 1}).empty());
  CHECK(planned({allowed.back() + 1}, {.readers = 1}).empty());
  CHECK(planned({allowed.back() + 1}, {.placement = placement::gather}).empty());
  if (allowed.size() == 1) FEEDLINE_SKIP("this process may use one core alone");
  CHECK(planned({allowed.front()}, {.readers = no_readers}).empty());
}
