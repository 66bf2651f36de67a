/// A loader's state: its value at each point of a loop, the effect of a seek on work in progress,
/// and the states that are refused.

#include <feedline/error.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using place = std::pair<std::uint64_t, std::uint64_t>;

place place_of(const loader& of) {
  const loader_state state = of.state();
  return {state.epoch, state.batch};
}

loader_state at(const loader& of, std::uint64_t epoch, std::uint64_t batch) {
  loader_state state = of.state();
  state.epoch = epoch;
  state.batch = batch;
  return state;
}

/// 20 samples, in 5 batches an epoch.
loader five_batches(int readers = 2, std::uint64_t epochs = 0) {
  return loader{
      make_identity_rows(20, 8),
      sequential{},
      make_host_device(),
      {.batch_size = 4, .epochs = epochs, .readers = readers, .expert = {.staging_slots = 4}}};
}

std::vector<place> places_of(epoch_range range) {
  std::vector<place> places;
  for (const batch& batch : range) places.emplace_back(batch.epoch(), batch.index());
  return places;
}

}  // namespace

TEST_CASE("state: before the first batch it is where the first epoch asked for begins",
          "[loader][host]") {
  loader loader = five_batches();
  CHECK(place_of(loader) == place{0, 0});
  auto third = loader.epoch(3);
  CHECK(place_of(loader) == place{3, 0});
  const auto fourth = loader.epoch(4);
  CHECK(place_of(loader) == place{3, 0});
  CHECK(third.next());
  CHECK(place_of(loader) == place{3, 1});
}

TEST_CASE("state: in a loop's body the current batch counts as done, and batches read ahead do not",
          "[loader][host]") {
  const int readers = GENERATE(0, 2);
  loader loader = five_batches(readers, 9);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (const batch& batch : loader.epoch(epoch))
      CHECK(place_of(loader) == place{epoch, batch.index() + 1});
    CHECK(place_of(loader) == place{epoch + 1, 0});
  }
}

TEST_CASE("state: an epoch whose last batch was taken ends when its end is seen",
          "[loader][host]") {
  loader loader = five_batches();
  auto range = loader.epoch(0);
  for (int i = 0; i < 5; ++i) CHECK(range.next());
  CHECK(place_of(loader) == place{0, 5});
  CHECK_FALSE(range.next());
  CHECK(place_of(loader) == place{1, 0});
}

TEST_CASE("state: batches that are held count as done, wherever they are moved to",
          "[loader][host]") {
  loader loader = five_batches();
  auto range = loader.epoch(0);
  std::vector<batch> held;
  for (std::uint64_t i = 0; i < 2; ++i) held.push_back(std::move(*range.next()));
  CHECK(place_of(loader) == place{0, 2});
  held.clear();
  CHECK(place_of(loader) == place{0, 2});
}

TEST_CASE("state: after a break it stays after the last batch, until another epoch begins",
          "[loader][host]") {
  loader loader = five_batches();
  for (const batch& batch : loader.epoch(0)) {
    if (batch.index() == 2) break;
  }
  CHECK(place_of(loader) == place{0, 3});
  auto next = loader.epoch(1);
  CHECK(place_of(loader) == place{0, 3});
  CHECK(next.next());
  CHECK(place_of(loader) == place{1, 1});
}

TEST_CASE("state: epochs that were asked for ahead count when they begin", "[loader][host]") {
  loader loader = five_batches();
  auto first = loader.epoch(0);
  auto second = loader.epoch(1);
  auto third = loader.epoch(2);
  CHECK(first.next());
  CHECK(place_of(loader) == place{0, 1});
  CHECK(third.next());
  CHECK(place_of(loader) == place{2, 1});
}

