/// Hints: datasets on slow storage learn which samples will be read, some way ahead, once.

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "io/far_reads.hpp"
#include "staging/request_layout.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/hinted_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t samples = 500;

/// Batches of 8, 4 of them a slot, requests of 3 samples.
const loader_options small{
    .batch_size = 8,
    .expert = {.batches_per_slot = 4, .request_bytes = 3 * 25, .staging_slots = 3}};

std::shared_ptr<const hinted_dataset> hinted() {
  return std::make_shared<const hinted_dataset>(make_identity_rows(samples, 16));
}

loader_options with(int readers) {
  loader_options options = small;
  options.readers = readers;
  return options;
}

std::uint64_t take_all(loader& from, std::uint64_t epoch, stream_ref stream) {
  std::uint64_t batches = 0;
  auto range = from.epoch(epoch, stream);
  while (range.next()) ++batches;
  return batches;
}

std::vector<std::uint64_t> order_of(const sampler& order, std::uint64_t epoch) {
  std::vector<sample_index> indices(order.size(samples));
  order.indices(samples, epoch, position{0}, indices);
  std::vector<std::uint64_t> numbers;
  for (const sample_index index : indices) numbers.push_back(index.value);
  return numbers;
}

/// The order of another sampler, except for a position where it fails.
struct failing_order {
  std::uint64_t bad;

  std::uint64_t size(std::uint64_t count) const { return count; }
  void indices(std::uint64_t, std::uint64_t, position first, std::span<sample_index> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (first.value + i == bad) throw std::runtime_error{"no such order"};
      out[i] = {first.value + i};
    }
  }
};

}  // namespace

TEST_CASE("hints: every sample of an epoch is hinted exactly once, with any number of readers",
          "[reader][host]") {
  const path_setup by{GENERATE(data_path::in_place, data_path::stream, data_path::transformed,
                               data_path::resident)};
  const int readers = GENERATE(0, 1, 4);
  const auto last = GENERATE(partial_batch::keep, partial_batch::drop);
  CAPTURE(to_string(by.through), readers);
  const auto data = hinted();
  loader_options options = with(readers);
  options.partial_batch = last;
  const sampler order = shuffle{.seed = 7};
  loader loader = by.load(data, order, options);
  (void)take_all(loader, 3, by.stream);
  auto expected = order_of(order, 3);
  expected.resize(last == partial_batch::keep ? 500 : 496);
  auto seen = data->hints();
  std::sort(seen.begin(), seen.end());
  std::sort(expected.begin(), expected.end());
  CHECK(seen == expected);
}

TEST_CASE(
    "hints: they come in the epoch's order, at least a slot and two batches ahead of the read",
    "[reader][host]") {
  const std::uint64_t batches_per_slot = GENERATE(1U, 4U);
  const auto data = hinted();
  loader_options options = with(0);
  options.expert.batches_per_slot = batches_per_slot;
  const sampler order = shuffle{.seed = 7};
  loader loader{data, order, make_host_device(), options};
  (void)take_all(loader, 1, {});
  CHECK(data->hints() == order_of(order, 1));
  const std::uint64_t ahead = 8 * std::max(batches_per_slot, std::uint64_t{2});
  const auto& reads = data->reads();
  REQUIRE(reads.size() == samples);
  for (std::size_t place = 0; place < reads.size(); ++place) {
    CHECK(reads[place].hints >= std::min(place + 1 + ahead, samples));
    CHECK(reads[place].hints <= place + ahead + 2 * 3);  // and no further than that
  }
}

TEST_CASE("hints: an epoch that is known to come is hinted like the one before", "[reader][host]") {
  const auto data = hinted();
  loader_options options = with(GENERATE(0, 2));
  options.epochs = 3;
  loader loader{data, shuffle{.seed = 7}, make_host_device(), options};
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) (void)take_all(loader, epoch, {});
  std::vector<std::uint64_t> times(samples);
  for (const std::uint64_t sample : data->hints()) ++times[sample];
  CHECK(times == std::vector<std::uint64_t>(samples, 3));
}

