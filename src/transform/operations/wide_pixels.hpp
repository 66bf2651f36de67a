#pragma once

#include "transform/operations/wide_steps.hpp"

#include <cstdint>

namespace feedline::detail {

/// A rectangle of the batch's image, in pixels.
struct pixel_area {
  std::uint32_t top;
  std::uint32_t left;
  std::uint32_t height;
  std::uint32_t width;
};

/// Memory shared by the threads that make a sample by wide steps.
struct wide_memory {
  static constexpr std::uint32_t side = 32;  ///< side of a tile that is blurred, in pixels
  static constexpr std::uint32_t around = side + 2 * blur_step::max_radius;

  wide_steps steps;
  unsigned long long shares;                ///< a sum over the image
  std::uint32_t counts[3][256];             ///< each channel's counts of bytes
  std::uint8_t before[3][around * around];  ///< a tile and its surroundings, not yet blurred
  float lines[around * side];               ///< one channel, blurred along lines
  std::uint8_t after[3][side * side];       ///< the tile, blurred
};

/// Makes a sample's pixels by wide steps. Host and devices use it, with the same bits.
/// @tparam Team Threads that run the same code: `rank()`, `size()`, `sync()`, and `add(to, value)`,
///   which adds to a number of the memory.
/// @tparam Base Returns the window's pixel at (y, x).
template <class Team, class Base>
class wide_pixels {
 public:
  /// @param memory Holds the sample's steps. @param channels Those of the window's pixels.
  FEEDLINE_HOST_DEVICE wide_pixels(const Team& team, const Base& base, wide_memory& memory,
                                   pixel_extents image, std::uint32_t channels) noexcept
      : team_{team}, base_{base}, memory_{memory}, image_{image}, channels_{channels} {}

  /// Gives each step what it needs of its image as the steps before it leave it.
  FEEDLINE_HOST_DEVICE void look() noexcept {
    wide_steps& steps = memory_.steps;
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i <= steps.mix.count; ++i) {
      const bool is_last = i == steps.mix.count;
      color_steps& colors = is_last ? steps.colors : steps.mix.chain[i].colors;
      FEEDLINE_SHORT_LOOP
      for (std::uint32_t step = colors.next_of_image(0); step < colors.count;
           step = colors.next_of_image(step + 1))
        look_at(colors, step, is_last ? nullptr : &steps.mix.chain[i]);
    }
  }

  /// Calls visit(at, color, channels) for each pixel of an area, by one of the threads.
  template <class Visit>
  FEEDLINE_HOST_DEVICE void make(const pixel_area& area, const Visit& visit) noexcept {
    each_tile(area, memory_.steps.colors.count, visit);
  }

 private:
  /// @param chain The chain that has the step; null: the sample has it.
  FEEDLINE_HOST_DEVICE void look_at(color_steps& colors, std::uint32_t step,
                                    const step_chain* chain) noexcept {
    const bool needs_counts = colors.at[step].needs_counts();
    team_.sync();
    for (std::uint32_t i = team_.rank(); i < 3 * 256; i += team_.size())
      memory_.counts[i / 256][i % 256] = 0;
    if (team_.rank() == 0) memory_.shares = 0;
    team_.sync();
    unsigned long long shares = 0;
    const auto see = [&](const pixel_place&, const color& pixel, std::uint32_t channels) {
      if (!needs_counts) {
        shares += grey_share(colors.at[step], pixel, channels);
        return;
      }
      for (std::uint32_t c = 0; c < 3; ++c)
        if (c < channels) team_.add(memory_.counts[c][byte_of(pixel.of[c])], 1U);
    };
    const pixel_area all{0, 0, image_.height, image_.width};
    if (chain == nullptr) {
      each_tile(all, step, see);
    } else {
      each_pixel(all, [&](const pixel_place& at) {
        std::uint32_t channels = channels_;
        const color pixel = chained(*chain, step, at.y, at.x, channels);
        see(at, pixel, channels);
      });
    }
    if (!needs_counts) team_.add(memory_.shares, shares);
    team_.sync();
    const std::uint32_t pixels = image_.height * image_.width;
    if (!needs_counts && team_.rank() == 0) colors.set_sum(step, memory_.shares, pixels);
    for (std::uint32_t c = team_.rank(); needs_counts && c < 3; c += team_.size())
      colors.set_table(step, c, memory_.counts[c], pixels);
    team_.sync();
  }

