#include <feedline/loader/loader_options.hpp>

#include "python/bindings.hpp"
#include "python/named.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

std::optional<named<image_layout>> as_named(const std::optional<image_layout>& layout) {
  return layout ? std::optional{named<image_layout>{*layout}} : std::nullopt;
}

void bind_field_transforms(nb::module_& module) {
  const image_crop crop;
  nb::class_<image_crop>(module, "ImageCrop", "A window cut out of each image.")
      .def(
          "__init__",
          [](image_crop* self, std::uint64_t height, std::uint64_t width, std::uint64_t padding,
             bool random) {
            new (self)
                image_crop{.height = height, .width = width, .padding = padding, .random = random};
          },
          nb::kw_only(), "height"_a, "width"_a, "padding"_a = crop.padding,
          "random"_a = crop.random)
      .def_ro("height", &image_crop::height)
      .def_ro("width", &image_crop::width)
      .def_ro("padding", &image_crop::padding)
      .def_ro("random", &image_crop::random);

  nb::class_<image_resize>(module, "ImageResize", "Each image, resized to this size.")
      .def(
          "__init__",
          [](image_resize* self, std::uint64_t height, std::uint64_t width) {
            new (self) image_resize{.height = height, .width = width};
          },
          nb::kw_only(), "height"_a, "width"_a)
      .def_ro("height", &image_resize::height)
      .def_ro("width", &image_resize::width);

  using range = std::pair<double, double>;
  const random_resized_crop window;
  nb::class_<random_resized_crop>(module, "RandomResizedCrop",
                                  "A window of each image, drawn for each sample and epoch, and "
                                  "resized.")
      .def(
          "__init__",
          [](random_resized_crop* self, std::uint64_t height, std::uint64_t width, range scale,
             range ratio) {
            new (self) random_resized_crop{.height = height,
                                           .width = width,
                                           .scale = {scale.first, scale.second},
                                           .ratio = {ratio.first, ratio.second}};
          },
          nb::kw_only(), "height"_a, "width"_a,
          "scale"_a = range{window.scale.low, window.scale.high},
          "ratio"_a = range{window.ratio.low, window.ratio.high})
      .def_ro("height", &random_resized_crop::height)
      .def_ro("width", &random_resized_crop::width)
      .def_prop_ro("scale",
                   [](const random_resized_crop& self) {
                     return range{self.scale.low, self.scale.high};
                   })
      .def_prop_ro("ratio", [](const random_resized_crop& self) {
        return range{self.ratio.low, self.ratio.high};
      });

  const field_transform none;
  nb::class_<field_transform>(module, "FieldTransform",
                              "How one field changes between the dataset and the batch.")
      .def(
          "__init__",
          [](field_transform* self, const any_name& field, const dtype_argument& to, double scale,
             std::vector<double> mean, std::vector<double> stddev,
             const std::optional<named<image_layout>>& layout,
             const std::optional<named<image_layout>>& to_layout, double flip,
             std::optional<image_crop> cut, std::optional<image_resize> resize,
             std::optional<random_resized_crop> resized_crop, std::optional<random_affine> affine,
             std::optional<random_perspective> perspective,
             std::optional<trivial_augment_wide> trivial_augment_wide,
             std::optional<rand_augment> rand_augment, std::optional<auto_augment> auto_augment,
             std::optional<augmix> augmix, std::optional<color_jitter> jitter,
             std::optional<random_grayscale> grayscale, std::optional<gaussian_blur> gaussian_blur,
             std::optional<random_invert> invert, std::optional<random_posterize> posterize,
             std::optional<random_solarize> solarize,
             std::optional<random_autocontrast> autocontrast,
             std::optional<random_equalize> equalize,
             std::optional<random_adjust_sharpness> sharpness,
             std::optional<random_erasing> erasing, std::uint64_t one_hot) {
            field_transform made{.field = field.bytes,
                                 .to = to,
                                 .scale = scale,
                                 .mean = std::move(mean),
                                 .stddev = std::move(stddev),
                                 .flip = flip,
                                 .crop = cut,
                                 .resize = resize,
                                 .resized_crop = resized_crop,
                                 .affine = affine,
                                 .perspective = perspective,
                                 .trivial_augment_wide = trivial_augment_wide,
                                 .rand_augment = rand_augment,
                                 .auto_augment = auto_augment,
                                 .augmix = augmix,
                                 .jitter = jitter,
                                 .grayscale = grayscale,
                                 .gaussian_blur = gaussian_blur,
                                 .invert = invert,
                                 .posterize = posterize,
                                 .solarize = solarize,
                                 .autocontrast = autocontrast,
                                 .equalize = equalize,
                                 .sharpness = sharpness,
                                 .erasing = std::move(erasing),
                                 .one_hot = one_hot};
            if (layout) made.layout = *layout;
            if (to_layout) made.to_layout = *to_layout;
            new (self) field_transform{std::move(made)};
          },
          "field"_a, nb::kw_only(), "to"_a = dtype_argument{none.to}, "scale"_a = none.scale,
          "mean"_a = none.mean, "stddev"_a = none.stddev, "layout"_a = nb::none(),
          "to_layout"_a = nb::none(), "flip"_a = none.flip, "crop"_a = nb::none(),
          "resize"_a = nb::none(), "resized_crop"_a = nb::none(), "affine"_a = nb::none(),
          "perspective"_a = nb::none(), "trivial_augment_wide"_a = nb::none(),
          "rand_augment"_a = nb::none(), "auto_augment"_a = nb::none(), "augmix"_a = nb::none(),
          "jitter"_a = nb::none(), "grayscale"_a = nb::none(), "gaussian_blur"_a = nb::none(),
          "invert"_a = nb::none(), "posterize"_a = nb::none(), "solarize"_a = nb::none(),
          "autocontrast"_a = nb::none(), "equalize"_a = nb::none(), "sharpness"_a = nb::none(),
          "erasing"_a = nb::none(), "one_hot"_a = none.one_hot)
      .def_prop_ro("field", [](const field_transform& self) { return any_name{self.field}; })
      .def_prop_ro("to", [](const field_transform& self) { return dtype_argument{self.to}; })
      .def_ro("scale", &field_transform::scale)
      .def_ro("mean", &field_transform::mean)
      .def_ro("stddev", &field_transform::stddev)
      .def_prop_ro("layout", [](const field_transform& self) { return as_named(self.layout); })
      .def_prop_ro("to_layout",
                   [](const field_transform& self) { return as_named(self.to_layout); })
      .def_ro("flip", &field_transform::flip)
      .def_ro("crop", &field_transform::crop)
      .def_ro("resize", &field_transform::resize)
      .def_ro("resized_crop", &field_transform::resized_crop)
      .def_ro("affine", &field_transform::affine)
      .def_ro("perspective", &field_transform::perspective)
      .def_ro("trivial_augment_wide", &field_transform::trivial_augment_wide)
      .def_ro("rand_augment", &field_transform::rand_augment)
      .def_ro("auto_augment", &field_transform::auto_augment)
      .def_ro("augmix", &field_transform::augmix)
      .def_ro("jitter", &field_transform::jitter)
      .def_ro("grayscale", &field_transform::grayscale)
      .def_ro("gaussian_blur", &field_transform::gaussian_blur)
      .def_ro("invert", &field_transform::invert)
      .def_ro("posterize", &field_transform::posterize)
      .def_ro("solarize", &field_transform::solarize)
      .def_ro("autocontrast", &field_transform::autocontrast)
      .def_ro("equalize", &field_transform::equalize)
      .def_ro("sharpness", &field_transform::sharpness)
      .def_ro("erasing", &field_transform::erasing)
      .def_ro("one_hot", &field_transform::one_hot)
      .def("__str__", [](const field_transform& self) { return any_name{to_string(self)}; });
}

