#pragma once

#include "transform/operations/blur_step.hpp"
#include "transform/operations/steps.hpp"

#include <cstdint>

namespace feedline::detail {

/// Images that are made of a sample's window by a chain of steps each, and mixed.
struct chain_mix {
  static constexpr std::uint32_t max_chains = 4;

  std::uint32_t count = 0;  ///< chains; 0: nothing is mixed
  pixel_map start;          ///< the moves before all chains, which their maps hold, too
  float own = 1.0F;         ///< weight of the image itself
  float weight[max_chains] = {};
  step_chain chain[max_chains];
};

/// Steps that need more than a pixel and its neighbours: several images of a sample, or a wide
/// neighbourhood. They are few, large, and in a kernel of their own. The images are mixed first;
/// then come the sample's colour steps, and among them the blur.
struct wide_steps : sample_steps {
  blur_step blur;
  chain_mix mix;

  FEEDLINE_HOST_DEVICE void clear() noexcept {
    sample_steps::clear();
    blur.any = false;
    mix.count = 0;
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE bool needs_image() const noexcept {
    bool any = step_chain::needs_image();
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < mix.count; ++i) any = any || mix.chain[i].needs_image();
    return any;
  }
};

}  // namespace feedline::detail
