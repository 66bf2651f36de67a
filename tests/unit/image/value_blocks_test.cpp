/// Tests images that follow one another in an array, as a device decodes them.

#include <feedline/dataset/zip.hpp>
#include <feedline/ragged/decode.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/datasets/ragged_samples.hpp"
#include "unit/image/decoded_images.hpp"

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Images beside their numbers. @param cut One of which the second half is missing.
dataset_ptr image_values(std::optional<std::uint32_t> cut = {}) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> lengths;
  for (std::uint32_t i = 0; i < images; ++i) {
    auto file = image_file(i);
    if (i == cut) file.resize(file.size() / 2);
    for (const std::byte byte : file) bytes.push_back(std::to_integer<std::uint8_t>(byte));
    lengths.push_back(file.size());
  }
  std::vector<std::int32_t> numbers(images);
  std::iota(numbers.begin(), numbers.end(), 0);
  return zip({decode(make_ragged_dataset(own("image", std::move(bytes)),
                                         own("offset", offsets_of(lengths))),
                     make_image_decoder(small)),
              make_memory_dataset({own("label", std::move(numbers))})});
}

}  // namespace

TEST_CASE("image values: those that devices take come as they are, others as rows",
          "[dataset][host]") {
  const dataset_ptr data = image_values();
  check_encoded(*data);
  for (std::uint32_t i = 0; i < images; ++i) {
    CHECK(given(data, i).skipped == (is_for_readers(i) ? 1 : 0));
    if (!is_for_readers(i)) CHECK(stored_bytes(*data->encoded(), 0, i) == image_file(i));
  }
}

TEST_CASE("values decoded on a device: batches and errors are those that readers make",
          "[loader][host]") {
  const loader_options options{.batch_size = 7, .readers = GENERATE(0, 3)};
  check_same(image_values(), shuffle{.seed = 4}, options);
  for (const std::uint32_t bad : {1U, 14U}) {
    const dataset_ptr data = image_values(bad);
    check_same(data, shuffle{.seed = 4}, options);
    const run seen = deliver(data, decode_on::device, shuffle{.seed = 4}, options);
    REQUIRE(seen.error);
    CHECK(contains(*seen.error, "field 'image', sample " + std::to_string(bad)));
  }
}
