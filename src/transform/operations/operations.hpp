#pragma once

#include "transform/operations/augment_sets.hpp"
#include "transform/operations/augmix.hpp"
#include "transform/operations/auto_augment.hpp"
#include "transform/operations/color_jitter.hpp"
#include "transform/operations/gaussian_blur.hpp"
#include "transform/operations/operation_list.hpp"
#include "transform/operations/random_affine.hpp"
#include "transform/operations/random_erasing.hpp"
#include "transform/operations/random_perspective.hpp"
#include "transform/operations/random_steps.hpp"

namespace feedline::detail {

/// All operations, in the order in which they are applied and named in texts.
using operations =
    operation_list<random_affine_operation, random_perspective_operation, trivial_augment_operation,
                   rand_augment_operation, auto_augment_operation, augmix_operation,
                   color_jitter_operation, random_grayscale_operation, gaussian_blur_operation,
                   random_invert_operation, random_posterize_operation, random_solarize_operation,
                   random_autocontrast_operation, random_equalize_operation,
                   random_sharpness_operation, random_erasing_operation>;

}  // namespace feedline::detail
