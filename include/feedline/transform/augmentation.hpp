#pragma once

#include <feedline/dataset/interpolation.hpp>
#include <feedline/export.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The range from `low` to `high`, both included.
struct value_range {
  double low = 0.0;
  double high = 0.0;
};

/// Resizes the whole image: bilinear, with antialiasing, like torchvision's `resize` of
/// floating-point images.
struct image_resize {
  std::uint64_t height = 0;  ///< 1 to 65535, like the source image's
  std::uint64_t width = 0;
};

/// Resizes a random window of each image, drawn for each sample and epoch, like `image_resize`. The
/// window is drawn as in torchvision's `RandomResizedCrop`: ten tries, then the middle.
struct random_resized_crop {
  std::uint64_t height = 0;  ///< height of the result, 1 to 65535
  std::uint64_t width = 0;
  value_range scale = {0.08, 1.0};           ///< the window's share of the image's area, 0 to 1
  value_range ratio = {3.0 / 4, 4.0 / 3.0};  ///< the window's width over its height
};

/// Changes colours at random for each sample and epoch. For bytes with one channel (grey) or three
/// (red, green, blue). Like torchvision's `ColorJitter`: the four changes are applied in an
/// order that is drawn for each sample, too. Values are not rounded in between. Each result is
/// clamped to 0 to 255.
struct color_jitter {
  double brightness = 0.0;  ///< factor 1 - value to 1 + value, at least 0
  double contrast = 0.0;    ///< same, for the distance from the image's mean grey
  double saturation = 0.0;  ///< same, for the distance from the pixel's grey
  double hue = 0.0;         ///< rotated by -value to +value, in full circles; at most 0.5
};

/// Makes images of three channels (red, green, blue) grey, like torchvision's `RandomGrayscale`,
/// but grey values are not rounded.
struct random_grayscale {
  double probability = 0.1;
  /// Channels in the batch: 3, which are equal in a grey image; or 1, if the probability is 1.
  std::uint64_t channels = 3;
};

/// Each value becomes 255 - value, like torchvision's `RandomInvert`.
struct random_invert {
  double probability = 0.5;
};

/// Keeps the highest bits of each byte, like torchvision's `RandomPosterize`.
struct random_posterize {
  std::uint64_t bits = 8;  ///< 0 to 8; 8 keeps all
  double probability = 0.5;
};

/// Inverts all values from a threshold on, like torchvision's `RandomSolarize`.
struct random_solarize {
  double threshold = 128.0;  ///< 0 to 256
  double probability = 0.5;
};

/// Stretches each channel's values to 0 to 255, like torchvision's `RandomAutocontrast`.
struct random_autocontrast {
  double probability = 0.5;
};

/// Makes each channel's histogram even, like torchvision's `RandomEqualize`.
struct random_equalize {
  double probability = 0.5;
};

/// Blurs or sharpens by each pixel's eight neighbours, like torchvision's `RandomAdjustSharpness`.
struct random_adjust_sharpness {
  double sharpness_factor = 1.0;  ///< 0: blurred; 1: unchanged; 2: sharpened; at most 1000
  double probability = 0.5;
};

/// Blurs each image by a Gaussian kernel, like torchvision's `GaussianBlur`, with mirrored edges. A
/// field's transform has either this or `random_adjust_sharpness`.
struct gaussian_blur {
  std::uint64_t kernel_size = 3;   ///< pixels of the kernel's width and height, odd, 1 to 33
  value_range sigma = {0.1, 2.0};  ///< standard deviation in pixels, 0.05 to 1000, drawn evenly
  double probability = 1.0;        ///< other images stay sharp, as by `RandomApply`
};

/// Rotates, shears, scales and moves each image, drawn for each sample and epoch, like
/// torchvision's `RandomAffine`. Flip and window come first. All of it is one resampling, with
/// `interpolation` nearest or bilinear.
struct random_affine {
  value_range degrees = {};  ///< angle of the clockwise rotation, -360 to 360
  /// Moved by up to these shares of width and height to either side, 0 to 1.
  std::array<double, 2> translate = {};
  value_range scale = {1.0, 1.0};  ///< factor of the size, 0.001 to 1000
  /// Least and most degrees of shear along lines, and along columns, -89 to 89.
  std::array<double, 4> shear = {};
  feedline::interpolation interpolation = feedline::interpolation::nearest;
  double fill = 0.0;  ///< value outside the image, 0 to 255, before `scale` and `mean`
};

