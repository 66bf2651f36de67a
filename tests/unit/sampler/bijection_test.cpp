#include "sampler/bijection.hpp"

#include "support/checks/catch.hpp"

#include <cstdint>
#include <vector>

using namespace feedline;
using feedline::detail::bijection;

TEST_CASE("bijection: the position of an image is where it stands", "[sampler][host]") {
  for (std::uint64_t size = 1; size <= 300; ++size) {
    const bijection order{size, size * 7, 3};
    std::vector<sample_index> images(size);
    order.evaluate(position{0}, images);
    for (std::uint64_t place = 0; place < size; ++place)
      REQUIRE(order.place_of(images[place].value) == place);
  }
}

TEST_CASE("bijection: positions are found among up to 2^64 - 1", "[sampler][host]") {
  const std::uint64_t size = GENERATE((1ULL << 40) + 1, 1ULL << 63, (1ULL << 63) + 1, UINT64_MAX);
  const bijection order{size, 5, 6};
  std::vector<sample_index> images(50);
  order.evaluate(position{size - 50}, images);
  for (std::uint64_t i = 0; i < images.size(); ++i)
    CHECK(order.place_of(images[i].value) == size - 50 + i);
}

TEST_CASE("bijection: values in any order, repeated ones too, become the values at their positions",
          "[sampler][host]") {
  // 1000 values are several blocks; 257 is just above a power of 2, so many walk twice.
  const std::uint64_t size = GENERATE(1U, 2U, 100U, 257U);
  const bijection order{size, 1, 2};
  std::vector<sample_index> images(size);
  order.evaluate(position{0}, images);
  std::vector<sample_index> values(1000);
  for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = {(i * i + 3) % size};
  order.evaluate(values);
  for (std::uint64_t i = 0; i < values.size(); ++i)
    REQUIRE(values[i] == images[(i * i + 3) % size]);
}
