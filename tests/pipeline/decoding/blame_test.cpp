/// Tests the error for a block that the device lacks, but the CPU can read: after a disk that
/// failed once, or with a decoder that takes less than the CPU's.

#include "pipeline/decoding/loading.hpp"
#include "support/checks/contains.hpp"

#include <cstdint>
#include <memory>
#include <string>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t rows = 10;
constexpr std::uint64_t batch_size = 5;

/// The error of an epoch in which blocks 12 and up are bad, but none of their samples is.
std::string error_of(encoded_script& script, int readers) {
  const std::shared_ptr<encoded_script> shared{&script, [](encoded_script*) {}};
  script.samples_are_whole = true;
  const run_result seen = deliver(
      decode_on::device, rows, sequential{},
      {.batch_size = batch_size, .readers = readers, .expert = {.batches_per_slot = 1}}, shared, 1);
  CHECK(in_order_and_intact(seen.batches));
  CHECK(seen.batches.size() == 12 * rows / batch_size);
  REQUIRE(seen.error);
  CHECK(seen.error->find("epoch 0, batch 24") != std::string::npos);
  return *seen.error;
}

}  // namespace

TEST_CASE("blame: the error for a block whose read failed once has that read's message",
          "[loader][host]") {
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  encoded_script script;
  for (std::uint64_t block = 12; block < blocks_of(rows); ++block) script.unreadable.insert(block);
  const std::string error = error_of(script, readers);
  CAPTURE(error);
  CHECK(contains(error, "sample 120"));
  CHECK(contains(error, "the disk is gone"));
}

TEST_CASE("blame: the error for a block that only the device cannot decode says so",
          "[loader][host]") {
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  encoded_script script;
  for (std::uint64_t block = 12; block < blocks_of(rows); ++block) script.damaged.insert(block);
  const std::string error = error_of(script, readers);
  CAPTURE(error);
  CHECK(contains(error, "sample 120"));
  CHECK(contains(error,
                 "did not decode the sample's block, but the CPU does: set "
                 "loader_options::decode_on to cpu"));
}