TEST_CASE("state: after an error it is the failed batch, and after a stop the next one",
          "[loader][host]") {
  loader failing{make_damaged(make_identity_rows(20, 8), sample_index{13}),
                 sequential{},
                 make_host_device(),
                 {.batch_size = 4, .readers = 2}};
  CHECK_THROWS_AS(places_of(failing.epoch(0)), stage_error);
  CHECK(place_of(failing) == place{0, 3});

  loader stopped = five_batches();
  auto range = stopped.epoch(0);
  CHECK(range.next());
  stopped.stop();
  CHECK_FALSE(range.next());
  CHECK(place_of(stopped) == place{0, 1});
}

TEST_CASE("seek: the epoch begins at the state's batch, and later ones at their first",
          "[loader][host]") {
  const int readers = GENERATE(0, 2);
  const std::uint64_t epochs = GENERATE(0U, 4U);
  const std::uint64_t batch = GENERATE(0U, 2U, 4U, 5U);
  CAPTURE(readers, epochs, batch);
  loader loader = five_batches(readers, epochs);
  loader.seek(at(loader, 2, batch));
  CHECK(place_of(loader) == place{2, batch});
  std::vector<place> expected;
  for (std::uint64_t i = batch; i < 5; ++i) expected.emplace_back(2, i);
  CHECK(places_of(loader.epoch(2)) == expected);
  CHECK(place_of(loader) == place{3, 0});
  CHECK(places_of(loader.epoch(3)).size() == 5);
  CHECK(places_of(loader.epoch(2)).size() == 5);  // once more, whole
}

TEST_CASE(
    "seek: to the current position changes nothing, in the middle of a loop and between epochs",
    "[loader][host]") {
  loader loader = five_batches(2, 3);
  for (const batch& batch : loader.epoch(0)) {
    if (batch.index() == 2) break;
  }
  loader.seek(loader.state());
  CHECK(places_of(loader.epoch(0)) == std::vector<place>{{0, 3}, {0, 4}});
  loader.seek(loader.state());
  CHECK(places_of(loader.epoch(1)).size() == 5);
}

TEST_CASE("seek: abandons ranges that were asked for before, and batches that are held stay",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  CAPTURE(to_string(by.through));
  loader loader =
      by.load(make_identity_rows(20, 8), sequential{},
              {.batch_size = 4, .readers = 2, .expert = {.staging_slots = 4, .device_slots = 4}});
  auto under_way = loader.epoch(0, by.stream);
  auto ahead = loader.epoch(1, by.stream);
  recorder record{by.looks()};
  auto held = under_way.next();
  loader.seek(at(loader, 0, 4));
  for (epoch_range* const range : {&under_way, &ahead}) {
    const std::string epoch = range == &ahead ? "1" : "0";
    CHECK(message_of<usage_error>([&] { (void)range->next(); }) ==
          "epoch " + epoch +
              " was abandoned by a later one or by a seek: consume epochs in the order they were "
              "asked for");
  }
  for (batch& batch : loader.epoch(0, by.stream)) record(batch);
  record(*held);
  const auto seen = record.seen();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].samples == std::vector<std::uint64_t>{16, 17, 18, 19});
  CHECK(seen[1].samples == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(all_intact(seen));
}

TEST_CASE("seek: a range that is dropped after it does not change the position", "[loader][host]") {
  loader loader = five_batches();
  {
    auto range = loader.epoch(0);
    CHECK(range.next());
    loader.seek(at(loader, 3, 2));
  }
  CHECK(place_of(loader) == place{3, 2});
  CHECK(places_of(loader.epoch(3)).size() == 3);
}

TEST_CASE("seek: nothing before the position is read", "[loader][host]") {
  std::vector<std::uint64_t> read;
  {
    loader loader{gated(make_identity_rows(20, 8),
                        [&](std::span<const sample_index> samples) {
                          for (const sample_index each : samples) read.push_back(each.value);
                        }),
                  sequential{},
                  make_host_device(),
                  {.batch_size = 4, .readers = 1, .expert = {.staging_slots = 4}}};
    loader.seek(at(loader, 0, 3));
    CHECK(places_of(loader.epoch(0)) == std::vector<place>{{0, 3}, {0, 4}});
  }
  CHECK(read == std::vector<std::uint64_t>{12, 13, 14, 15, 16, 17, 18, 19});
}

