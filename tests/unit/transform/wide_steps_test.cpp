/// Blurs, and images that are mixed of chains.

#include "transform/operations/wide_steps.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/operations.hpp"
#include "unit/transform/transformed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

using bytes = std::vector<std::byte>;

bytes random_image(std::uint32_t height, std::uint32_t width, std::uint32_t channels) {
  std::mt19937 random{height * 1000 + width};
  bytes row(std::size_t{height} * width * channels);
  for (std::byte& each : row) each = static_cast<std::byte>(random());
  return row;
}

/// A blur as torchvision has it, with its two-dimensional kernel, in doubles.
std::vector<double> blurred(const std::vector<float>& image, std::int64_t height,
                            std::int64_t width, std::int64_t channels, std::int64_t radius,
                            double sigma) {
  const auto mirror = [](std::int64_t at, std::int64_t extent) {
    while (extent > 1 && (at < 0 || at >= extent)) at = at < 0 ? -at : 2 * (extent - 1) - at;
    return extent > 1 ? at : 0;
  };
  const auto weight = [&](std::int64_t apart) {
    return std::exp(-0.5 * static_cast<double>(apart * apart) / sigma / sigma);
  };
  std::vector<double> out(image.size());
  for (std::int64_t i = 0; i < height * width * channels; ++i) {
    const std::int64_t x = i / channels % width;
    const std::int64_t y = i / channels / width;
    double all = 0;
    double weights = 0;
    for (std::int64_t down = -radius; down <= radius; ++down)
      for (std::int64_t across = -radius; across <= radius; ++across) {
        const double by = weight(down) * weight(across);
        const std::int64_t pixel = mirror(y + down, height) * width + mirror(x + across, width);
        all += by * double{image[static_cast<std::size_t>(pixel * channels + i % channels)]};
        weights += by;
      }
    out[static_cast<std::size_t>(i)] = all / weights;
  }
  return out;
}

std::string refusal_of_x(const field_transform& transform) {
  const std::string of_x = "transform of field 'x': ";
  const std::string message = refusal(transform);
  return message.rfind(of_x, 0) == 0 ? message.substr(of_x.size()) : message;
}

}  // namespace

TEST_CASE("gaussian_blur: it is torchvision's, for any size of image and kernel",
          "[transfer][host]") {
  struct size {
    std::uint32_t height;
    std::uint32_t width;
  };
  const auto [height, width] =
      GENERATE(size{1, 1}, size{1, 9}, size{5, 2}, size{33, 31}, size{70, 65}, size{8, 100});
  const std::uint32_t channels = GENERATE(1U, 3U);
  const std::uint64_t kernel = GENERATE(1U, 3U, 11U, 33U);
  const bytes row = random_image(height, width, channels);
  const std::vector<float> image = transformed(plain(), row, height, width, channels, 0);
  for (const double sigma : {0.1, 0.8, 5.0}) {
    field_transform transform = plain();
    transform.gaussian_blur =
        feedline::gaussian_blur{.kernel_size = kernel, .sigma = {sigma, sigma}};
    const auto out = transformed(transform, row, height, width, channels, 5);
    const auto wanted =
        blurred(image, height, width, channels, static_cast<std::int64_t>(kernel / 2), sigma);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] != std::floor(out[i]) || std::abs(double{out[i]} - wanted[i]) > 0.502)
        FAIL("element " << i << " is " << out[i] << " instead of " << wanted[i]);
  }
}

