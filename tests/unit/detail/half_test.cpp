#include "detail/half.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/slow_half.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace feedline::detail;
using feedline::test::slow_bf16;
using feedline::test::slow_f16;
using feedline::test::slow_half;

namespace {

using to_half = std::uint16_t (*)(float);

struct format {
  const char* name;
  slow_half slow;
  to_half to;
  float (*from)(std::uint16_t);
};

const format formats[] = {
    {"binary16", slow_f16, [](float value) { return to_f16(value); },
     [](std::uint16_t bits) { return from_f16(bits); }},
    {"bfloat16", slow_bf16, [](float value) { return to_bf16(value); },
     [](std::uint16_t bits) { return from_bf16(bits); }},
};

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// Counts what differs and keeps the first: one check for millions of cases.
class differences {
 public:
  void note(std::uint32_t from, std::uint32_t got, std::uint32_t expected) {
    if (got == expected) return;
    if (count_++ == 0) {
      std::ostringstream text;
      text << std::hex << from << " became " << got << ", not " << expected;
      first_ = text.str();
    }
  }
  std::string text() const {
    return count_ == 0 ? "none" : std::to_string(count_) + ", first " + first_;
  }

 private:
  std::uint64_t count_ = 0;
  std::string first_;
};

void hold_against_slow(const format& half, std::uint32_t bits, differences& found) {
  const auto value = std::bit_cast<float>(bits);
  found.note(bits, half.to(value), half.slow.nearest(double{value}));
}

}  // namespace

TEST_CASE("half: each of the 65,536 patterns becomes its number in binary32, exactly",
          "[device][host]") {
  for (const format& half : formats) {
    INFO(half.name);
    differences found;
    std::uint32_t nans = 0;
    for (std::uint32_t pattern = 0; pattern < 0x1'0000; ++pattern) {
      const float value = half.from(static_cast<std::uint16_t>(pattern));
      if (half.slow.is_nan(pattern)) {
        nans += std::isnan(value) ? 1U : 0U;
      } else {
        found.note(pattern, bits_of(value), bits_of(static_cast<float>(half.slow.value(pattern))));
      }
    }
    CHECK(found.text() == "none");
    CHECK(nans == 2 * ((1U << half.slow.fraction_bits) - 1U));
  }
}

TEST_CASE("half: each pattern that is a number comes back from binary32 as it was",
          "[device][host]") {
  for (const format& half : formats) {
    INFO(half.name);
    differences found;
    for (std::uint32_t pattern = 0; pattern < 0x1'0000; ++pattern) {
      const auto bits = static_cast<std::uint16_t>(pattern);
      found.note(pattern, half.to(half.from(bits)),
                 half.slow.is_nan(pattern) ? std::uint32_t{half_nan} : pattern);
    }
    CHECK(found.text() == "none");
  }
}

TEST_CASE("half: every number, every halfway point and their neighbours round to nearest even",
          "[device][host]") {
  for (const format& half : formats) {
    INFO(half.name);
    differences found;
    for (std::uint32_t pattern = 0; pattern < half.slow.infinity(); ++pattern) {
      const double number = half.slow.magnitude(pattern);
      const double halfway = (number + half.slow.magnitude(pattern + 1)) / 2;
      for (const double each : {number, halfway}) {
        const auto value = static_cast<float>(each);
        REQUIRE(double{value} == each);
        const std::uint32_t at = bits_of(value);
        for (const std::uint32_t magnitude : {at, at + 1, at == 0 ? 0 : at - 1})
          for (const std::uint32_t sign : {0U, 0x8000'0000U})
            hold_against_slow(half, magnitude | sign, found);
      }
    }
    CHECK(found.text() == "none");
  }
}

TEST_CASE("half: all exponents with fractions about each power of 2, and any bits at all",
          "[device][host]") {
  std::vector<std::uint32_t> fractions{0, 0x7F'FFFF};
  for (std::uint32_t bit = 0; bit < 23; ++bit)
    for (std::uint32_t other = 0; other <= bit; ++other) {
      const std::uint32_t about = (1U << bit) | (1U << other);
      for (const std::uint32_t fraction : {about - 1, about, about + 1})
        fractions.push_back(fraction & 0x7F'FFFFU);
    }
  constexpr std::uint32_t seed = 20'26;
  std::mt19937 random{seed};
  for (const format& half : formats) {
    INFO(half.name << ", seed " << seed);
    differences found;
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
      for (const std::uint32_t fraction : fractions)
        for (const std::uint32_t sign : {0U, 0x8000'0000U})
          hold_against_slow(half, sign | exponent << 23 | fraction, found);
    for (int i = 0; i < 300'000; ++i)
      hold_against_slow(half, static_cast<std::uint32_t>(random()), found);
    CHECK(found.text() == "none");
  }
}

TEST_CASE("half: infinities stay, larger numbers become infinite, and there is one NaN",
          "[device][host]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(to_f16(infinity) == 0x7C00);
  CHECK(to_f16(-infinity) == 0xFC00);
  CHECK(to_f16(65'504.0F) == 0x7BFF);
  CHECK(to_f16(65'519.996F) == 0x7BFF);
  CHECK(to_f16(65'520.0F) == 0x7C00);
  CHECK(to_f16(-1e30F) == 0xFC00);
  CHECK(to_bf16(infinity) == 0x7F80);
  CHECK(to_bf16(-infinity) == 0xFF80);
  CHECK(to_bf16(std::numeric_limits<float>::max()) == 0x7F80);
  for (const std::uint32_t nan : {0x7F80'0001U, 0x7FC0'0000U, 0xFFFF'FFFFU, 0xFF80'0001U}) {
    CHECK(to_f16(std::bit_cast<float>(nan)) == half_nan);
    CHECK(to_bf16(std::bit_cast<float>(nan)) == half_nan);
  }
}

#if defined(__x86_64__)

namespace {

__attribute__((target("f16c"))) std::uint16_t hardware_to_f16(float value) {
  return static_cast<std::uint16_t>(
      _mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT), 0));
}

__attribute__((target("f16c"))) float hardware_from_f16(std::uint16_t bits) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_set1_epi16(static_cast<short>(bits))));
}

}  // namespace

TEST_CASE("half: binary16 is the processor's to the bit, except for a NaN's", "[device][host]") {
  if (!__builtin_cpu_supports("avx2")) FEEDLINE_SKIP("this processor may have no F16C");
  differences found;
  for (std::uint32_t pattern = 0; pattern < 0x1'0000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    found.note(pattern, bits_of(from_f16(bits)), bits_of(hardware_from_f16(bits)));
  }
  for (std::uint64_t bits = 0; bits < 0x1'0000'0000; bits += 257) {  // all of them: 12 s, none
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(value))
      found.note(static_cast<std::uint32_t>(bits), to_f16(value), hardware_to_f16(value));
  }
  CHECK(found.text() == "none");
}

#endif
