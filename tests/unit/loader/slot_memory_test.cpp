#include "loader/plan/slot_memory.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "transfer/assembling_transfer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

const std::vector<field> mnist{{"image", element_type::u8, {28, 28}},
                               {"label", element_type::u8, {}}};

slot_memory sizes(placement where, double cached,
                  const loader_options& options = {.batch_size = 64}, bool reads_staging = false) {
  return {mnist, options, where, cached, reads_staging};
}

loader_options converting() {
  return {.batch_size = 64, .transforms = {{.field = "image"}}};
}

}  // namespace

TEST_CASE(
    "slot memory: slots are assembled where rows are cached or converted, never where they are "
    "read in place",
    "[loader][host]") {
  CHECK_FALSE(sizes(placement::stream, 0).assembled());
  CHECK(sizes(placement::stream, 0, converting()).assembled());
  for (const auto where : {placement::gather, placement::resident, placement::cached})
    CHECK(sizes(where, 0.5).assembled());
  CHECK_FALSE(sizes(placement::stream, 0, converting(), true).assembled());
  CHECK(sizes(placement::stream, 0, converting(), true).in_place());
}

TEST_CASE("slot memory: a user's function needs memory between assembly and slot, on any device",
          "[loader][host]") {
  loader_options options = converting();
  options.expert.batch_transform =
      batch_transform{.fields = {{"x", element_type::f64, {10}}}, .run = {}};
  slot_memory made = sizes(placement::stream, 0, options, true);
  made.settle(3);
  CHECK_FALSE(made.in_place());
  CHECK(made.assembled());
  CHECK(made.delivered().slot_bytes(3) == 3 * 64 * 80);
  CHECK(made.device_bytes(3) == made.delivered().slot_bytes(3));
  CHECK(made.converted().slot_bytes(3) == 3 * (64 * 784 * 4 + 256));
  CHECK(made.destination_bytes(3) ==
        assembling_transfer::copy_destinations * made.copy_destination().slot_bytes() +
            made.converted().slot_bytes(3));
}