  template <class Visit>
  FEEDLINE_HOST_DEVICE void each_pixel(const pixel_area& area, const Visit& visit) const noexcept {
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = team_.rank(); i < area.height * area.width; i += team_.size())
      visit(pixel_place{area.top + i / area.width, area.left + i % area.width, 0});
  }

  /// Calls visit for an area's pixels after the sample's colour steps before `end`.
  template <class Visit>
  FEEDLINE_HOST_DEVICE void each_tile(const pixel_area& area, std::uint32_t end,
                                      const Visit& visit) noexcept {
    const wide_steps& steps = memory_.steps;
    if (!steps.blur.any || end < steps.blur.at) {
      each_pixel(area, [&](const pixel_place& at) {
        std::uint32_t channels = channels_;
        const color pixel = sharp(end, at.y, at.x, channels);
        visit(at, pixel, channels);
      });
      return;
    }
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t top = 0; top < area.height; top += wide_memory::side) FEEDLINE_SHORT_LOOP
    for (std::uint32_t left = 0; left < area.width; left += wide_memory::side) {
      const pixel_area tile{area.top + top, area.left + left,
                            least(area.height - top, wide_memory::side),
                            least(area.width - left, wide_memory::side)};
      const std::uint32_t after = blur(tile);
      each_pixel(tile, [&](const pixel_place& at) {
        std::uint32_t channels = after;
        const std::uint32_t from = (at.y - tile.top) * wide_memory::side + at.x - tile.left;
        color pixel{};
        for (std::uint32_t c = 0; c < 3; ++c)
          pixel.of[c] = static_cast<float>(memory_.after[c < after ? c : 0][from]);
        steps.colors.apply(steps.blur.at, end, pixel, channels);
        visit(at, pixel, channels);
      });
      team_.sync();
    }
  }

  /// The window's pixel after a chain's moves and colour steps before `end`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE FEEDLINE_SEPARATE color
  chained(const step_chain& chain, std::uint32_t end, std::uint32_t y, std::uint32_t x,
          std::uint32_t& channels) const noexcept {
    return sample_point(chain, base_, image_, end, y, x, channels);
  }

  /// A pixel as it is mixed of the chains. Values are cut to whole numbers, as torchvision does.
  [[nodiscard]] FEEDLINE_HOST_DEVICE FEEDLINE_SEPARATE color mixed(std::uint32_t y,
                                                                   std::uint32_t x) const noexcept {
    const chain_mix& mix = memory_.steps.mix;
    color sums = mix.start.any ? mix.start.sampled(base_, image_, y, x) : base_(y, x);
    for (float& value : sums.of) value = product(mix.own, static_cast<float>(byte_of(value)));
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < mix.count; ++i) {
      std::uint32_t channels = channels_;
      const color made = chained(mix.chain[i], mix.chain[i].colors.count, y, x, channels);
      for (std::uint32_t c = 0; c < 3; ++c)
        sums.of[c] = sum(sums.of[c], product(mix.weight[i], made.of[c]));
    }
    for (float& value : sums.of) value = fminf(floorf(value), 255.0F);
    return sums;
  }

  /// A pixel after the colour steps before `end`, without a blur.
  [[nodiscard]] FEEDLINE_HOST_DEVICE FEEDLINE_SEPARATE color sharp(
      std::uint32_t end, std::uint32_t y, std::uint32_t x, std::uint32_t& channels) const noexcept {
    const wide_steps& steps = memory_.steps;
    if (steps.mix.count == 0) return chained(steps, end, y, x, channels);
    const auto of_mix = [&](std::uint32_t line, std::uint32_t column) {
      return mixed(line, column);
    };
    return sample_point(steps, of_mix, image_, end, y, x, channels);
  }

  /// Makes the tile's blurred bytes. @return The channels that they have.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t blur(const pixel_area& tile) noexcept {
    const blur_step& by = memory_.steps.blur;
    const std::uint32_t across = tile.width + 2 * by.radius;
    const std::uint32_t down = tile.height + 2 * by.radius;
    const auto radius = static_cast<std::int32_t>(by.radius);
    // Operations leave as many channels in each of a batch's images.
    std::uint32_t after = channels_;
    for (std::uint32_t i = 0; i < by.at; ++i)
      if (memory_.steps.colors.at[i].kind == step_kind::grayscale)
        after = static_cast<std::uint32_t>(memory_.steps.colors.at[i].value);
    each_pixel({0, 0, down, across}, [&](const pixel_place& at) {
      std::uint32_t channels = channels_;
      const auto line = static_cast<std::int32_t>(tile.top + at.y) - radius;
      const auto column = static_cast<std::int32_t>(tile.left + at.x) - radius;
      const color pixel =
          sharp(by.at, mirrored(line, image_.height), mirrored(column, image_.width), channels);
      for (std::uint32_t c = 0; c < 3; ++c)
        memory_.before[c][at.y * wide_memory::around + at.x] =
            static_cast<std::uint8_t>(byte_of(pixel.of[c]));
    });
    team_.sync();
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t c = 0; c < after; ++c) {
      each_pixel({0, 0, down, tile.width}, [&](const pixel_place& at) {
        const std::uint8_t* const from =
            memory_.before[c] + at.y * wide_memory::around + at.x + by.radius;
        memory_.lines[at.y * wide_memory::side + at.x] =
            by.blurred([&](std::int32_t apart) { return static_cast<float>(from[apart]); });
      });
      team_.sync();
      each_pixel({0, 0, tile.height, tile.width}, [&](const pixel_place& at) {
        const float* const from = memory_.lines + (at.y + by.radius) * wide_memory::side + at.x;
        const float made = by.blurred([&](std::int32_t apart) {
          return from[apart * static_cast<std::int32_t>(wide_memory::side)];
        });
        memory_.after[c][at.y * wide_memory::side + at.x] =
            static_cast<std::uint8_t>(byte_of(made));
      });
      team_.sync();
    }
    return after;
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t least(std::uint32_t a,
                                                                std::uint32_t b) noexcept {
    return a < b ? a : b;
  }

  const Team& team_;
  const Base& base_;
  wide_memory& memory_;
  pixel_extents image_;
  std::uint32_t channels_;
};

}  // namespace feedline::detail
