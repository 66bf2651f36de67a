#include <feedline/batch/batch.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/stages.hpp"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_dataset;
using feedline::test::stages;

static_assert(!std::is_copy_constructible_v<batch> && !std::is_copy_assignable_v<batch>);
static_assert(std::is_nothrow_move_constructible_v<batch> &&
              std::is_nothrow_move_assignable_v<batch>);
static_assert(!std::is_default_constructible_v<batch>);

namespace {

/// Two slots of one batch each, read in place; epoch 2 of shuffled identity data.
struct leasing {
  stages parts{
      make_host_device(), make_identity_dataset(10, 8),
      loader_options{.batch_size = 4, .expert = {.batches_per_slot = 1, .staging_slots = 2}},
      shuffle{.seed = 1}};
  std::shared_ptr<epoch_pass> pass = std::make_shared<epoch_pass>(2);

  batch take(std::uint64_t ticket) {
    const slot_index slot = parts.fill(pass, ticket);
    (void)parts.staging->next_filled();
    parts.staging->lease(slot);
    const slot_work work = parts.work(pass, ticket);
    parts.ring->deliver(slot, {work});
    parts.ring->lease(parts.ring->take().value(), {});
    batch taken = parts.ring->lease_batch(slot, 0);
    parts.ring->let_go(slot);
    return taken;
  }
  bool is_free(std::uint64_t slot) {
    return (*parts.ring)[slot_index{slot}].state.load() == device_state::free;
  }
};

}  // namespace

TEST_CASE("batch: it names its fields, its position and its samples", "[batch][host]") {
  leasing on;
  const batch taken = on.take(2);
  CHECK(taken.field_count() == 2);
  CHECK(taken.size() == 2);  // the last of 10 samples in batches of 4
  CHECK(taken.index() == 2);
  CHECK(taken.epoch() == 2);
  CHECK(taken["id"].shape() == std::vector<std::uint64_t>{2});
  CHECK(taken["row"].shape() == std::vector<std::uint64_t>{2, 8});
  CHECK(taken.field_at(1).name() == "row");
  const auto samples = taken.samples();
  REQUIRE(samples.size() == 2);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(taken["id"].values<std::uint64_t>()[i] == samples[i].value);
  CHECK_FALSE(taken.stream());
}

TEST_CASE("batch: a field it does not have is refused, with those it has", "[batch][host]") {
  leasing on;
  const batch taken = on.take(0);
  CHECK(test::message_of<usage_error>([&] { (void)taken["label"]; }) ==
        "a batch has no field 'label': it has id, row");
  CHECK(test::message_of<usage_error>([&] { (void)taken.field_at(2); }) ==
        "a batch has no field number 2: it has 2");
}

TEST_CASE("batch: its end gives the memory back, once", "[batch][host]") {
  leasing on;
  {
    const batch taken = on.take(0);
    CHECK_FALSE(on.is_free(0));
  }
  CHECK(on.is_free(0));
}

TEST_CASE("batch: moving hands the lease over", "[batch][host]") {
  leasing on;
  std::optional<batch> first{on.take(0)};
  std::optional<batch> second{std::move(*first)};
  first.reset();
  CHECK_FALSE(on.is_free(0));
  CHECK(second->size() == 4);
  second.reset();
  CHECK(on.is_free(0));
}

TEST_CASE("batch: assigning ends the lease that was held, and takes the other", "[batch][host]") {
  leasing on;
  batch first = on.take(0);
  batch second = on.take(1);
  const auto* const data = second["row"].bytes().data();
  first = std::move(second);
  CHECK(on.is_free(0));
  CHECK_FALSE(on.is_free(1));
  CHECK(first.index() == 1);
  CHECK(first["row"].bytes().data() == data);
  batch& itself = first;
  first = std::move(itself);
  CHECK_FALSE(on.is_free(1));
}

TEST_CASE("batch: one that was moved from has no samples, and no position in an epoch",
          "[batch][host]") {
  leasing on;
  batch third = on.take(1);
  batch first = on.take(2);
  REQUIRE(first.size() == 2);
  batch second{std::move(first)};
  third = std::move(second);
  CHECK(third.size() == 2);
  CHECK(third.index() == 2);
  CHECK(third.epoch() == 2);
  // NOLINTBEGIN(bugprone-use-after-move)
  for (const batch* const each : {&first, &second}) {
    CHECK(each->size() == 0);
    CHECK(each->index() == 0);
    CHECK(each->epoch() == 0);
  }
  // NOLINTEND(bugprone-use-after-move)
}

TEST_CASE("batch: used after it was moved from it says so", "[batch][host]") {
  leasing on;
  batch first = on.take(0);
  const batch second{std::move(first)};
  const auto wanted = "a batch was used after it was moved from";
  // NOLINTBEGIN(bugprone-use-after-move)
  CHECK(test::message_of<usage_error>([&] { (void)first["id"]; }) == wanted);
  CHECK(test::message_of<usage_error>([&] { (void)first.field_at(0); }) == wanted);
  CHECK(test::message_of<usage_error>([&] { (void)first.field_count(); }) == wanted);
  CHECK(test::message_of<usage_error>([&] { (void)first.samples(); }) == wanted);
  CHECK(test::message_of<usage_error>([&] { (void)first.stream(); }) == wanted);
  CHECK(first.size() == 0);
  // NOLINTEND(bugprone-use-after-move)
}