TEST_CASE("gaussian_blur: steps before and after it are beside it, whatever they look at",
          "[transfer][host]") {
  constexpr std::uint32_t height = 40;
  constexpr std::uint32_t width = 45;
  const bytes row = random_image(height, width, 3);
  field_transform before = plain();
  before.flip = 0.5;
  before.affine = random_affine{.degrees = {20, 20}};
  before.trivial_augment_wide = trivial_augment_wide{};  // rounded, and looks at the image
  before.grayscale = random_grayscale{.probability = 0.5};
  for (std::uint32_t bits = 0; bits < 60; ++bits) {
    std::vector<float> image = transformed(before, row, height, width, 3, bits_of(bits));
    for (float& value : image) value = std::floor(value + 0.5F);
    field_transform both = before;
    both.gaussian_blur = feedline::gaussian_blur{.kernel_size = 5, .sigma = {1.5, 1.5}};
    const auto soft = transformed(both, row, height, width, 3, bits_of(bits));
    const auto wanted = blurred(image, height, width, 3, 2, 1.5);
    for (std::size_t i = 0; i < soft.size(); ++i)
      if (std::abs(double{soft[i]} - wanted[i]) > 0.502) FAIL("element " << i);
    // The blurred image as a dataset's, changed by the steps that follow.
    bytes stored(soft.size());
    for (std::size_t i = 0; i < soft.size(); ++i) stored[i] = static_cast<std::byte>(soft[i]);
    field_transform after = plain();
    after.solarize = random_solarize{.threshold = 99, .probability = 1};
    after.equalize = random_equalize{.probability = 0.5};
    after.erasing = random_erasing{.noise = true};
    both.solarize = after.solarize;
    both.equalize = after.equalize;
    both.erasing = after.erasing;
    REQUIRE(transformed(both, row, height, width, 3, bits_of(bits)) ==
            transformed(after, stored, height, width, 3, bits_of(bits)));
  }
}

TEST_CASE("gaussian_blur: its deviation is drawn evenly, for as many images as wanted",
          "[transfer][host]") {
  const gaussian_blur_operation::parameters by{always / 4, 1, {0.5, 2.5}};
  std::array<int, 10> tenths{};
  int seen = 0;
  wide_steps steps{};
  for (std::uint32_t i = 0; i < many; ++i) {
    steps.clear();
    gaussian_blur_operation::add_steps(by, {9, 9}, bits_of(i), steps);
    if (!steps.blur.any) continue;
    ++seen;
    const double ratio = double{steps.blur.weight[1]} / double{steps.blur.weight[0]};
    const double sigma = std::sqrt(-0.5 / std::log(ratio));
    ++tenths[static_cast<std::size_t>(std::clamp((sigma - 0.5) * 5, 0.0, 9.0))];
  }
  CHECK(is_share(seen, many, 0.25));
  for (const int count : tenths) CHECK(is_share(count, seen, 0.1));
}

TEST_CASE("augmix: weights are drawn from Dirichlet distributions", "[transfer][host]") {
  // Integrals of the Gamma distribution at shapes that have a formula.
  struct row {
    float shape;
    double (*below)(double);
  };
  const std::array<row, 3> rows{{{0.5F, [](double x) { return std::erf(std::sqrt(x)); }},
                                 {1.0F, [](double x) { return 1 - std::exp(-x); }},
                                 {2.0F, [](double x) { return 1 - (1 + x) * std::exp(-x); }}}};
  for (const auto& [shape, below] : rows) {
    std::array<int, 20> twentieths{};
    for (std::uint32_t i = 0; i < many; ++i) {
      const double share = below(double{gamma_draw(shape, bits_of(i))});
      ++twentieths[static_cast<std::size_t>(std::clamp(share * 20, 0.0, 19.0))];
    }
    for (const int count : twentieths) CHECK(is_share(count, many, 0.05));
  }
  double sum = 0;
  double squares = 0;
  std::array<int, 10> own{};
  wide_steps steps{};
  const augmix_operation::parameters by{};
  for (std::uint32_t i = 0; i < many / 4; ++i) {
    steps.clear();
    augmix_operation::add_steps(by, {9, 9}, bits_of(i), steps);
    REQUIRE(steps.mix.count == 3);
    const double own_weight = steps.mix.own;
    ++own[static_cast<std::size_t>(std::clamp(own_weight * 10, 0.0, 9.0))];
    const double first = double{steps.mix.weight[0]} / (1 - own_weight);
    sum += first;
    squares += first * first;
    const double all = own_weight + double{steps.mix.weight[0]} + double{steps.mix.weight[1]} +
                       double{steps.mix.weight[2]};
    REQUIRE(std::abs(all - 1) < 1e-5);
  }
  for (const int count : own) CHECK(is_share(count, many / 4, 0.1));  // Beta(1, 1)
  const double mean = sum / (many / 4);
  CHECK(mean == Approx(1.0 / 3).margin(0.003));
  CHECK(squares / (many / 4) - mean * mean == Approx(1.0 / 18).margin(0.002));
}