TEST_CASE("slot memory: bytes cross as the dataset has them, and are delivered as floats",
          "[loader][host]") {
  slot_memory made = sizes(placement::stream, 0, converting());
  made.settle(2);
  CHECK(made.rows().slot_bytes(2) == 2 * (64 * 784 + 256));
  CHECK(made.device_bytes(2) == 2 * (64 * 784 * 4 + 256));
  CHECK(made.staging_bytes(2) == made.copy_destination().slot_bytes());
  CHECK(made.staging_bytes(2) < made.rows().slot_bytes(2) + 4'096);
  CHECK(made.destination_bytes(2) ==
        assembling_transfer::copy_destinations * made.staging_bytes(2));
}

TEST_CASE("slot memory: rows that are gathered and then converted pass through copy destinations",
          "[loader][host]") {
  const auto destination = [](placement where, const loader_options& options) {
    const slot_memory made = sizes(where, 1, options);
    return made.destination_bytes(2) -
           assembling_transfer::copy_destinations * made.staging_bytes(2);
  };
  CHECK(destination(placement::gather, converting()) ==
        assembling_transfer::copy_destinations * 2 * 64 * 784);
  CHECK(destination(placement::gather, {.batch_size = 64}) == 0);
  CHECK(destination(placement::resident, converting()) == 0);
  const auto cropped = [](std::uint64_t side) {
    return loader_options{
        .batch_size = 64,
        .transforms = {{.field = "image", .layout = image_layout::hwc, .crop = {{side, side}}}}};
  };
  CHECK(destination(placement::gather, cropped(20)) != 0);
  CHECK(destination(placement::gather, cropped(19)) == 0);
  CHECK(destination(placement::gather, {.batch_size = 64,
                                        .transforms = {{.field = "image",
                                                        .layout = image_layout::hwc,
                                                        .resize = {{14, 14}}}}}) == 0);
  CHECK(destination(placement::gather, {.batch_size = 64, .transforms = {{.field = "label"}}}) ==
        0);
}

TEST_CASE("slot memory: the largest form of a batch counts, be it read, converted or delivered",
          "[loader][host]") {
  const auto largest = [](const loader_options& options, bool reads_staging) {
    return sizes(placement::stream, 0, options, reads_staging).largest_batch_bytes();
  };
  for (const bool reads_staging : {true, false}) {
    CHECK(largest({.batch_size = 64}, reads_staging) == 64 * 784 + 256);
    CHECK(largest(converting(), reads_staging) == 64 * 784 * 4 + 256);
    loader_options options = converting();
    options.expert.batch_transform =
        batch_transform{.fields = {{"x", element_type::f64, {10}}}, .run = {}};
    CHECK(largest(options, reads_staging) == 64 * 784 * 4 + 256);
    options.expert.batch_transform->fields.front().shape = {1000};
    CHECK(largest(options, reads_staging) == 64 * 1000 * 8);
  }
}

TEST_CASE("slot memory: a reader that converts takes requests by the size that it writes",
          "[loader][host]") {
  const auto samples_of = [](const loader_options& options, bool reads_staging) {
    return sizes(placement::stream, 0, options, reads_staging).requests(50).request_samples();
  };
  CHECK(samples_of({.batch_size = 64}, true) == 10 * 64);  // 512 KiB of 785 bytes
  CHECK(samples_of(converting(), true) == 2 * 64);         // samples of 3137 bytes
  CHECK(samples_of(converting(), false) == 10 * 64);       // the device converts
}

TEST_CASE("slot memory: a slot that is copied whole has one form and passes through nothing",
          "[loader][host]") {
  const slot_memory made = sizes(placement::stream, 0);
  CHECK(made.staging_bytes(5) == made.device_bytes(5));
  CHECK(made.destination_bytes(5) == 0);
  CHECK(sizes(placement::stream, 0, {.batch_size = 64}, true).device_bytes(5) == 0);
}

TEST_CASE("slot memory: a part of a batch holds whole pairs where samples are mixed",
          "[loader][host]") {
  for (std::uint64_t batch_size = 1; batch_size < 40; ++batch_size) {
    for (std::size_t samples = 1; samples < 40; ++samples) {
      loader_options options = converting();
      options.batch_size = batch_size;
      options.expert.piece_bytes = samples * 785;
      const std::uint64_t apart = sizes(placement::stream, 0, options).piece_samples(1);
      options.mixing = mixing{.image = "image", .mixup_alpha = 1};
      const std::uint64_t pairs = sizes(placement::stream, 0, options).piece_samples(1);
      CAPTURE(batch_size, samples, apart, pairs);
      REQUIRE(pairs <= std::max<std::uint64_t>(samples, 2));
      REQUIRE((pairs % 2 == 0 || pairs == batch_size));
      REQUIRE((apart < batch_size || pairs == batch_size));
      // Tickets are cut by the same arithmetic.
      const request_layout pieces{batch_size, pairs};
      REQUIRE(pieces.run_samples() == pairs);
      REQUIRE(pieces.runs(batch_size) == (batch_size + pairs - 1) / pairs);
    }
  }
}

TEST_CASE("slot memory: if all rows lie with the device a staging slot is its tables",
          "[loader][host]") {
  CHECK(sizes(placement::gather, 1).staging_bytes(100) < 100 * 64 * 8);
  // Resident ones pass once, so there must be room for them.
  CHECK(sizes(placement::resident, 1).staging_bytes(100) > 100 * 64 * 785);
}

TEST_CASE(
    "slot memory: requests are larger if little of them is read, and as set if the option is set",
    "[loader][host]") {
  const std::uint64_t streamed = sizes(placement::stream, 0).requests(400).request_samples();
  const std::uint64_t cached = sizes(placement::cached, 0.75).requests(400).request_samples();
  CHECK(streamed == (512U << 10) / 785 / 64 * 64);
  CHECK(cached == (4 * (512U << 10) / 785) / 64 * 64);
  CHECK(sizes(placement::gather, 1).requests(400).request_samples() == 400 * 64);
  for (const auto where : {placement::gather, placement::resident, placement::cached}) {
    const auto said = sizes(where, 0.5, {.batch_size = 64, .expert = {.request_bytes = 10 * 785}});
    CHECK(said.requests(400).request_samples() == 10);
  }
  CHECK(sizes(placement::resident, 1, {.batch_size = 1}).requests(1).request_samples() == 1);
}
