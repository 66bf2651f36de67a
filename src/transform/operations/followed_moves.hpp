#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/random_affine.hpp"
#include "transform/operations/random_perspective.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// Moves of an image's pixels that coordinates of boxes and points follow.
class followed_moves {
 public:
  /// Moves as a transform has them. Options must be valid.
  followed_moves(const std::optional<random_affine>& affine,
                 const std::optional<random_perspective>& perspective) {
    if (affine) affine_ = random_affine_operation::plan(*affine);
    if (perspective) perspective_ = random_perspective_operation::plan(*perspective);
  }

  [[nodiscard]] bool any() const noexcept { return affine_ || perspective_; }

  /// The map of a sample's pixels, which its operations draw, too.
  [[nodiscard]] pixel_map draw(pixel_extents image, std::uint32_t random_bits) const noexcept {
    sample_steps steps;  // NOLINT: its tables are not used
    steps.clear();
    if (affine_) random_affine_operation::add_steps(*affine_, image, random_bits, steps);
    if (perspective_)
      random_perspective_operation::add_steps(*perspective_, image, random_bits, steps);
    return steps.map;
  }

  /// The moves in words, without what makes pixels of them. Empty: there are none.
  [[nodiscard]] static std::string text(const field_transform& of) {
    std::string text;
    const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
    if (of.affine) {
      random_affine moves = *of.affine;
      moves.interpolation = feedline::interpolation::nearest;
      moves.fill = 0;
      add(random_affine_operation::text(moves));
    }
    if (of.perspective) {
      random_perspective moves = *of.perspective;
      moves.interpolation = feedline::interpolation::nearest;
      moves.fill = 0;
      add(random_perspective_operation::text(moves));
    }
    return text;
  }

 private:
  std::optional<random_affine_operation::parameters> affine_;
  std::optional<random_perspective_operation::parameters> perspective_;
};

}  // namespace feedline::detail
