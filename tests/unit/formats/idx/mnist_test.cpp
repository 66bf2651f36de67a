#include <feedline/formats/idx.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/test_data.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;

namespace {

/// Facts about the published files, from other readers.
struct known_set {
  std::string prefix;
  std::uint64_t samples;
  std::array<std::uint64_t, 10> label_counts;
  double pixel_mean;
};

const known_set train{"train",
                      60000,
                      {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
                      33.318421449829934};
const known_set test10k{
    "t10k", 10000, {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}, 33.791224489795916};

}  // namespace

TEST_CASE("mnist: the published files hold the labels and pixels that they are known to hold",
          "[dataset][host][data]") {
  const known_set known = GENERATE(train, test10k);
  const auto images = test::find_test_data("mnist/" + known.prefix + "-images-idx3-ubyte.gz");
  const auto labels = test::find_test_data("mnist/" + known.prefix + "-labels-idx1-ubyte.gz");
  if (!images || !labels) FEEDLINE_SKIP("no MNIST: name its folder's parent in FEEDLINE_TEST_DATA");

  const auto mnist = open_idx(*images, *labels);
  REQUIRE(mnist->size() == known.samples);
  REQUIRE(mnist->fields() == std::vector<field>{{"image", element_type::u8, {28, 28}},
                                                {"label", element_type::u8, {}}});
  std::vector<sample_index> all(known.samples);
  for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = sample_index{i};
  const auto values = test::read_samples(*mnist, all);

  std::array<std::uint64_t, 256> counts{};
  for (const std::byte label : values[1]) ++counts[std::to_integer<std::size_t>(label)];
  for (std::size_t digit = 0; digit < 10; ++digit)
    CHECK(counts[digit] == known.label_counts[digit]);

  std::uint64_t sum = 0;
  for (const std::byte pixel : values[0]) sum += std::to_integer<std::uint64_t>(pixel);
  const double mean = static_cast<double>(sum) / static_cast<double>(values[0].size());
  CHECK(std::abs(mean - known.pixel_mean) < 1e-12);
}