TEST_CASE("seek: a loop that begins at another epoch is refused, and may begin at the right one",
          "[loader][host]") {
  loader loader = five_batches();
  loader.seek(at(loader, 3, 2));
  CHECK(message_of<usage_error>([&] { (void)loader.epoch(0); }) ==
        "after loader::seek to batch 2 of epoch 3, epoch 0 was asked for: begin the loop over "
        "epochs at state.epoch");
  CHECK(places_of(loader.epoch(3)).size() == 3);
  CHECK(places_of(loader.epoch(0)).size() == 5);
}

TEST_CASE("seek: a state of something else is refused with both values, and nothing changes",
          "[loader][host]") {
  loader_options options{.batch_size = 4, .shard = {.rank = 1, .world = 2}, .readers = 1};
  options.transforms = {{.field = "note", .scale = 0.5}};
  loader loader{make_identity_rows(20, 8), shuffle{.seed = 1}, make_host_device(), options};
  const loader_state good = loader.state();
  const auto refusal = [&](auto change) {
    loader_state other = good;
    other.epoch = 1;
    change(other);
    std::string message = message_of<usage_error>([&] { loader.seek(other); });
    CHECK(loader.state() == good);
    return message;
  };
  const std::string begin = "loader::seek: the state is of another run: ";
  CHECK(refusal([](loader_state& state) { state.samples = 21; }) ==
        begin +
            "the dataset's samples are 21 in the state, and 20 in this loader; give it the "
            "dataset that the state was taken with");
  CHECK(refusal([](loader_state& state) { state.fields.pop_back(); }) ==
        begin +
            "the dataset's fields are id: uint64[]; row: uint8[8] in the state, and id: "
            "uint64[]; row: uint8[8]; note: uint8[] in this loader; give it the dataset that "
            "the state was taken with");
  CHECK(refusal([](loader_state& state) { state.global_batch = 10; }) ==
        begin +
            "samples in a global batch are 10 in the state, and 8 in this loader; set "
            "loader_options::batch_size to 5 for a world of 2");
  CHECK(refusal([](loader_state& state) { state.global_batch = 9; }) ==
        begin +
            "samples in a global batch are 9 in the state, and 8 in this loader; a world of 2 "
            "does not divide the state's: use a world that does");
  CHECK(refusal([](loader_state& state) { state.positions = 30; }) ==
        begin +
            "positions in an epoch are 30 in the state, and 20 in this loader; give it the "
            "same sampler, with the same seed and options");
  CHECK(refusal([](loader_state& state) {
          state.order = 15;
        }).find(begin + "fingerprints of the order are 000000000000000f in the state, and ") == 0);
  CHECK(refusal([](loader_state& state) { state.partial_batch = partial_batch::drop; }) ==
        begin +
            "policies for a partial batch are drop in the state, and keep in this loader; set "
            "loader_options::partial_batch to the state's");
  CHECK(refusal([](loader_state& state) { state.transform_seed = 7; }) ==
        begin +
            "transform seeds are 7 in the state, and 0 in this loader; set "
            "loader_options::seed to the state's");
  CHECK(refusal([](loader_state& state) { state.transforms.clear(); }) ==
        begin +
            "transforms are none in the state, and note: float32, scale 0.5 in this loader; "
            "set loader_options::transforms and mixing to the state's");
  CHECK(refusal([](loader_state& state) { state.batch = 4; }) ==
        "loader::seek: the state is at batch 4 of epoch 1, and an epoch has 3 batches: say 0 to 3");
}

