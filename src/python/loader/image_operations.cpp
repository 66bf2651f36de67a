// Over 250 lines: one short binding for each operation on images.

#include <feedline/transform/augmentation.hpp>

#include "python/bindings.hpp"
#include "python/named.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using range = std::pair<double, double>;
using sampling = named<feedline::interpolation>;

/// A range, or a number for the range from -number to number.
using around_0 = std::variant<double, range>;

value_range range_of(const around_0& given) {
  if (const auto* const most = std::get_if<double>(&given)) return {-*most, *most};
  const auto& [low, high] = std::get<range>(given);
  return {low, high};
}

/// Shear along lines, or along lines and columns.
using shears = std::array<double, 4>;
using any_shear = std::variant<double, range, shears>;

shears shears_of(const any_shear& given) {
  if (const auto* const most = std::get_if<double>(&given)) return {-*most, *most, 0, 0};
  if (const auto* const lines = std::get_if<range>(&given))
    return {lines->first, lines->second, 0, 0};
  return std::get<shears>(given);
}

/// An operation that a sample gets with a probability, and at most one more option.
template <class Options>
nb::class_<Options> bind_random(nb::module_& module, const char* name, const char* words) {
  const Options usual;
  return nb::class_<Options>(module, name, words)
      .def(
          "__init__",
          [](Options* self, double probability) { new (self) Options{.probability = probability}; },
          nb::kw_only(), "probability"_a = usual.probability)
      .def_ro("probability", &Options::probability);
}
template <class Options, class Value>
nb::class_<Options> bind_random(nb::module_& module, const char* name, const char* words,
                                const char* member, Value Options::*value) {
  const Options usual;
  return nb::class_<Options>(module, name, words)
      .def(
          "__init__",
          [value](Options* self, Value given, double probability) {
            new (self) Options{.probability = probability};
            self->*value = given;
          },
          nb::kw_only(), nb::arg(member) = usual.*value, "probability"_a = usual.probability)
      .def_ro(member, value)
      .def_ro("probability", &Options::probability);
}

void bind_colors(nb::module_& module) {
  const color_jitter same;
  nb::class_<color_jitter>(module, "ColorJitter", "Other colours for each sample and epoch.")
      .def(
          "__init__",
          [](color_jitter* self, double brightness, double contrast, double saturation,
             double hue) {
            new (self) color_jitter{.brightness = brightness,
                                    .contrast = contrast,
                                    .saturation = saturation,
                                    .hue = hue};
          },
          nb::kw_only(), "brightness"_a = same.brightness, "contrast"_a = same.contrast,
          "saturation"_a = same.saturation, "hue"_a = same.hue)
      .def_ro("brightness", &color_jitter::brightness)
      .def_ro("contrast", &color_jitter::contrast)
      .def_ro("saturation", &color_jitter::saturation)
      .def_ro("hue", &color_jitter::hue);

  bind_random<random_grayscale>(module, "RandomGrayscale",
                                "Grey images, in 3 channels or (with probability 1) in 1.",
                                "channels", &random_grayscale::channels);
  bind_random<random_invert>(module, "RandomInvert", "255 - value.");
  bind_random<random_posterize>(module, "RandomPosterize", "Bytes with their highest bits alone.",
                                "bits", &random_posterize::bits);
  bind_random<random_solarize>(module, "RandomSolarize", "Values from a threshold on, inverted.",
                               "threshold", &random_solarize::threshold);
  bind_random<random_autocontrast>(module, "RandomAutocontrast",
                                   "Each channel's values, stretched to 0 to 255.");
  bind_random<random_equalize>(module, "RandomEqualize",
                               "Each channel's values, with an even histogram.");
  bind_random<random_adjust_sharpness>(
      module, "RandomAdjustSharpness",
      "Blurred (factor 0 to 1) or sharpened images, by 3 x 3 pixels.", "sharpness_factor",
      &random_adjust_sharpness::sharpness_factor);

  const gaussian_blur soft;
  nb::class_<gaussian_blur>(module, "GaussianBlur",
                            "Images blurred by a Gaussian kernel, with a deviation drawn for each "
                            "sample and epoch.")
      .def(
          "__init__",
          [](gaussian_blur* self, std::uint64_t size, const std::variant<double, range>& sigma,
             double probability) {
            const auto* const one = std::get_if<double>(&sigma);
            const range from = one != nullptr ? range{*one, *one} : std::get<range>(sigma);
            new (self) gaussian_blur{.kernel_size = size,
                                     .sigma = {from.first, from.second},
                                     .probability = probability};
          },
          nb::kw_only(), "kernel_size"_a,
          "sigma"_a = std::variant<double, range>{range{soft.sigma.low, soft.sigma.high}},
          "probability"_a = soft.probability, "`sigma` is a range, or a number.")
      .def_ro("kernel_size", &gaussian_blur::kernel_size)
      .def_prop_ro("sigma",
                   [](const gaussian_blur& self) {
                     return range{self.sigma.low, self.sigma.high};
                   })
      .def_ro("probability", &gaussian_blur::probability);

  const random_erasing part;
  nb::class_<random_erasing>(module, "RandomErasing",
                             "A rectangle of each image, drawn for each sample and epoch, set to "
                             "one value or to noise.")
      .def(
          "__init__",
          [](random_erasing* self, double probability, range scale, range ratio,
             std::vector<double> value, bool noise) {
            new (self) random_erasing{.probability = probability,
                                      .scale = {scale.first, scale.second},
                                      .ratio = {ratio.first, ratio.second},
                                      .value = std::move(value),
                                      .noise = noise};
          },
          nb::kw_only(), "probability"_a = part.probability,
          "scale"_a = range{part.scale.low, part.scale.high},
          "ratio"_a = range{part.ratio.low, part.ratio.high}, "value"_a = part.value,
          "noise"_a = part.noise)
      .def_ro("probability", &random_erasing::probability)
      .def_prop_ro("scale",
                   [](const random_erasing& self) {
                     return range{self.scale.low, self.scale.high};
                   })
      .def_prop_ro("ratio",
                   [](const random_erasing& self) {
                     return range{self.ratio.low, self.ratio.high};
                   })
      .def_ro("value", &random_erasing::value)
      .def_ro("noise", &random_erasing::noise);
}

