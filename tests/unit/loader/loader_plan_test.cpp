#include <feedline/loader/loader_plan.hpp>

#include "support/checks/catch.hpp"

using namespace feedline;

namespace {

loader_plan mnist_plan() {
  loader_plan plan;
  plan.batch_size = 64;
  plan.batches_per_epoch = 938;
  plan.batches_per_slot = 166;
  plan.slot_bytes = std::size_t{8} << 20;
  plan.device_slot_bytes = plan.slot_bytes;
  plan.staging_slots = 4;
  plan.staging_bytes = std::size_t{32} << 20;
  plan.readers = 8;
  return plan;
}

}  // namespace

TEST_CASE("loader plan: its line says slots, sizes and totals", "[loader][host]") {
  loader_plan plan = mnist_plan();
  plan.device_slots = 3;
  plan.device_bytes = std::size_t{24} << 20;
  CHECK(to_string(plan) ==
        "938 batches of 64 an epoch, 166 a slot; staging 4 × 8.0 MiB = 32.0 MiB, device 3 × 8.0 "
        "MiB = 24.0 MiB; 8 readers");
}

TEST_CASE("loader plan: its line says in how many pieces a large batch comes", "[loader][host]") {
  loader_plan plan = mnist_plan();
  plan.piece_samples = 166 * 64;
  CHECK(to_string(plan).find("166 a slot; staging") != std::string::npos);
  plan.batches_per_slot = 1;
  plan.piece_samples = 13;
  CHECK(to_string(plan).find("1 a slot, in 5 pieces; staging") != std::string::npos);
}

TEST_CASE("loader plan: its line says when batches are read in place", "[loader][host]") {
  loader_plan plan = mnist_plan();
  plan.readers = 1;
  CHECK(to_string(plan) ==
        "938 batches of 64 an epoch, 166 a slot; staging 4 × 8.0 MiB = 32.0 MiB, read in place; 1 "
        "reader");
}

TEST_CASE(
    "loader plan: its line names device memory besides slots, and the number of cached samples",
    "[loader][host]") {
  loader_plan plan = mnist_plan();
  plan.placement = placement::cached;
  plan.cached_samples = 30'000;
  plan.device_slots = 3;
  plan.destination_bytes = std::size_t{16} << 20;
  plan.cache_bytes = std::size_t{23} << 20;
  plan.device_bytes = std::size_t{63} << 20;
  CHECK(to_string(plan) ==
        "938 batches of 64 an epoch, 166 a slot; staging 4 × 8.0 MiB = 32.0 MiB, device 3 × 8.0 "
        "MiB + passing 16.0 MiB + cached rows 23.0 MiB = 63.0 MiB; cached, 30000 samples kept; 8 "
        "readers");
}

TEST_CASE("loader plan: its line says where slots grow", "[loader][host]") {
  loader_plan plan = mnist_plan();
  plan.slots_grow = true;
  CHECK(to_string(plan) ==
        "938 batches of 64 an epoch, 1 to 166 a slot; staging 4 × 8.0 MiB = 32.0 MiB, read in "
        "place; 8 readers");
}

TEST_CASE("loader plan: its line says who decodes, and why readers do or do a part",
          "[loader][host]") {
  loader_plan plan = mnist_plan();
  plan.decode_note = "it decodes no blocks";
  CHECK(to_string(plan).find("; not decoded by the device: it decodes no blocks; 8 readers") !=
        std::string::npos);
  plan.decode_on = decode_on::device;
  plan.decoded_at_once = 512;
  plan.decoded_fields = {"image"};
  plan.decode_note = "readers decode chunks";
  CHECK(to_string(plan).find(
            "; the device decodes image, up to 512 blocks at once; readers decode chunks; 8 "
            "readers") != std::string::npos);
}

TEST_CASE("loader plan: its line says how many cores the threads run on, if not on any",
          "[loader][host]") {
  loader_plan plan = mnist_plan();
  CHECK(to_string(plan).find("core") == std::string::npos);
  plan.cores = {0, 1, 2, 3, 8, 9, 10, 11};
  CHECK(to_string(plan).find("; 8 readers; on the 8 cores near the device") != std::string::npos);
}