TEST_CASE("hints: near an epoch's end they continue in the epoch that is known to follow",
          "[reader][host]") {
  const path_setup by{GENERATE(data_path::in_place, data_path::stream, data_path::transformed)};
  CAPTURE(to_string(by.through));
  const auto data = hinted();
  loader_options options = with(0);
  options.epochs = 3;
  const sampler order = shuffle{.seed = 7};
  loader loader = by.load(data, order, options);
  const auto hinted_after = [&](std::size_t first) {
    return std::vector<std::uint64_t>(data->hints().begin() + static_cast<std::ptrdiff_t>(first),
                                      data->hints().end());
  };
  const auto begin_of = [&](std::uint64_t epoch) {
    auto begin = order_of(order, epoch);
    begin.resize(32);  // a slot of four batches: the distance
    return begin;
  };
  (void)take_all(loader, 0, by.stream);
  CHECK(hinted_after(samples) == begin_of(1));
  SECTION("the epoch comes, and then the last one") {
    (void)take_all(loader, 1, by.stream);
    CHECK(hinted_after(2 * samples) == begin_of(2));
    (void)take_all(loader, 2, by.stream);
    CHECK(data->hints().size() == 3 * samples);
  }
  SECTION("another one comes: no more than the distance was hinted in vain") {
    const std::size_t before = data->hints().size();
    (void)take_all(loader, 2, by.stream);
    CHECK(hinted_after(before) == order_of(order, 2));
  }
  SECTION("a seek leads elsewhere, and the epoch after it is hinted from its beginning") {
    loader_state state = loader.state();
    state.epoch = 1;
    state.batch = 60;
    loader.seek(state);
    const std::size_t before = data->hints().size();
    (void)take_all(loader, 1, by.stream);
    auto expected = order_of(order, 1);
    expected.erase(expected.begin(), expected.begin() + 60 * 8);
    const auto next = begin_of(2);
    expected.insert(expected.end(), next.begin(), next.end());
    CHECK(hinted_after(before) == expected);
  }
}

TEST_CASE("hints: an epoch that may not come is not hinted", "[reader][host]") {
  const auto data = hinted();
  loader loader{data, shuffle{.seed = 7}, make_host_device(), with(0)};  // how many is not known
  (void)take_all(loader, 0, {});
  CHECK(data->hints().size() == samples);
}

TEST_CASE("hints: if none are wanted none are given, at one question a request", "[reader][host]") {
  const auto data = hinted();
  data->wanted = false;
  loader loader{data, sequential{}, make_host_device(), with(GENERATE(0, 2))};
  const std::uint64_t batches = take_all(loader, 0, {});
  CHECK(data->hints().empty());
  const detail::request_layout cut{loader.plan().batch_size, loader.plan().request_samples};
  CHECK(data->asked == batches / 4 * cut.requests(32) + cut.requests(samples % 32));
}

TEST_CASE("hints: wanted in mid-epoch, they begin there", "[reader][host]") {
  const auto data = hinted();
  auto& wanted = data->wanted;
  wanted = false;
  loader loader{data, sequential{}, make_host_device(), with(0)};
  auto range = loader.epoch(0);
  for (int i = 0; i < 40; ++i) (void)range.next();
  wanted = true;
  while (range.next()) {
  }
  const auto& hints = data->hints();
  REQUIRE_FALSE(hints.empty());
  CHECK(hints.front() >= 40 * 8 - 3 * 32);  // the ring's largest content
  CHECK(hints.front() <= 40 * 8 + 32);
  CHECK(hints.back() == samples - 1);
  CHECK(std::set(hints.begin(), hints.end()).size() == hints.size());
}