/// Shows each image as if seen from a side, like torchvision's `RandomPerspective`. Its corners
/// move to points that are drawn for each sample and epoch. With `random_affine`, which comes
/// first, and moves of the sets it is one resampling.
struct random_perspective {
  /// How far corners move inwards, as a share of half the image's width and height, 0 to 1. From
  /// 2/3 on some images are folded, as torchvision folds them.
  double distortion_scale = 0.5;
  double probability = 0.5;
  feedline::interpolation interpolation = feedline::interpolation::bilinear;
  double fill = 0.0;  ///< value outside the image, 0 to 255, before `scale` and `mean`
};

/// One operation, of a magnitude, both drawn for each sample and epoch, like torchvision's
/// `TrivialAugmentWide` (S. Müller and F. Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art
/// Data Augmentation", ICCV 2021): nothing, shear, translation, rotation, brightness, saturation,
/// contrast, sharpness, posterize, solarize, autocontrast or equalize.
struct trivial_augment_wide {
  std::uint64_t num_magnitude_bins = 31;  ///< 2 to 1000
  feedline::interpolation interpolation = feedline::interpolation::nearest;
  double fill = 0.0;
};

/// Several operations, each drawn for each sample and epoch, like torchvision's `RandAugment`
/// (E. D. Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced search
/// space", NeurIPS 2020). Those that move pixels come before those that change colours, and are one
/// resampling.
struct rand_augment {
  std::uint64_t num_ops = 2;              ///< operations of a sample, 1 to 3
  std::uint64_t magnitude = 9;            ///< index of a bin, below `num_magnitude_bins`
  std::uint64_t num_magnitude_bins = 31;  ///< 2 to 1000
  feedline::interpolation interpolation = feedline::interpolation::nearest;
  double fill = 0.0;
};

/// Policies that were learned for these datasets.
enum class auto_augment_policy : std::uint8_t { imagenet, cifar10, svhn };

/// One of a policy's 25 pairs of operations, drawn for each sample and epoch, like torchvision's
/// `AutoAugment` (E. D. Cubuk et al., "AutoAugment: Learning Augmentation Strategies from Data",
/// CVPR 2019). Moves come before colours, as in `rand_augment`.
struct auto_augment {
  auto_augment_policy policy = auto_augment_policy::imagenet;
  feedline::interpolation interpolation = feedline::interpolation::nearest;
  double fill = 0.0;
};

/// Mixes each image with copies of it that chains of operations change, all drawn for each sample
/// and epoch, like torchvision's `AugMix` (D. Hendrycks et al., "AugMix: A Simple Data Processing
/// Method to Improve Robustness and Uncertainty", ICLR 2020). Moves of a chain come before
/// colours, as in `rand_augment`.
struct augmix {
  std::uint64_t severity = 3;       ///< magnitudes are drawn from the lowest of 10 bins, 1 to 10
  std::uint64_t mixture_width = 3;  ///< number of chains, 1 to 4
  std::int64_t chain_depth = -1;    ///< operations of a chain, 1 to 3; -1: drawn for each chain
  double alpha = 1.0;               ///< parameter of the weights' distributions, 0.1 to 1000
  bool all_ops = true;              ///< brightness, saturation, contrast and sharpness, too
  feedline::interpolation interpolation = feedline::interpolation::bilinear;
  double fill = 0.0;
};

/// Sets a random rectangle of each image to one value, drawn for each sample and epoch, as in
/// torchvision's `RandomErasing`: ten tries, then none.
struct random_erasing {
  double probability = 0.5;
  value_range scale = {0.02, 0.33};  ///< the rectangle's share of the image's area, 0 to 1
  value_range ratio = {0.3, 3.3};    ///< the rectangle's height over its width
  /// For each channel, or one for all, before `scale` and `mean` of the transform; empty: 0.
  std::vector<double> value = {};
  /// Each element becomes noise instead: normally distributed with mean 0 and deviation 1 in the
  /// batch, after `scale`, `mean` and `stddev`, as torchvision's `value="random"`. For bytes with
  /// one channel or three.
  bool noise = false;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
