#include "loader/plan/placement_choice.hpp"

#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "dataset/held_rows.hpp"
#include "staging/device_row_cache.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::detail::device_row_cache;
using feedline::detail::held_rows;
using feedline::detail::placement_choice;

namespace {

const device_capabilities in_place{.name = "host", .reads_staging = true};
const device_capabilities with_copies{.name = "gpu"};

/// A dataset of any size that tells what a test says, with nothing to read.
struct told_dataset final : dataset {
  std::uint64_t samples = 100;
  std::vector<field> specs{{"image", element_type::u8, {28, 28}}, {"label", element_type::u8, {}}};
  std::vector<std::span<const std::byte>> lying = {};
  bool varies = false;

  std::uint64_t size() const override { return samples; }
  std::vector<field> fields() const override { return specs; }
  void do_read(const read_request&) const override {}
  std::vector<std::span<const std::byte>> rows() const override { return lying; }
  bool varies_by_epoch() const override { return varies; }
};

/// Rows of 784 and of 1 bytes: the room that this many take.
std::size_t room(std::uint64_t rows) {
  const std::vector<std::size_t> row_bytes{784, 1};
  return device_row_cache::bytes(row_bytes, rows);
}

placement_choice choose_placement(const dataset& data, const device_capabilities& device,
                                  const loader_options& options) {
  return detail::choose_placement(data, device, options, detail::row_bytes_of(data));
}

placement_choice choose(placement wanted, std::size_t budget, std::uint64_t samples = 100,
                        const device_capabilities& device = with_copies) {
  told_dataset data;
  data.samples = samples;
  return choose_placement(data, device, {.placement = wanted, .memory = {.cache = budget}});
}

std::string refusal(placement wanted, std::size_t budget, std::uint64_t samples = 100) {
  return test::message_of<usage_error>([&] { (void)choose(wanted, budget, samples); });
}

void check(const placement_choice& have, placement where, std::uint64_t rows, std::size_t bytes) {
  CHECK(have.placement == where);
  CHECK(have.cached_samples == rows);
  CHECK(have.cache_bytes == bytes);
}

}  // namespace

TEST_CASE("placement choice: stream keeps nothing, whatever the budget", "[loader][host]") {
  check(choose(placement::stream, std::size_t{1} << 40), placement::stream, 0, 0);
}

TEST_CASE("placement choice: if staging is read in place all are stream, with no condition",
          "[loader][host]") {
  const auto wanted = GENERATE(placement::automatic, placement::stream, placement::gather,
                               placement::resident, placement::cached);
  check(choose(wanted, 1, 100, in_place), placement::stream, 0, 0);
}

TEST_CASE("placement choice: by size against the budget, to the byte", "[loader][host]") {
  const auto automatic = [](std::size_t budget) { return choose(placement::automatic, budget); };
  check(automatic(0), placement::stream, 0, 0);
  check(automatic(room(1) - 1), placement::stream, 0, 0);
  check(automatic(room(1)), placement::cached, 1, room(1));
  check(automatic(room(50)), placement::cached, 50, room(50));
  check(automatic(room(100) - 1), placement::cached, 99, room(99));
  check(automatic(room(100)), placement::resident, 100, room(100));
  check(automatic(std::numeric_limits<std::size_t>::max()), placement::resident, 100, room(100));
}

TEST_CASE("placement choice: a budget holds as many rows as fit, never one more",
          "[loader][host]") {
  for (std::size_t budget = room(1); budget < room(100) + 1'000; budget += 97) {
    const placement_choice choice = choose(placement::automatic, budget);
    CAPTURE(budget, choice.cached_samples);
    REQUIRE(choice.cache_bytes == room(choice.cached_samples));
    REQUIRE(choice.cache_bytes <= budget);
    REQUIRE((choice.cached_samples == 100 || room(choice.cached_samples + 1) > budget));
  }
}

TEST_CASE("placement choice: resident takes the memory that it needs, up to the budget",
          "[loader][host]") {
  check(choose(placement::resident, 0), placement::resident, 100, room(100));
  check(choose(placement::resident, room(100)), placement::resident, 100, room(100));
  CHECK(refusal(placement::resident, room(100) - 1) ==
        "loader_options::placement is resident, but memory.cache is 78847, too small for "
        "the "
        "dataset; its 100 samples take 78848 bytes: raise it, or choose placement::cached");
}

