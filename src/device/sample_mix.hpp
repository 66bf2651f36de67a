#pragma once

#include <feedline/backend/mixing.hpp>

#include "detail/rounded.hpp"
#include "device/source_window.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// How a sample is mixed with its partner.
struct sample_mix {
  float own = 1.0F;  ///< weight of its own label, and of its image if no box is cut; 1: unchanged
  image_part box;    ///< part of its image that is taken from the partner; height 0: no box is cut

  [[nodiscard]] FEEDLINE_HOST_DEVICE bool changes() const noexcept { return own != 1.0F; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool cuts() const noexcept { return box.height != 0; }
};

inline constexpr choice mixed_draw = choice::first_mixing;
inline constexpr choice cut_draw{111};
inline constexpr std::uint32_t first_weight_draw = 112;
inline constexpr choice box_row_draw{114};
inline constexpr choice box_column_draw{115};

/// log2((drawn + ½) / 2^32), or a value very close to it.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float log2_of_draw(std::uint32_t drawn) noexcept {
  float doublings = 0;
  for (drawn |= 1U; (drawn & 0x8000'0000U) == 0; drawn <<= 1) doublings = sum(doublings, 1.0F);
  const float rest = product(static_cast<float>(drawn), 0x1p-32F);  // 0.5 to 1
  // ln x = 2 artanh((x - 1) / (x + 1)); the coefficients are 2 / ln(2) / (2k + 1), from the last
  // term on.
  const float t = quotient(sum(rest, -1.0F), sum(rest, 1.0F));
  const float square = product(t, t);
  constexpr float terms[] = {0.26230818F, 0.32059889F, 0.41219858F,
                             0.57707802F, 0.96179669F, 2.8853901F};
  float series = 0.22195308F;
  for (const float term : terms) series = sum(product(series, square), term);
  return sum(product(series, t), -doublings);
}

/// The cosine of an angle that is drawn from a whole circle.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float cosine_of_draw(std::uint32_t drawn) noexcept {
  const float quarter = product(static_cast<float>(drawn & 0x7FFF'FFFFU), 0x1p-31F);  // in quarters
  const float square = product(quarter, quarter);
  // Coefficients of the Taylor series of cos(pi / 2 x): (pi / 2)^2k / (2k)!, from the last term on.
  constexpr float terms[] = {4.7108748e-7F, -2.5202042e-5F, 9.1926027e-4F, -2.0863481e-2F,
                             0.25366951F,   -1.2337006F,    1.0F};
  float series = -6.3866031e-9F;
  for (const float term : terms) series = sum(product(series, square), term);
  return (drawn >> 31) != 0 ? -series : series;
}

/// A draw from Beta(alpha, alpha), without tables or rejection: (1 + t / √(2 alpha + t²)) / 2,
/// where t is from Student's distribution with 2 alpha degrees of freedom (R. Bailey, "Polar
/// Generation of Random Variates with the t-Distribution", Mathematics of Computation 62, 1994; L.
/// Devroye, "Random Variate Generation in One Line of Code", Winter Simulation Conference, 1996).
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float beta_draw(float inverse_alpha,
                                                          std::uint32_t random_bits) noexcept {
  const float log2 = log2_of_draw(draw(random_bits, choice{first_weight_draw}));
  const float cosine = cosine_of_draw(draw(random_bits, choice{first_weight_draw + 1}));
  // u^(1 / alpha), for a uniform u: at most 1.
  const float power = power_of_two(fmaxf(product(log2, inverse_alpha), -100.0F));
  const float rest = sum(1.0F, -power);
  const float below = sum(power, product(rest, product(cosine, cosine)));
  const float side = product(cosine, square_root(quotient(rest, below)));
  return product(sum(fminf(fmaxf(side, -1.0F), 1.0F), 1.0F), 0.5F);
}

/// A range of lines or columns: `half` on both sides of `middle`, clipped to the image.
struct box_range {
  std::uint32_t begin;
  std::uint32_t size;
};
[[nodiscard]] FEEDLINE_HOST_DEVICE inline box_range range_about(std::uint32_t middle,
                                                                std::uint32_t half,
                                                                std::uint32_t extent) noexcept {
  const std::uint32_t begin = middle - (half < middle ? half : middle);
  const std::uint32_t behind = half < extent - middle ? middle + half : extent;
  return {begin, behind - begin};
}

/// The box that a sample takes from its partner, cut like torchvision's CutMix. @param own Weight
/// drawn.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline sample_mix cut_box(const pair_mixing& by, float own,
                                                             std::uint32_t random_bits) noexcept {
  const float half = product(square_root(sum(1.0F, -own)), 0.5F);
  const auto half_of = [&](std::uint32_t extent) {
    return static_cast<std::uint32_t>(floorf(product(half, static_cast<float>(extent))));
  };
  const box_range lines =
      range_about(draw_below(random_bits, box_row_draw, by.height), half_of(by.height), by.height);
  const box_range columns =
      range_about(draw_below(random_bits, box_column_draw, by.width), half_of(by.width), by.width);
  const std::uint64_t cut = std::uint64_t{lines.size} * columns.size;
  if (cut == 0) return {};
  const std::uint64_t pixels = std::uint64_t{by.height} * by.width;
  const float share = quotient(static_cast<float>(cut), static_cast<float>(pixels));
  return {sum(1.0F, -share), {lines.begin, columns.begin, lines.size, columns.size}};
}

/// Random bits of an epoch: those of a sample that no dataset has.
[[nodiscard]] constexpr std::uint32_t epoch_random_bits(std::uint64_t seed,
                                                        std::uint64_t epoch) noexcept {
  return sample_random_bits(seed, epoch, ~std::uint64_t{0});
}

/// The random bits that a sample is mixed by. @param batch The batch's index in its epoch.
/// @param place The sample's in the batch, or in a part of it that begins with a pair.
/// @param bits_at Returns the random bits of the sample at an index.
template <class BitsAt>
[[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t mixing_bits(mixing_draws draws,
                                                             std::uint32_t epoch_bits,
                                                             std::uint32_t batch,
                                                             std::uint32_t place,
                                                             const BitsAt& bits_at) noexcept {
  if (draws == mixing_draws::batch) return draw(epoch_bits, choice{batch});
  return bits_at(draws == mixing_draws::pair ? place - place % 2 : place);
}

/// How a sample that has a partner is mixed. @param random_bits See `mixing_bits`.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline sample_mix mix_of(const pair_mixing& by,
                                                            std::uint32_t random_bits) noexcept {
  if (draw(random_bits, mixed_draw) >= by.mixed_below) return {};
  if (draw(random_bits, cut_draw) < by.cut_below)
    return cut_box(by, beta_draw(by.inverse_cutmix_alpha, random_bits), random_bits);
  return {beta_draw(by.inverse_mixup_alpha, random_bits), {}};
}

/// A value of a sample, and its partner's value, as a weighted sum.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float mixed_value(float own, float value,
                                                            float other) noexcept {
  return sum(product(own, value), product(sum(1.0F, -own), other));
}

}  // namespace feedline::detail