TEST_CASE("augmix: chains are as long as wanted, of operations that are drawn evenly",
          "[transfer][host]") {
  const bool all_ops = GENERATE(true, false);
  augmix_operation::parameters by{.severity = 4, .all = all_ops};
  std::array<int, 15> operations{};
  std::array<int, 10> bins{};
  int negative = 0;
  int moved = 0;
  for (std::uint32_t i = 0; i < many; ++i) {
    const drawn_of_set of = augmix_operation::draw_operation(by, {224, 200}, bits_of(i));
    ++operations[static_cast<std::size_t>(of.operation)];
    if (of.operation == set_operation::posterize) REQUIRE(of.magnitude >= 3);
    if (of.operation == set_operation::posterize) REQUIRE(of.magnitude <= 4);
    if (of.operation != set_operation::translate_x) continue;
    ++moved;
    negative += of.magnitude < 0 ? 1 : 0;
    const auto bin = std::lround(std::abs(of.magnitude) / (200.0 / 3 / 9));
    ++bins[static_cast<std::size_t>(bin)];
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto operation = static_cast<set_operation>(i);
    const bool is_factor =
        operation >= set_operation::brightness && operation <= set_operation::sharpness;
    if (operation == set_operation::identity || operation == set_operation::invert ||
        (is_factor && !all_ops)) {
      CHECK(operations[i] == 0);
    } else {
      CHECK(is_share(operations[i], many, all_ops ? 1.0 / 13 : 1.0 / 9));
    }
  }
  for (std::size_t bin = 0; bin < 10; ++bin)
    CHECK((bin < 4 ? is_share(bins[bin], moved, 0.25) : bins[bin] == 0));
  CHECK(is_share(negative, moved, 3.0 / 8));  // the first bin is 0

  // Operations of a chain: each is a colour step after the first, or a move.
  by.depth = 2;
  wide_steps steps{};
  for (std::uint32_t i = 0; i < 2000; ++i) {
    steps.clear();
    augmix_operation::add_steps(by, {224, 200}, bits_of(i), steps);
    for (const step_chain& chain : steps.mix.chain)
      if (&chain < steps.mix.chain + 3) REQUIRE(chain.colors.count <= 3);
  }
}

TEST_CASE("augmix: an image is the sum of its chains' images, and other steps follow",
          "[transfer][host]") {
  constexpr std::uint32_t height = 40;
  constexpr std::uint32_t width = 45;
  const bytes row = random_image(height, width, 3);
  field_transform transform = plain();
  transform.flip = 0.5;
  transform.affine = random_affine{.degrees = {10, 10}};
  const field_transform before = transform;
  transform.augmix = feedline::augmix{.severity = 9, .mixture_width = 4};
  field_transform inverted = transform;
  inverted.equalize = random_equalize{.probability = 1};
  inverted.sharpness = random_adjust_sharpness{.sharpness_factor = 2, .probability = 1};
  for (std::uint32_t i = 0; i < 25; ++i) {
    const std::uint32_t bits = bits_of(i);
    const std::vector<float> out = transformed(transform, row, height, width, 3, bits);
    // Each chain by itself: a sample's steps with the chain's map and colours.
    const auto flipped = transformed({.field = "x", .layout = image_layout::hwc, .flip = 0.5}, row,
                                     height, width, 3, bits);
    const auto base = [&](std::uint32_t y, std::uint32_t x) {
      const float* const at = &flipped[(std::size_t{y} * width + x) * 3];
      return color{{at[0], at[1], at[2]}};
    };
    const auto converted =
        convert_fields({{"x", element_type::u8, {height, width, 3}}}, {transform});
    const auto& planned = operations::of(converted.conversions[0].operations);
    wide_steps steps{};
    operations::draw_steps(planned, {height, width}, bits, steps);
    const std::vector<float> start = transformed(before, row, height, width, 3, bits);
    std::vector<double> wanted(out.size());
    for (std::size_t k = 0; k < out.size(); ++k)
      wanted[k] = double{steps.mix.own} * double{start[k]};
    for (std::uint32_t c = 0; c < steps.mix.count; ++c) {
      step_chain& chain = steps.mix.chain[c];
      for (std::uint32_t step = chain.colors.next_of_image(0); step < chain.colors.count;
           step = chain.colors.next_of_image(step + 1)) {
        std::array<std::uint32_t[256], 3> counts{};
        std::uint64_t shares = 0;
        for (std::uint32_t at = 0; at < height * width; ++at) {
          std::uint32_t channels = 3;
          const color seen =
              sample_point(chain, base, {height, width}, step, at / width, at % width, channels);
          shares += grey_share(chain.colors.at[step], seen, 3);
          for (std::uint32_t k = 0; k < 3; ++k) ++counts[k][byte_of(seen.of[k])];
        }
        if (!chain.colors.at[step].needs_counts())
          chain.colors.set_sum(step, shares, height * width);
        else
          for (std::uint32_t k = 0; k < 3; ++k)
            chain.colors.set_table(step, k, counts[k], height * width);
      }
      for (std::uint32_t at = 0; at < height * width; ++at) {
        std::uint32_t channels = 3;
        const color made = sample_point(chain, base, {height, width}, chain.colors.count,
                                        at / width, at % width, channels);
        for (std::size_t k = 0; k < 3; ++k)
          wanted[at * 3 + k] += double{steps.mix.weight[c]} * double{made.of[k]};
      }
    }
    for (std::size_t k = 0; k < out.size(); ++k)
      if (out[k] != std::floor(out[k]) || out[k] > wanted[k] + 1e-3 || out[k] < wanted[k] - 1.001)
        FAIL("element " << k << " is " << out[k] << " instead of " << wanted[k]);
    // The mixed image as a dataset's, changed by the steps that follow.
    bytes stored(out.size());
    for (std::size_t k = 0; k < out.size(); ++k) stored[k] = static_cast<std::byte>(out[k]);
    field_transform after = plain();
    after.equalize = inverted.equalize;
    after.sharpness = inverted.sharpness;
    REQUIRE(transformed(inverted, row, height, width, 3, bits) ==
            transformed(after, stored, height, width, 3, bits));
  }
}