void bind_moves(nb::module_& module) {
  using pair = std::array<double, 2>;
  const random_affine still;
  nb::class_<random_affine>(module, "RandomAffine",
                            "Images rotated, moved, scaled and sheared, by one resampling.")
      .def(
          "__init__",
          [](random_affine* self, const around_0& degrees, pair translate, range scale,
             const any_shear& shear, const sampling& interpolation, double fill) {
            new (self) random_affine{.degrees = range_of(degrees),
                                     .translate = translate,
                                     .scale = {scale.first, scale.second},
                                     .shear = shears_of(shear),
                                     .interpolation = interpolation,
                                     .fill = fill};
          },
          nb::kw_only(), "degrees"_a, "translate"_a = still.translate,
          "scale"_a = range{still.scale.low, still.scale.high}, "shear"_a = any_shear{still.shear},
          "interpolation"_a = sampling{still.interpolation}, "fill"_a = still.fill,
          "`degrees` and `shear` are ranges; a number is the range from -number to number. A "
          "number "
          "or a pair is the shear along lines, four numbers also that along columns.")
      .def_prop_ro("degrees",
                   [](const random_affine& self) {
                     return range{self.degrees.low, self.degrees.high};
                   })
      .def_ro("translate", &random_affine::translate)
      .def_prop_ro("scale",
                   [](const random_affine& self) {
                     return range{self.scale.low, self.scale.high};
                   })
      .def_ro("shear", &random_affine::shear)
      .def_prop_ro("interpolation",
                   [](const random_affine& self) { return sampling{self.interpolation}; })
      .def_ro("fill", &random_affine::fill);

  const random_perspective usual;
  nb::class_<random_perspective>(module, "RandomPerspective",
                                 "Images as if seen from a side, joined with other moves.")
      .def(
          "__init__",
          [](random_perspective* self, double distortion, double probability,
             const sampling& interpolation, double fill) {
            new (self) random_perspective{.distortion_scale = distortion,
                                          .probability = probability,
                                          .interpolation = interpolation,
                                          .fill = fill};
          },
          nb::kw_only(), "distortion_scale"_a = usual.distortion_scale,
          "probability"_a = usual.probability, "interpolation"_a = sampling{usual.interpolation},
          "fill"_a = usual.fill)
      .def_ro("distortion_scale", &random_perspective::distortion_scale)
      .def_ro("probability", &random_perspective::probability)
      .def_prop_ro("interpolation",
                   [](const random_perspective& self) { return sampling{self.interpolation}; })
      .def_ro("fill", &random_perspective::fill);
}

