#include <feedline/image/decode.hpp>
#include <feedline/image/sizes.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using pair = std::pair<std::uint32_t, std::uint32_t>;
using one_size = std::variant<std::uint32_t, pair>;  ///< an int is a square

std::vector<image_size> sizes_of(const std::vector<one_size>& given) {
  std::vector<image_size> sizes;
  for (const one_size& each : given) {
    const auto* const side = std::get_if<std::uint32_t>(&each);
    const pair both = side != nullptr ? pair{*side, *side} : std::get<pair>(each);
    sizes.push_back({both.first, both.second});
  }
  return sizes;
}

std::vector<pair> pairs_of(const std::vector<image_size>& sizes) {
  std::vector<pair> pairs;
  for (const image_size& each : sizes) pairs.emplace_back(each.height, each.width);
  return pairs;
}

void bind_crop_ranges(nb::module_& module) {
  using range = std::pair<double, double>;
  const crop_ranges usual;
  nb::class_<crop_ranges>(module, "CropRanges",
                          "Ranges from which a window of an image is drawn, as in torchvision's "
                          "RandomResizedCrop.")
      .def(
          "__init__",
          [](crop_ranges* self, range scale, range ratio) {
            new (self) crop_ranges{.scale = {scale.first, scale.second},
                                   .ratio = {ratio.first, ratio.second}};
          },
          nb::kw_only(), "scale"_a = range{usual.scale.low, usual.scale.high},
          "ratio"_a = range{usual.ratio.low, usual.ratio.high})
      .def_prop_ro("scale",
                   [](const crop_ranges& self) {
                     return range{self.scale.low, self.scale.high};
                   })
      .def_prop_ro("ratio", [](const crop_ranges& self) {
        return range{self.ratio.low, self.ratio.high};
      });
}

void bind_options(nb::module_& module) {
  const image_options image;
  nb::class_<image_options>(module, "ImageOptions", "Size and layout of decoded images.")
      .def(
          "__init__",
          [](image_options* self, std::uint32_t height, std::uint32_t width,
             std::uint32_t shorter_side, const std::optional<crop_ranges>& resized_crop,
             const named<interpolation>& interpolation, const named<image_layout>& layout,
             std::uint32_t channels, const dtype_argument& dtype, bool follow_orientation,
             bool reduced_decoding, bool allow_damaged, std::uint64_t max_pixels,
             const named<image_fit>& fit, const std::vector<one_size>& sizes,
             std::uint32_t size_divisible, const named<larger_image>& larger,
             std::array<std::uint8_t, 3> fill, double flip) {
            new (self) image_options{.height = height,
                                     .width = width,
                                     .shorter_side = shorter_side,
                                     .resized_crop = resized_crop,
                                     .interpolation = interpolation,
                                     .layout = layout,
                                     .channels = channels,
                                     .type = dtype,
                                     .follow_orientation = follow_orientation,
                                     .reduced_decoding = reduced_decoding,
                                     .allow_damaged = allow_damaged,
                                     .max_pixels = max_pixels,
                                     .fit = fit,
                                     .sizes = sizes_of(sizes),
                                     .size_divisible = size_divisible,
                                     .larger = larger,
                                     .fill = fill,
                                     .flip = flip};
          },
          nb::kw_only(), "height"_a = image.height, "width"_a = image.width,
          "shorter_side"_a = image.shorter_side, "resized_crop"_a = nb::none(),
          "interpolation"_a = named<interpolation>{image.interpolation},
          "layout"_a = named<image_layout>{image.layout}, "channels"_a = image.channels,
          "dtype"_a = dtype_argument{image.type}, "follow_orientation"_a = image.follow_orientation,
          "reduced_decoding"_a = image.reduced_decoding, "allow_damaged"_a = image.allow_damaged,
          "max_pixels"_a = image.max_pixels, "fit"_a = named<image_fit>{image.fit},
          "sizes"_a = std::vector<one_size>{}, "size_divisible"_a = image.size_divisible,
          "larger"_a = named<larger_image>{image.larger}, "fill"_a = image.fill,
          "flip"_a = image.flip)
      .def_ro("height", &image_options::height)
      .def_ro("width", &image_options::width)
      .def_ro("shorter_side", &image_options::shorter_side)
      .def_ro("resized_crop", &image_options::resized_crop)
      .def_prop_ro(
          "interpolation",
          [](const image_options& self) { return named<interpolation>{self.interpolation}; })
      .def_prop_ro("layout",
                   [](const image_options& self) { return named<image_layout>{self.layout}; })
      .def_ro("channels", &image_options::channels)
      .def_prop_ro("dtype", [](const image_options& self) { return name_of(self.type); })
      .def_ro("follow_orientation", &image_options::follow_orientation)
      .def_ro("reduced_decoding", &image_options::reduced_decoding)
      .def_ro("allow_damaged", &image_options::allow_damaged)
      .def_ro("max_pixels", &image_options::max_pixels)
      .def_prop_ro("fit", [](const image_options& self) { return named<image_fit>{self.fit}; })
      .def_prop_ro(
          "sizes", [](const image_options& self) { return pairs_of(self.sizes); },
          "Multi-scale training: (height, width), one of which is drawn for each batch.")
      .def_ro("size_divisible", &image_options::size_divisible)
      .def_prop_ro("larger",
                   [](const image_options& self) { return named<larger_image>{self.larger}; })
      .def_prop_ro("fill", [](const image_options& self) { return self.fill; })
      .def_ro("flip", &image_options::flip);
}

}  // namespace

void bind_image_options(nb::module_& module) {
  bind_crop_ranges(module);
  bind_options(module);
  module.def(
      "stored_image_sizes",
      [](const std::vector<std::filesystem::path>& paths, bool follow_orientation) {
        std::vector<std::string> names;
        for (const std::filesystem::path& each : paths) names.push_back(each.string());
        return pairs_of(
            interruptible([=] { return stored_image_sizes(names, follow_orientation); }));
      },
      "paths"_a, nb::kw_only(), "follow_orientation"_a = false,
      "Height and width of image files, read from their headers on all cores; (0, 0) where a file "
      "is no image.");
}

}  // namespace feedline::python