TEST_CASE("wide steps: texts name them, and what they cannot do is refused", "[transfer][host]") {
  field_transform transform = plain();
  transform.augmix = feedline::augmix{};
  transform.gaussian_blur = feedline::gaussian_blur{.kernel_size = 23};
  CHECK(to_string(transform) ==
        "x: float32, layout hwc, augmix severity 3 width 3 depth -1 alpha 1 bilinear, "
        "gaussian_blur 1 kernel 23 sigma 0.1 to 2");
  CHECK(refusal_of_x(transform) == "[nothing was thrown]");
  const auto converted = convert_fields({{"x", element_type::u8, {8, 6, 3}}}, {transform});
  CHECK(converted.conversions[0].operations.wide);
  CHECK(converted.conversions[0].operations.needs_image);
  CHECK(converted.random);
  transform.sharpness = random_adjust_sharpness{};
  CHECK(refusal_of_x(transform) ==
        "gaussian_blur and sharpness are set: one blurs what the other sharpens; set one");
  transform = plain();
  transform.augmix = feedline::augmix{};
  transform.rand_augment = rand_augment{};
  CHECK(refusal_of_x(transform) == "rand_augment and augmix are set: each is a whole set; set one");
  const auto mixed = [&](const feedline::augmix& options) {
    transform = plain();
    transform.augmix = options;
    return refusal_of_x(transform);
  };
  CHECK(mixed({.severity = 11}) == "augmix.severity is 11: say 1 to 10");
  CHECK(mixed({.mixture_width = 5}) == "augmix.mixture_width is 5: say 1 to 4");
  CHECK(mixed({.chain_depth = 4}) == "augmix.chain_depth is 4: say 1 to 3");
  CHECK(mixed({.chain_depth = 0}) == "augmix.chain_depth is 0: say 1 to 3");
  CHECK(mixed({.alpha = 0}) == "augmix.alpha is 0: say 0.1 to 1000");
  CHECK(mixed({.fill = -1}) == "augmix.fill is -1: say 0 to 255");
  const auto soft = [&](const feedline::gaussian_blur& options) {
    transform = plain();
    transform.gaussian_blur = options;
    return refusal_of_x(transform);
  };
  CHECK(soft({.kernel_size = 4}) == "gaussian_blur.kernel_size is 4: say an odd number of 1 to 33");
  CHECK(soft({.kernel_size = 35}) ==
        "gaussian_blur.kernel_size is 35: say an odd number of 1 to 33");
  CHECK(soft({.sigma = {0, 2}}) ==
        "gaussian_blur.sigma is 0 to 2: say a range within 0.05 to 1000");
  CHECK(soft({.probability = 2}) == "gaussian_blur.probability is 2: say 0 to 1");
}
