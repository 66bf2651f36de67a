#include "detail/half.hpp"
#include "device/assemble_on_host.hpp"
#include "device/sample_mix.hpp"
#include "device/sample_random_bits.hpp"
#include "support/checks/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

constexpr std::uint64_t always = std::uint64_t{1} << 32;

struct shape {
  std::uint32_t channels = 3;
  std::uint32_t height = 5;
  std::uint32_t width = 7;
  bool channels_last = false;

  [[nodiscard]] std::size_t elements() const { return std::size_t{channels} * height * width; }
};

double number_of(const std::byte* from, element_type type) {
  std::uint16_t half = 0;
  if (type == element_type::f32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::memcpy(&half, from, sizeof half);
  return type == element_type::f16 ? from_f16(half) : from_bf16(half);
}

void set_number(std::byte* to, element_type type, float value) {
  if (type == element_type::f32) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const std::uint16_t half = type == element_type::f16 ? to_f16(value) : to_bf16(value);
  std::memcpy(to, &half, sizeof half);
}

/// A slot of images, labels and one more field, in memory of its own.
struct mixed_slot {
  static constexpr std::size_t classes = 6;
  static constexpr std::size_t note_bytes = 3;

  shape image;
  element_type type;
  std::uint64_t batch_size;
  std::uint64_t samples;
  pair_mixing by;
  std::vector<field_assembly> fields{3};
  std::size_t batch_bytes = 0;
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> random_bits;

  mixed_slot(const shape& of, element_type element, std::uint64_t batch, std::uint64_t count)
      : image{of}, type{element}, batch_size{batch}, samples{count} {
    by.label = 0;
    by.image = 2;
    by.image_type = type;
    by.height = of.height;
    by.width = of.width;
    by.pixel_elements = of.channels_last ? of.channels : 1;
    by.mixed_below = always;
    fields[0].to_row_bytes = classes * sizeof(float);
    fields[1].to_row_bytes = note_bytes;
    fields[2].to_row_bytes = of.elements() * size_bytes(type);
    for (field_assembly& each : fields) {
      each.to_offset = batch_bytes;
      batch_bytes += (each.to_row_bytes * batch_size + 255) / 256 * 256;
    }
    bytes.assign(batch_bytes * ((samples + batch_size - 1) / batch_size), std::byte{0x5A});
    std::mt19937 random{7};
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      random_bits.push_back(sample_random_bits(1, 2, sample));
      for (std::size_t i = 0; i < classes; ++i)
        set_number(at(0, sample, i), element_type::f32, static_cast<float>(random() % 100) / 100);
      for (std::size_t i = 0; i < of.elements(); ++i)
        set_number(at(2, sample, i), type, static_cast<float>(random() % 2000) / 256 - 4);
    }
  }

  std::byte* row(std::size_t field, std::uint64_t sample) {
    return bytes.data() + sample / batch_size * batch_bytes + fields[field].to_offset +
           sample % batch_size * fields[field].to_row_bytes;
  }
  std::byte* at(std::size_t field, std::uint64_t sample, std::size_t element) {
    return row(field, sample) + element * (field == 0 ? sizeof(float) : size_bytes(type));
  }
  double number(std::size_t field, std::uint64_t sample, std::size_t element) {
    return number_of(at(field, sample, element), field == 0 ? element_type::f32 : type);
  }
  /// Row and column of an element of an image.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> place_of(std::size_t element) const {
    const std::size_t pixel = image.channels_last
                                  ? element / image.channels
                                  : element % (std::size_t{image.height} * image.width);
    return {static_cast<std::uint32_t>(pixel / image.width),
            static_cast<std::uint32_t>(pixel % image.width)};
  }
  /// None: the sample itself.
  [[nodiscard]] std::uint64_t partner(std::uint64_t sample) const {
    const std::uint64_t first = sample / batch_size * batch_size;
    const std::uint64_t other = first + ((sample - first) ^ 1U);
    return other < std::min(first + batch_size, samples) ? other : sample;
  }

  void mix() {
    assembly work;
    work.slot = bytes.data();
    work.batch_size = batch_size;
    work.batch_bytes = batch_bytes;
    work.samples = samples;
    work.copy_destination = std::as_bytes(std::span{random_bits}).data();
    work.varies = true;
    work.fields = fields;
    work.mixing = &by;
    mix_on_host(work);
  }

  /// Value of an element after mixing, in double precision.
  double expected(mixed_slot& before, std::size_t field, std::uint64_t sample,
                  std::size_t element) const {
    const std::uint64_t other = partner(sample);
    const double own = before.number(field, sample, element);
    if (other == sample) return own;
    const double others = before.number(field, other, element);
    const sample_mix mix = mix_of(by, random_bits[sample]);
    if (field == 0 || !mix.cuts()) return mix.own * own + (1.0 - mix.own) * others;
    const auto [y, x] = place_of(element);
    const bool cut = y >= mix.box.top && y < mix.box.top + mix.box.height && x >= mix.box.left &&
                     x < mix.box.left + mix.box.width;
    return cut ? others : own;
  }
};

