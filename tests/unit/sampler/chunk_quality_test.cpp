#include "sampler/chunk_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using feedline::detail::chunk_order;

// How well the samples of a window are mixed. Seeds are fixed, so each test passes always or never.

namespace {

constexpr std::uint64_t classes = 10;
constexpr std::uint64_t batch_samples = 256;

/// Over a stretch of some epochs of data that lie sorted by class: how much more the classes'
/// numbers in a batch vary than in a full shuffle, where this is 1.
double excess_variance(const chunk_order& order, std::uint64_t samples, std::uint64_t first,
                       std::uint64_t batches, std::uint64_t epochs) {
  constexpr double expected = double{batch_samples} / double{classes};
  double chi_square = 0;
  std::vector<sample_index> drawn(batch_samples);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (std::uint64_t i = 0; i < batches; ++i) {
      order.indices(samples, epoch, position{first + i * batch_samples}, drawn);
      std::array<double, classes> counts{};
      for (const auto index : drawn) ++counts[index.value * classes / samples];
      for (const double count : counts)
        chi_square += (count - expected) * (count - expected) / expected;
    }
  return chi_square / static_cast<double>(epochs * batches * (classes - 1));
}

}  // namespace

TEST_CASE(
    "chunk order: the make-up of batches varies 1 + (B - 1) / W times as much as in a full "
    "shuffle, at an epoch's ends as in its middle",
    "[sampler][host]") {
  struct shape {
    std::uint64_t chunk, windows, epochs;
  };
  const auto [chunk, windows, epochs] =
      GENERATE(shape{16, 200, 60}, shape{16, 50, 60}, shape{16, 12, 60}, shape{256, 50, 400},
               shape{256, 12, 400}, shape{256, 3, 400});
  constexpr std::uint64_t samples = 204'800;
  const double window = static_cast<double>(samples / chunk) / static_cast<double>(windows);
  const double predicted = 1 + (batch_samples - 1) / window;
  // Half of a window at each end, or what makes 4 batches.
  const auto end_batches =
      std::max<std::uint64_t>(4, static_cast<std::uint64_t>(window) * chunk / 2 / batch_samples);
  const chunk_order order{31, chunk, windows};
  INFO("chunks of " << chunk << ", windows of " << window);
  const auto near = [&](double measured) {
    return measured > 0.75 * predicted && measured < 1.25 * predicted;
  };
  const std::uint64_t last = samples - end_batches * batch_samples;
  CHECK(near(excess_variance(order, samples, 0, end_batches, epochs)));
  CHECK(near(
      excess_variance(order, samples, samples / 2 / batch_samples * batch_samples, 40, epochs)));
  CHECK(near(excess_variance(order, samples, last, end_batches, epochs)));
}

TEST_CASE("chunk order: over the epochs a sample stands at every position alike",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 96;
  const chunk_order order{12, 8, 3};
  std::array<std::vector<std::uint64_t>, 3> counts;
  counts.fill(std::vector<std::uint64_t>(samples, 0));
  std::vector<sample_index> drawn(samples);
  for (std::uint64_t epoch = 0; epoch < samples * 50; ++epoch) {
    order.indices(samples, epoch, position{0}, drawn);
    for (std::size_t place = 0; place < samples; ++place)
      for (std::size_t i = 0; i < counts.size(); ++i)
        if (drawn[place].value == i * (samples - 1) / 2) ++counts[i][place];
  }
  for (const auto& of_one : counts) CHECK(std::abs(test::deviation(of_one)) < 3.5);
}

TEST_CASE("chunk order: over the epochs any two chunks share a window alike", "[sampler][host]") {
  constexpr std::uint64_t chunks = 12;
  constexpr std::uint64_t chunk = 4;
  const chunk_order order{77, chunk, 3};
  std::vector<std::uint64_t> together(chunks, 0);
  std::vector<sample_index> drawn(chunks * chunk);
  for (std::uint64_t epoch = 0; epoch < 5000; ++epoch) {
    order.indices(drawn.size(), epoch, position{0}, drawn);
    std::array<std::uint64_t, chunks> window{};
    for (std::size_t place = 0; place < drawn.size(); ++place)
      window[drawn[place].value / chunk] = place / (drawn.size() / 3);
    for (std::size_t other = 1; other < chunks; ++other)
      together[other] += window[other] == window[0] ? 1 : 0;
  }
  together.erase(together.begin());
  CHECK(std::abs(test::deviation(together)) < 3.5);
}

TEST_CASE(
    "chunk order: within a window a sample is followed by one of its own chunk as often as by "
    "any other",
    "[sampler][host]") {
  constexpr std::uint64_t samples = 48;  // three windows of four chunks of four
  constexpr double epochs = 20'000;
  const chunk_order order{5, 4, 3};
  double same = 0;
  std::vector<sample_index> drawn(samples / 3);
  for (std::uint64_t epoch = 0; epoch < 20'000; ++epoch) {
    order.indices(samples, epoch, position{16}, drawn);
    same += drawn[6].value / 4 == drawn[7].value / 4 ? 1 : 0;
  }
  constexpr double expected = 3.0 / 15;
  const double deviation =
      (same - epochs * expected) / std::sqrt(epochs * expected * (1 - expected));
  CHECK(std::abs(deviation) < 3.5);
}