void bind_sets(nb::module_& module) {
  const trivial_augment_wide trivial;
  nb::class_<trivial_augment_wide>(module, "TrivialAugmentWide",
                                   "One operation of a set, of any magnitude, for each sample and "
                                   "epoch.")
      .def(
          "__init__",
          [](trivial_augment_wide* self, std::uint64_t bins, const sampling& interpolation,
             double fill) {
            new (self) trivial_augment_wide{
                .num_magnitude_bins = bins, .interpolation = interpolation, .fill = fill};
          },
          nb::kw_only(), "num_magnitude_bins"_a = trivial.num_magnitude_bins,
          "interpolation"_a = sampling{trivial.interpolation}, "fill"_a = trivial.fill)
      .def_ro("num_magnitude_bins", &trivial_augment_wide::num_magnitude_bins)
      .def_prop_ro("interpolation",
                   [](const trivial_augment_wide& self) { return sampling{self.interpolation}; })
      .def_ro("fill", &trivial_augment_wide::fill);

  const rand_augment usual;
  nb::class_<rand_augment>(module, "RandAugment",
                           "Some operations of a set, of one magnitude, for each sample and "
                           "epoch.")
      .def(
          "__init__",
          [](rand_augment* self, std::uint64_t operations, std::uint64_t magnitude,
             std::uint64_t bins, const sampling& interpolation, double fill) {
            new (self) rand_augment{.num_ops = operations,
                                    .magnitude = magnitude,
                                    .num_magnitude_bins = bins,
                                    .interpolation = interpolation,
                                    .fill = fill};
          },
          nb::kw_only(), "num_ops"_a = usual.num_ops, "magnitude"_a = usual.magnitude,
          "num_magnitude_bins"_a = usual.num_magnitude_bins,
          "interpolation"_a = sampling{usual.interpolation}, "fill"_a = usual.fill)
      .def_ro("num_ops", &rand_augment::num_ops)
      .def_ro("magnitude", &rand_augment::magnitude)
      .def_ro("num_magnitude_bins", &rand_augment::num_magnitude_bins)
      .def_prop_ro("interpolation",
                   [](const rand_augment& self) { return sampling{self.interpolation}; })
      .def_ro("fill", &rand_augment::fill);

  using policies = named<auto_augment_policy>;
  const auto_augment learned;
  nb::class_<auto_augment>(module, "AutoAugment",
                           "A pair of operations of a learned policy, for each sample and epoch.")
      .def(
          "__init__",
          [](auto_augment* self, const policies& policy, const sampling& interpolation,
             double fill) {
            new (self) auto_augment{.policy = policy, .interpolation = interpolation, .fill = fill};
          },
          nb::kw_only(), "policy"_a = policies{learned.policy},
          "interpolation"_a = sampling{learned.interpolation}, "fill"_a = learned.fill)
      .def_prop_ro("policy", [](const auto_augment& self) { return policies{self.policy}; })
      .def_prop_ro("interpolation",
                   [](const auto_augment& self) { return sampling{self.interpolation}; })
      .def_ro("fill", &auto_augment::fill);

  const augmix mixed;
  nb::class_<augmix>(module, "AugMix",
                     "Images mixed with copies that chains of operations change, for each sample "
                     "and epoch.")
      .def(
          "__init__",
          [](augmix* self, std::uint64_t severity, std::uint64_t width, std::int64_t depth,
             double alpha, bool all_ops, const sampling& interpolation, double fill) {
            new (self) augmix{.severity = severity,
                              .mixture_width = width,
                              .chain_depth = depth,
                              .alpha = alpha,
                              .all_ops = all_ops,
                              .interpolation = interpolation,
                              .fill = fill};
          },
          nb::kw_only(), "severity"_a = mixed.severity, "mixture_width"_a = mixed.mixture_width,
          "chain_depth"_a = mixed.chain_depth, "alpha"_a = mixed.alpha, "all_ops"_a = mixed.all_ops,
          "interpolation"_a = sampling{mixed.interpolation}, "fill"_a = mixed.fill)
      .def_ro("severity", &augmix::severity)
      .def_ro("mixture_width", &augmix::mixture_width)
      .def_ro("chain_depth", &augmix::chain_depth)
      .def_ro("alpha", &augmix::alpha)
      .def_ro("all_ops", &augmix::all_ops)
      .def_prop_ro("interpolation", [](const augmix& self) { return sampling{self.interpolation}; })
      .def_ro("fill", &augmix::fill);
}

}  // namespace

void bind_image_operations(nb::module_& module) {
  bind_colors(module);
  bind_moves(module);
  bind_sets(module);
}

}  // namespace feedline::python