/// Compares a slot with what is computed of each element by itself.
void check_mixed(mixed_slot slot, double tolerance) {
  mixed_slot before = slot;
  slot.mix();
  std::uint64_t wrong = 0;
  std::uint64_t changed = 0;
  for (std::uint64_t sample = 0; sample < slot.samples; ++sample) {
    for (const std::size_t field : {std::size_t{0}, std::size_t{2}}) {
      const std::size_t elements = field == 0 ? mixed_slot::classes : slot.image.elements();
      for (std::size_t i = 0; i < elements; ++i) {
        const double found = slot.number(field, sample, i);
        const double expected = slot.expected(before, field, sample, i);
        if (std::abs(found - expected) > tolerance * std::max(1.0, std::abs(expected))) ++wrong;
        if (found != before.number(field, sample, i)) ++changed;
      }
    }
  }
  CHECK(wrong == 0);
  CHECK((changed > 0) == (slot.batch_size > 1 && slot.samples > 1));
  // Other fields, and what lies between rows, stay.
  const auto elsewhere = [](mixed_slot& of) {
    for (std::uint64_t sample = 0; sample < of.samples; ++sample)
      for (const std::size_t field : {std::size_t{0}, std::size_t{2}})
        std::memset(of.row(field, sample), 0, of.fields[field].to_row_bytes);
    return of.bytes;
  };
  CHECK(elsewhere(slot) == elsewhere(before));
}

double rounding_of(element_type type) {
  if (type == element_type::f32) return 4e-7;
  return type == element_type::f16 ? 1e-3 : 8e-3;
}

}  // namespace

TEST_CASE("mix on host: partners are weighed against each other, images and labels",
          "[device][host]") {
  const auto type = GENERATE(element_type::f32, element_type::f16, element_type::bf16);
  const std::uint64_t batch_size = GENERATE(1U, 2U, 5U, 8U);
  const std::uint64_t samples = GENERATE(1U, 2U, 7U, 16U, 17U);
  CAPTURE(to_string(type), batch_size, samples);
  mixed_slot slot{{}, type, batch_size, samples};
  slot.by.inverse_mixup_alpha = 1.0F;
  check_mixed(slot, rounding_of(type));
}

TEST_CASE("mix on host: boxes are cut out of the partner's image, with any neighbours in memory",
          "[device][host]") {
  const auto type = GENERATE(element_type::f32, element_type::f16, element_type::bf16);
  const bool channels_last = GENERATE(false, true);
  const std::uint64_t cut_below = GENERATE(always, always / 2);
  CAPTURE(to_string(type), channels_last, cut_below);
  mixed_slot slot{{.height = 17, .width = 12, .channels_last = channels_last}, type, 7, 40};
  slot.by.cut_below = cut_below;
  check_mixed(slot, rounding_of(type));
  // Lines longer than what is held at a time.
  mixed_slot wide{{.height = 5, .width = 700, .channels_last = channels_last}, type, 6, 12};
  wide.by.cut_below = cut_below;
  check_mixed(wide, rounding_of(type));
}

