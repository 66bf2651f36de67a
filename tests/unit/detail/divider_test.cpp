#include "detail/divider.hpp"

#include "support/checks/catch.hpp"

#include <cstdint>
#include <initializer_list>
#include <random>

using feedline::detail::divider;

TEST_CASE("divider: gives the quotient of all that it may be given", "[detail][host]") {
  constexpr auto most = static_cast<std::uint32_t>(divider::limit - 1);
  std::mt19937 random{1};
  std::uint64_t wrong = 0;
  const auto check = [&](std::uint32_t divisor) {
    const divider by{divisor};
    const auto look = [&](std::uint32_t value) {
      if (value <= most && by.quotient(value) != value / divisor) ++wrong;
    };
    for (std::uint32_t i = 0; i < 4; ++i) {
      look(i);
      look(most - i);
    }
    for (int i = 0; i < 50; ++i) {
      const std::uint32_t value = static_cast<std::uint32_t>(random()) & most;
      look(value);
      // A multiple and its neighbours: where a quotient would first be off by one.
      const std::uint32_t multiple = value / divisor * divisor;
      look(multiple);
      if (multiple != 0) look(multiple - 1);
    }
  };
  for (std::uint32_t divisor = 1; divisor <= 4096; ++divisor) check(divisor);
  for (std::uint32_t bit = 12; bit < 32; ++bit) {
    for (const std::uint32_t near : {0U, 1U, 2U}) {
      check((std::uint32_t{1} << bit) - near);
      if (bit < 31) check((std::uint32_t{1} << bit) + near);
    }
  }
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t divisor = (static_cast<std::uint32_t>(random()) & most) >> (random() % 31);
    check(divisor == 0 ? 1 : divisor);
  }
  CHECK(wrong == 0);
  CHECK(divider{}.quotient(most) == most);
  CHECK(divider{784}.divisor() == 784);
}