TEST_CASE("hints: rows that the device holds are not hinted", "[reader][host]") {
  const path_setup by{GENERATE(data_path::cached_half, data_path::cached_few, data_path::resident)};
  CAPTURE(to_string(by.through));
  const auto data = hinted();
  loader loader = by.load(data, shuffle{.seed = 7}, with(0));
  (void)take_all(loader, 0, by.stream);
  REQUIRE(data->hints().size() == samples);
  REQUIRE(data->reads().size() == samples);
  (void)take_all(loader, 1, by.stream);
  std::vector<std::uint64_t> read;
  for (std::size_t i = samples; i < data->reads().size(); ++i)
    read.push_back(data->reads()[i].sample);
  const auto& hints = data->hints();
  CHECK(std::vector<std::uint64_t>(hints.begin() + samples, hints.end()) == read);
  CHECK(read.size() < samples);
}

TEST_CASE("hints: blocks that the device decodes are hinted in their order if storage is far",
          "[reader][host]") {
  const scripted on;
  const auto data =
      std::make_shared<const hinted_dataset>(make_encoded(make_identity_rows(samples, 16), 1));
  loader_options options = with(0);
  options.placement = placement::stream;
  options.decode_on = decode_on::device;
  options.epochs = 2;
  const sampler order = shuffle{.seed = 7};
  loader loader{data, order, on.device, options};
  REQUIRE(loader.plan().decode_on == decode_on::device);
  struct far_storage {
    explicit far_storage(std::uint64_t bytes) { detail::set_far_hint_bytes(bytes); }
    ~far_storage() { detail::set_far_hint_bytes(0); }
  };
  const far_storage far{1000};
  auto range = loader.epoch(0, on.stream);
  REQUIRE(range.next());
  const std::size_t at_first = data->hints().size();
  CHECK(at_first > 8);
  CHECK(at_first < samples);
  while (range.next()) {
  }
  auto expected = order_of(order, 0);
  const std::size_t hinted = data->hints().size();
  REQUIRE(hinted > samples);  // some of the next epoch
  REQUIRE(hinted < 2 * samples);
  (void)take_all(loader, 1, on.stream);
  const auto next = order_of(order, 1);
  expected.insert(expected.end(), next.begin(), next.end());
  CHECK(data->hints() == expected);
  CHECK(data->reads().empty());
}

TEST_CASE("hints: none are given if the device decodes blocks, because no samples are read",
          "[reader][host]") {
  const scripted on;
  const auto data =
      std::make_shared<const hinted_dataset>(make_encoded(make_identity_rows(samples, 16), 1));
  loader_options options = with(GENERATE(0, 2));
  options.placement = placement::stream;
  options.decode_on = decode_on::device;
  loader loader{data, sequential{}, on.device, options};
  REQUIRE(loader.plan().decode_on == decode_on::device);
  (void)take_all(loader, 0, on.stream);
  CHECK(data->hints().empty());
  CHECK(data->reads().empty());
}

TEST_CASE("hints: a sampler that fails ahead is heard when its samples are read, not before",
          "[reader][host]") {
  const auto data = hinted();
  loader loader{data, failing_order{203}, make_host_device(), with(0)};
  auto range = loader.epoch(0);
  std::uint64_t batches = 0;
  try {
    while (range.next()) ++batches;
    FAIL("nothing was thrown");
  } catch (const stage_error& error) {
    CHECK(std::string{error.what()}.find("no such order") != std::string::npos);
  }
  CHECK(batches == 203 / 8);
}

TEST_CASE("hints: after a seek no sample before its position is hinted, and later ones are once",
          "[reader][host]") {
  const path_setup by{GENERATE(data_path::in_place, data_path::stream, data_path::transformed)};
  const int readers = GENERATE(0, 3);
  CAPTURE(to_string(by.through), readers);
  const auto data = hinted();
  loader loader = by.load(data, sequential{}, with(readers));
  loader_state state = loader.state();
  state.batch = 10;
  loader.seek(state);
  CHECK(take_all(loader, 0, by.stream) == 53);
  auto seen = data->hints();
  std::sort(seen.begin(), seen.end());
  std::vector<std::uint64_t> expected(420);
  std::iota(expected.begin(), expected.end(), 80);
  CHECK(seen == expected);
}
