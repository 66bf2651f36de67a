#pragma once

#include <feedline/export.hpp>

#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Samples of a batch mixed by two, image and label: mixup (Zhang et al., "mixup: Beyond Empirical
/// Risk Minimization", ICLR 2018) and cutmix (Yun et al., "CutMix: Regularization Strategy to Train
/// Strong Classifiers with Localizable Features", ICCV 2019). It comes after the transforms.
///
///     options.transforms = {
///         {.field = "image", .to = element_type::f16, .layout = image_layout::chw},
///         {.field = "label", .one_hot = 1000}};
///     options.mixing =
///         mixing{.image = "image", .label = "label", .mixup_alpha = 0.2, .cutmix_alpha = 1.0};
///
/// A batch's samples 2i and 2i + 1 are partners. The last of an odd number has none, and stays as
/// it is; so does each sample of batches of one. Ranks with an even `batch_size` have in their
/// whole batches the partners that one process has.
///
/// Each sample of a pair draws for itself, keyed by (`loader_options::seed`, epoch,
/// sample): whether it is mixed, how, and a weight w from Beta(alpha, alpha). Of partners x and y,
/// mixup makes w × x + (1 − w) × y, of images and labels. Cutmix copies a box of the partner's
/// image, of the height and width √(1 − w) of the image's about a point drawn in it, as far as the
/// image goes; the label's weight is then the share of the image that is left, as with torchvision.
struct mixing {
  std::string image = {};     ///< field that is f32, f16 or bf16 in batches
  std::string label = {};     ///< likewise: a number a class, as `one_hot` makes; empty: none
  double mixup_alpha = 0.0;   ///< 0.001 to 1000; 0: no mixup
  double cutmix_alpha = 0.0;  ///< 0.001 to 1000; 0: no cutmix
  double probability = 1.0;   ///< that a sample is mixed
  double cutmix_share = 0.5;  ///< of the samples that are mixed, where both alphas are set
};

/// "mixing of image and label: mixup 0.2, cutmix 1": all that is not left at its default. Texts are
/// kept across versions (`loader_state`).
[[nodiscard]] std::string to_string(const mixing& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