TEST_CASE("mix on host: cut boxes keep their bits, and so do images that are not mixed",
          "[device][host]") {
  mixed_slot slot{{.channels = 1, .height = 4, .width = 4}, element_type::f32, 2, 2};
  constexpr std::uint32_t odd_nan = 0xFFA0'1234;  // a sum would make another of it
  for (std::uint64_t sample = 0; sample < 2; ++sample)
    for (std::size_t i = 0; i < 16; ++i) {
      const std::uint32_t bits = odd_nan + static_cast<std::uint32_t>(sample);
      std::memcpy(slot.at(2, sample, i), &bits, sizeof bits);
    }
  slot.by.cut_below = always;
  const auto has_these = [&] {
    bool right = true;
    for (std::uint64_t sample = 0; sample < 2; ++sample)
      for (std::size_t i = 0; i < 16; ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, slot.at(2, sample, i), sizeof bits);
        right = right && (bits == odd_nan || bits == odd_nan + 1);
      }
    return right;
  };
  slot.mix();
  CHECK(has_these());
  slot.by.mixed_below = 0;
  const auto before = slot.bytes;
  slot.mix();
  CHECK(slot.bytes == before);
}

TEST_CASE("mix on host: a sum of no number is the one that devices give, and zeros keep signs",
          "[device][host]") {
  mixed_slot slot{{.channels = 1, .height = 1, .width = 3}, element_type::f32, 2, 2};
  slot.by.inverse_mixup_alpha = 1.0F / 1000;  // weights of about a half
  const std::vector<std::uint32_t> bits{0xFFA0'1234, 0x8000'0000, 0x7F80'0000};
  for (std::uint64_t sample = 0; sample < 2; ++sample)
    std::memcpy(slot.row(2, sample), bits.data(), 12);
  slot.mix();
  std::vector<std::uint32_t> found(3);
  std::memcpy(found.data(), slot.row(2, 1), 12);
  CHECK(found == std::vector<std::uint32_t>{0x7FFF'FFFF, 0x8000'0000, 0x7F80'0000});
}

TEST_CASE("mix on host: labels may be left out, and stay", "[device][host]") {
  mixed_slot slot{{}, element_type::f32, 4, 8};
  const std::vector<std::byte> before = slot.bytes;
  slot.by.label = pair_mixing::none;
  slot.mix();
  CHECK(slot.bytes != before);
  for (std::uint64_t sample = 0; sample < 8; ++sample) {
    const std::ptrdiff_t at = slot.row(0, sample) - slot.bytes.data();
    CHECK(std::equal(before.begin() + at, before.begin() + at + 24, slot.row(0, sample)));
  }
}

TEST_CASE("mix on host: a label's weights stay a distribution over classes", "[device][host]") {
  mixed_slot slot{{}, element_type::f32, 4, 64};
  slot.by.cut_below = always / 2;
  for (std::uint64_t sample = 0; sample < 64; ++sample)
    for (std::size_t i = 0; i < mixed_slot::classes; ++i)
      set_number(slot.at(0, sample, i), element_type::f32, i == sample % 6 ? 1.0F : 0.0F);
  slot.mix();
  for (std::uint64_t sample = 0; sample < 64; ++sample) {
    double sum = 0;
    std::uint64_t classes = 0;
    for (std::size_t i = 0; i < mixed_slot::classes; ++i) {
      const double weight = slot.number(0, sample, i);
      REQUIRE(weight >= 0);
      sum += weight;
      if (weight != 0) ++classes;
    }
    CHECK(sum == Approx(1));
    CHECK(classes <= 2);
  }
}