void bind_mixing(nb::module_& module) {
  const mixing none;
  nb::class_<mixing>(module, "Mixing", "Mixup and cutmix: mixes neighbours in a batch.")
      .def(
          "__init__",
          [](mixing* self, std::string image, std::string label, double mixup_alpha,
             double cutmix_alpha, double probability, double cutmix_share,
             const named<mixing_draws>& draws) {
            new (self) mixing{.image = std::move(image),
                              .label = std::move(label),
                              .mixup_alpha = mixup_alpha,
                              .cutmix_alpha = cutmix_alpha,
                              .probability = probability,
                              .cutmix_share = cutmix_share,
                              .draws = draws};
          },
          nb::kw_only(), "image"_a, "label"_a = none.label, "mixup_alpha"_a = none.mixup_alpha,
          "cutmix_alpha"_a = none.cutmix_alpha, "probability"_a = none.probability,
          "cutmix_share"_a = none.cutmix_share, "draws"_a = named<mixing_draws>{none.draws},
          "No label: no labels are mixed. An alpha of 0 turns that kind of mixing off. draws: "
          "\"batch\", one choice of kind and weight for a batch, as by torchvision; "
          "\"pair\", for two partners; \"sample\", for each, so that an epoch has some samples "
          "nearly twice and others hardly at all.")
      .def_ro("image", &mixing::image)
      .def_ro("label", &mixing::label)
      .def_ro("mixup_alpha", &mixing::mixup_alpha)
      .def_ro("cutmix_alpha", &mixing::cutmix_alpha)
      .def_ro("probability", &mixing::probability)
      .def_ro("cutmix_share", &mixing::cutmix_share)
      .def_prop_ro("draws", [](const mixing& self) { return named<mixing_draws>{self.draws}; })
      .def("__str__", [](const mixing& self) { return to_string(self); });
}

}  // namespace

void bind_transforms(nb::module_& module) {
  bind_field_transforms(module);
  bind_mixing(module);
}

}  // namespace feedline::python
