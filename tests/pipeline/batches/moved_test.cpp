/// Loaders and ranges that were moved, and moved from; ranges under the adaptors of <ranges>.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <concepts>
#include <cstdint>
#include <ranges>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

static_assert(std::movable<epoch_range>);
static_assert(std::movable<loader>);

namespace {

loader make_loader(std::uint64_t samples = 64, int readers = 2) {
  return {make_identity_rows(samples, 8),
          sequential{},
          make_host_device(),
          {.batch_size = 8, .readers = readers}};
}

}  // namespace

TEST_CASE("moved: a loader that was moved from says so, and may be stopped and assigned to",
          "[loader][host]") {
  const std::string refusal = "a loader was used after it was moved from";
  loader first = make_loader();
  loader second = std::move(first);
  // NOLINTBEGIN(bugprone-use-after-move): what this is about
  CHECK(message_of<usage_error>([&] { (void)first.epoch(0); }) == refusal);
  CHECK(message_of<usage_error>([&] { (void)first.plan(); }) == refusal);
  CHECK(message_of<usage_error>([&] { (void)first.state(); }) == refusal);
  CHECK(message_of<usage_error>([&] { first.seek(second.state()); }) == refusal);
  first.stop();
  CHECK(second.epoch(0).next());
  first = std::move(second);
  CHECK(first.epoch(1).next());
  CHECK(message_of<usage_error>([&] { (void)second.epoch(0); }) == refusal);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_CASE("moved: a range that was moved from says so, and the other continues where it stood",
          "[loader][host]") {
  const std::string refusal = "an epoch's range was used after it was moved from";
  loader loader = make_loader();
  epoch_range first = loader.epoch(0);
  REQUIRE(first.next().value().index() == 0);
  epoch_range second = std::move(first);
  // NOLINTBEGIN(bugprone-use-after-move): what this is about
  CHECK(message_of<usage_error>([&] { (void)first.next(); }) == refusal);
  CHECK(message_of<usage_error>([&] { (void)first.begin(); }) == refusal);
  // NOLINTEND(bugprone-use-after-move)
  CHECK(second.next().value().index() == 1);
}

TEST_CASE("moved: an iterator stays valid when its range is moved", "[loader][host]") {
  loader loader = make_loader();
  epoch_range first = loader.epoch(0);
  auto at = first.begin();
  REQUIRE(at->index() == 0);
  const epoch_range second = std::move(first);
  std::uint64_t index = 0;
  for (; at != second.end(); ++at) CHECK(at->index() == index++);
  CHECK(index == 8);
}

TEST_CASE("moved: assigning to a range abandons the epoch that it stood for", "[loader][host]") {
  const int readers = GENERATE(0, 2);
  loader loader = make_loader(256, readers);
  epoch_range range = loader.epoch(0);
  REQUIRE(range.next().value().epoch() == 0);
  range = loader.epoch(1);
  std::uint64_t index = 0;
  while (const auto batch = range.next()) {
    CHECK(batch->epoch() == 1);
    CHECK(batch->index() == index++);
  }
  CHECK(index == 32);
}

#if !defined(__clang__)  // clang 14 cannot compile the views of libstdc++ 12
TEST_CASE("range: the adaptors of the standard library take an epoch", "[loader][host]") {
  loader loader = make_loader();
  std::vector<std::uint64_t> indices;
  for (const batch& batch : loader.epoch(0) | std::views::take(3)) indices.push_back(batch.index());
  CHECK(indices == std::vector<std::uint64_t>{0, 1, 2});
  indices.clear();
  const auto index_of = [](const batch& batch) { return batch.index(); };
  for (const std::uint64_t index :
       loader.epoch(1) | std::views::drop(6) | std::views::transform(index_of))
    indices.push_back(index);
  CHECK(indices == std::vector<std::uint64_t>{6, 7});
}
#endif
