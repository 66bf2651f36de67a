#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The samples of a batch that share their draws: whether they are mixed, how, and with which
/// weight.
enum class mixing_draws : std::uint8_t {
  batch,  ///< all of the batch, as torchvision's `MixUp` and `CutMix` and timm's mode `batch` draw
  pair,   ///< two partners, like timm's mode `pair`
  sample  ///< none, like timm's mode `elem`
};

/// "batch", "pair" or "sample".
[[nodiscard]] const char* to_string(mixing_draws draws) noexcept;

/// Mixes pairs of samples of a batch, image and label: mixup (Zhang et al., "mixup: Beyond
/// Empirical Risk Minimization", ICLR 2018) and cutmix (Yun et al., "CutMix: Regularization
/// Strategy to Train Strong Classifiers with Localizable Features", ICCV 2019). Applied after the
/// transforms.
///
///     options.transforms = {
///         {.field = "image", .to = element_type::f16, .layout = image_layout::chw},
///         {.field = "label", .one_hot = 1000}};
///     options.mixing =
///         mixing{.image = "image", .label = "label", .mixup_alpha = 0.2, .cutmix_alpha = 1.0};
///
/// A batch's samples 2i and 2i + 1 are partners. If the number of samples is odd, the last one has
/// no partner and is not changed. Batches of one sample are not changed either. Ranks with an even
/// `batch_size` have the same partners in their whole batches as a single process.
///
/// Whether samples are mixed, how, and by which weight w from Beta(alpha, alpha) is drawn for
/// each batch, pair or sample: `draws` says which. A batch's draws are keyed by
/// (`loader_options::seed`, epoch, index of the batch), and are the same on all ranks; the keys of
/// the others are (seed, epoch, sample), where a pair's sample is its first one. For partners x
/// and y, mixup computes w × x + (1 − w) × y, for images and labels. Cutmix copies a box of the
/// partner's image. The box has √(1 − w) of the image's height and width, is centred on a point
/// drawn in the image, and is clipped to the image. The label's weight is then the share of the
/// image that is left, as in torchvision.
///
/// With `mixing_draws::sample`, a sample's weights in its own row and in its partner's do not sum
/// to 1: in an epoch some samples count nearly twice and others hardly at all. Networks that train
/// for few epochs become less accurate by it.
struct mixing {
  std::string image = {};  ///< a field that is f32, f16 or bf16 in batches
  /// Same, with one number a class, as made by `one_hot`; empty: no label is mixed.
  std::string label = {};
  double mixup_alpha = 0.0;   ///< 0.001 to 1000; 0: no mixup
  double cutmix_alpha = 0.0;  ///< 0.001 to 1000; 0: no cutmix
  double probability = 1.0;   ///< probability that a sample is mixed
  double cutmix_share = 0.5;  ///< share of cutmix among the mixed samples, if both alphas are set
  mixing_draws draws = mixing_draws::batch;
};

/// "mixing of image and label: mixup 0.2, cutmix 1": all members that differ from their defaults;
/// draws unless they are of each sample, as all were before there was a choice. Texts are kept
/// across versions (`loader_state`).
[[nodiscard]] std::string to_string(const mixing& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