TEST_CASE("placement choice: cached needs a budget of a row or more", "[loader][host]") {
  check(choose(placement::cached, room(1)), placement::cached, 1, room(1));
  check(choose(placement::cached, room(100) - 1), placement::cached, 99, room(99));
  check(choose(placement::cached, room(100)), placement::resident, 100, room(100));
  CHECK(refusal(placement::cached, 0) ==
        "loader_options::placement is cached, but memory.cache is 0: say how much device "
        "memory "
        "rows may take; its 100 samples take 78848 bytes");
  CHECK(refusal(placement::cached, room(1) - 1) ==
        "loader_options::placement is cached, but memory.cache is 1279, too small for a "
        "single "
        "sample; its 100 samples take 78848 bytes");
}

TEST_CASE("placement choice: more samples than a table can number are streamed, or refused",
          "[loader][host]") {
  constexpr std::uint64_t most = (std::uint64_t{1} << 31) - 1;
  const std::size_t plenty = std::numeric_limits<std::size_t>::max();
  CHECK(choose(placement::automatic, plenty, most).placement == placement::resident);
  CHECK(choose(placement::automatic, plenty, most + 1).placement == placement::cached);
  CHECK(choose(placement::automatic, plenty, most + 1).cached_samples == most);
  CHECK(choose(placement::resident, 0, most).cached_samples == most);
  for (const auto wanted : {placement::gather, placement::resident, placement::cached}) {
    CHECK(refusal(wanted, plenty, most + 1) ==
          "loader_options::placement is " + std::string{to_string(wanted)} +
              ", which can number 2147483647 samples at most, but the dataset has 2147483648: "
              "choose placement::stream");
  }
}

TEST_CASE("placement choice: gather is for rows that lie in memory", "[loader][host]") {
  const auto lying = test::make_identity_rows(10, 8);
  // All its fields are small: copied into device memory, 80, 80 and 10 bytes.
  check(choose_placement(*lying, with_copies, {.placement = placement::gather}), placement::gather,
        10, 3 * 256);
  CHECK(refusal(placement::gather, 0) ==
        "loader_options::placement is gather, but the dataset has no rows in memory for the device "
        "to fetch: load it into one that has (make_memory_dataset), or choose another placement");
}

TEST_CASE("placement choice: rows that do not match fields and size are refused",
          "[loader][host]") {
  told_dataset data;
  const std::vector<std::byte> images(100 * 784);
  const std::vector<std::byte> labels(100);
  const auto told = [&](std::vector<std::span<const std::byte>> rows) {
    data.lying = std::move(rows);
    return test::message_of<usage_error>(
        [&] { (void)choose_placement(data, with_copies, {.placement = placement::gather}); });
  };
  CHECK(told({std::span{images}}) ==
        "the dataset's rows() has 1 spans, but fields() has 2: it must have one for each field");
  CHECK(told({std::span{images}, std::span{labels}.first(99)}) ==
        "the dataset's rows() has 99 bytes for label: uint8[], but its 100 samples take 100");
  data.lying = {std::span{images}, std::span{labels}.first(99)};
  const dataset_ptr unowned{std::shared_ptr<void>{}, &data};
  CHECK(test::message_of<usage_error>([&] {  // where the device keeps no rows, too
          loader{unowned, sequential{}, make_host_device(), {.batch_size = 10}};
        }) == "the dataset's rows() has 99 bytes for label: uint8[], but its 100 samples take 100");
  data.lying = {std::span{images}, std::span{labels}};
  CHECK(held_rows{data}.fields().size() == 2);
  CHECK_NOTHROW(choose_placement(data, with_copies, {.placement = placement::gather}));
}

TEST_CASE("placement choice: rows that differ between epochs are not held", "[loader][host]") {
  told_dataset data;
  const std::vector<std::byte> images(100 * 784);
  data.lying = {std::span{images}, std::span{images}.first(100)};
  data.varies = true;
  CHECK(held_rows{data}.empty());
}

TEST_CASE("placement choice: an empty dataset is streamed, for the plan to refuse",
          "[loader][host]") {
  check(choose(placement::resident, 0, 0), placement::stream, 0, 0);
}