TEST_CASE("seek: counts of unreadable samples that no run can have are refused, and why",
          "[loader][host]") {
  const auto last = GENERATE(partial_batch::keep, partial_batch::drop);
  loader loader{make_identity_rows(20, 8),
                sequential{},
                make_host_device(),
                {.batch_size = 3,
                 .partial_batch = last,
                 .errors = {.action = error_action::skip, .max_share = 1}}};
  const loader_state good = loader.state();
  const auto refusal = [&](std::uint64_t batch, std::uint64_t unreadable, std::uint64_t skipped) {
    loader_state other = good;
    other.epoch = 5;
    other.batch = batch;
    other.unreadable = unreadable;
    other.skipped = skipped;
    std::string message = message_of<usage_error>([&] { loader.seek(other); });
    CHECK((message == "[nothing was thrown]" || loader.state() == good));
    return message;
  };
  CHECK(refusal(2, 1, 2) ==
        "loader::seek: the state is impossible: before batch 2 of epoch 5, 1 samples could not be "
        "read (unreadable), 2 of them were left out (skipped), which is more: seek with what "
        "loader::state or from_json gave, unchanged");
  CHECK(refusal(0, 1, 0).find("and the epoch has 0 samples before it") != std::string::npos);
  CHECK(refusal(0, 1, 1).find("and the epoch has 0 samples before it") != std::string::npos);
  CHECK(refusal(2, 7, 0).find("and the epoch has 6 samples before it") != std::string::npos);
  CHECK(refusal(2, UINT64_MAX, 4).find("and the epoch has 6 samples before it") !=
        std::string::npos);
  // 15 are left: five batches.
  CHECK(refusal(6, 5, 5).find("and with the others the epoch has 5 batches") != std::string::npos);
  const bool is_refused = refusal(6, 4, 4).find("the epoch has 5 batches") != std::string::npos;
  CHECK(is_refused == (last == partial_batch::drop));
  CHECK(refusal(5, 5, 5) == "[nothing was thrown]");
}

TEST_CASE("seek: a state with an invalid policy for partial batches is refused, and not written",
          "[loader][host]") {
  loader loader = five_batches();
  loader_state state = loader.state();
  state.partial_batch = static_cast<partial_batch>(4);
  const std::string refused =
      "loader_state::partial_batch is 4, which is not a value of its type: say one of keep, drop, "
      "error, fill";
  CHECK(message_of<usage_error>([&] { loader.seek(state); }) == refused);
  CHECK(message_of<usage_error>([&] { (void)to_json(state); }) == refused);
}

TEST_CASE("state: another order has another fingerprint, and the same has the same in every world",
          "[loader][host]") {
  const auto order_of = [](const sampler& order, int world = 1) {
    return loader{
        make_identity_rows(64, 8),
        order,
        make_host_device(),
        {.batch_size = 8 / static_cast<std::uint64_t>(world), .shard = {.rank = 0, .world = world}}}
        .state()
        .order;
  };
  CHECK(order_of(shuffle{.seed = 1}) == order_of(shuffle{.seed = 1}, 8));
  CHECK(order_of(shuffle{.seed = 1}) != order_of(shuffle{.seed = 2}));
  CHECK(order_of(shuffle{.seed = 1}) != order_of(sequential{}));
}

TEST_CASE(
    "state: a schedule that differs in a late epoch alone is refused, also at an epoch's "
    "beginning",
    "[loader][host]") {
  const auto with = [](double last_weight, std::uint64_t global_batch = 8, int world = 1) {
    const scheduled_mixture order{std::vector<std::uint64_t>{40, 24},
                                  {{0, {1, 1}}, {300, {1, 1}}, {500, {1, last_weight}}},
                                  {.seed = 1}};
    return loader{make_identity_rows(64, 8),
                  order,
                  make_host_device(),
                  {.batch_size = global_batch / static_cast<std::uint64_t>(world),
                   .shard = {.rank = 0, .world = world}}};
  };
  loader first = with(2);
  loader_state state = first.state();
  state.epoch = 3;
  for (const std::uint64_t batch : {0U, 2U}) {
    state.batch = batch;
    with(2).seek(state);
    with(2, 8, 4).seek(state);
    loader other = with(3);
    CHECK(message_of<usage_error>([&] {
            other.seek(state);
          }).find("loader::seek: the state is of another run: fingerprints of the order are") == 0);
  }
}
