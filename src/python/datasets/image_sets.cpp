#include <feedline/formats/expand_paths.hpp>
#include <feedline/image/coco.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/image/list.hpp>
#include <feedline/image/voc.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using path = std::filesystem::path;
using paths = std::variant<path, std::vector<path>>;
using strings = std::vector<std::string>;

strings expanded(const paths& given) {
  if (const auto* const one = std::get_if<path>(&given)) return expand_paths({one->string()});
  strings all;
  for (const path& each : std::get<1>(given)) all.push_back(each.string());
  return expand_paths(all);
}

void bind_joined_images(nb::module_& module) {
  using with_suffix = std::tuple<std::string, path, decoder_ptr, std::string>;
  using without = std::tuple<std::string, path, decoder_ptr>;
  module.def(
      "open_joined_images",
      [](const std::vector<std::variant<without, with_suffix>>& given, bool skip_incomplete) {
        std::vector<joined_field> fields;
        for (const auto& each : given)
          std::visit(
              [&](const auto& one) {
                joined_field& to = fields.emplace_back(
                    joined_field{std::get<0>(one), std::get<1>(one).string(), std::get<2>(one)});
                if constexpr (std::tuple_size_v<std::decay_t<decltype(one)>> == 4)
                  to.suffix = std::get<3>(one);
              },
              each);
        joined_images found = interruptible(
            [=] { return open_joined_images(fields, {.skip_incomplete = skip_incomplete}); });
        return std::make_tuple(std::move(found.dataset), any_names(found.paths));
      },
      "fields"_a, nb::kw_only(), "skip_incomplete"_a = false,
      "Images and what belongs to them, such as masks, matched by their names below each folder: "
      "the dataset, and the file of each sample's first field. A field is (name, folder, decoder), "
      "or (name, folder, decoder, suffix of the files' names before the extension). All images of "
      "a sample have one size as they are stored, and are cut and flipped alike.");
}

void bind_image_lists(nb::module_& module) {
  module.def(
      "open_images",
      [](const paths& roots, const image_options& image) {
        image_list found = interruptible([=] { return open_images(expanded(roots), image); });
        return std::make_tuple(std::move(found.dataset), any_names(found.paths));
      },
      "roots"_a, nb::kw_only(), "image"_a = image_options{},
      "All images of folders and the folders within, without classes: the dataset, with field "
      "'image', and the file of each sample.");
  const image_list_options list;
  module.def(
      "open_image_list",
      [](const paths& lists, const std::optional<path>& root, strings classes,
         const image_options& image, const dtype_argument& label_type) {
        const image_list_options how{.root = root ? root->string() : std::string{},
                                     .classes = std::move(classes),
                                     .image = image,
                                     .label_type = label_type};
        image_list found = interruptible([=] { return open_image_list(expanded(lists), how); });
        return std::make_tuple(std::move(found.dataset), any_names(found.classes));
      },
      "lists"_a, nb::kw_only(), "root"_a = nb::none(), "classes"_a = list.classes,
      "image"_a = list.image, "label_dtype"_a = dtype_argument{list.label_type},
      "Images that text files list, one a line: a path, white space, a label. The dataset, with "
      "fields 'image' and 'label', and the names of the classes, empty if labels are numbers. "
      "Relative paths begin at `root`, without it at each list's folder.");
}

/// Binds a function that makes annotated images, with the options after its own arguments.
/// @param make Is called with its own arguments and the options.
template <class... Own, class Make, class... Extra>
void bind_annotated(nb::module_& module, const char* name, const Make& make,
                    const Extra&... extra) {
  const annotation_options usual;
  module.def(
      name,
      [make](const Own&... own, const image_options& image, const named<box_format>& format,
             bool normalized, double flip, std::vector<std::array<std::uint64_t, 2>> flip_pairs,
             const std::optional<random_affine>& affine,
             const std::optional<random_perspective>& perspective, double min_visible,
             std::uint64_t max_boxes, const named<pad_longer>& longer, bool skip_flagged,
             bool skip_empty) {
        const annotation_options how{.image = image,
                                     .format = format,
                                     .normalized = normalized,
                                     .flip = flip,
                                     .flip_pairs = std::move(flip_pairs),
                                     .affine = affine,
                                     .perspective = perspective,
                                     .min_visible = min_visible,
                                     .max_boxes = max_boxes,
                                     .longer = longer,
                                     .skip_flagged = skip_flagged,
                                     .skip_empty = skip_empty};
        return interruptible([=] { return make(own..., how); });
      },
      extra..., nb::kw_only(), "image"_a = usual.image,
      "format"_a = named<box_format>{usual.format}, "normalized"_a = usual.normalized,
      "flip"_a = usual.flip, "flip_pairs"_a = usual.flip_pairs, "affine"_a = nb::none(),
      "perspective"_a = nb::none(), "min_visible"_a = usual.min_visible,
      "max_boxes"_a = usual.max_boxes, "longer"_a = named<pad_longer>{usual.longer},
      "skip_flagged"_a = usual.skip_flagged, "skip_empty"_a = usual.skip_empty);
}

void bind_annotated_images(nb::module_& module) {
  nb::class_<annotated_images>(module, "AnnotatedImages", "Images with boxes, and their classes.")
      .def_prop_ro("dataset", [](const annotated_images& self) { return self.dataset; })
      .def_prop_ro(
          "classes", [](const annotated_images& self) { return any_names(self.classes); },
          "Names of the labels 0, 1, ….")
      .def_prop_ro(
          "class_ids", [](const annotated_images& self) { return self.class_ids; },
          "COCO: the category of each label.")
      .def_prop_ro("paths", [](const annotated_images& self) { return any_names(self.paths); })
      .def_ro("clipped_boxes", &annotated_images::clipped_boxes)
      .def_ro("dropped_boxes", &annotated_images::dropped_boxes)
      .def_prop_ro("examples",
                   [](const annotated_images& self) { return any_names(self.examples); });
  using boxes = std::vector<std::array<float, 4>>;
  nb::class_<annotated_image>(module, "AnnotatedImage",
                              "An image with its boxes: (left, top, right, bottom) in pixels.")
      .def(
          "__init__",
          [](annotated_image* self, const path& file, boxes own, std::vector<std::int32_t> labels,
             std::int64_t id, std::uint32_t height, std::uint32_t width,
             std::vector<std::uint8_t> flags, std::vector<float> keypoints) {
            new (self) annotated_image{.path = file.string(),
                                       .id = id,
                                       .height = height,
                                       .width = width,
                                       .boxes = std::move(own),
                                       .labels = std::move(labels),
                                       .flags = std::move(flags),
                                       .keypoints = std::move(keypoints)};
          },
          "path"_a, "boxes"_a, "labels"_a, nb::kw_only(), "id"_a, "height"_a = 0, "width"_a = 0,
          "flags"_a = std::vector<std::uint8_t>{}, "keypoints"_a = std::vector<float>{},
          "`keypoints` are x, y, visibility of each point of each box, in one list. Without height "
          "and width they are read from the file.");
  const auto make = [](const std::vector<annotated_image>& images, const annotation_options& how) {
    return make_annotated_dataset(images, how);
  };
  bind_annotated<std::vector<annotated_image>>(
      module, "make_annotated_dataset", make, "images"_a,
      "Images with boxes from any source. Fields are 'image', 'image_id', 'size', 'boxes', "
      "'boxes_length', 'labels', and where images have them 'flags' and 'keypoints'. Boxes move as "
      "their images do; the transform of 'image' must have the same flip, affine and "
      "perspective.");
  bind_annotated<path, path>(
      module, "open_coco",
      [](const path& images, const path& annotations, const annotation_options& how) {
        return open_coco(images.string(), annotations.string(), how);
      },
      "images"_a, "annotations"_a,
      "Detection or key points in COCO's format: a folder of images, and a JSON file. Fields as of "
      "make_annotated_dataset, with 'crowd' as flags. pycocotools reads segmentations.");
  bind_annotated<path, std::string, strings>(
      module, "open_voc",
      [](const path& root, const std::string& names, const strings& classes,
         const annotation_options& how) { return open_voc(root.string(), names, classes, how); },
      "root"_a, "names"_a, "classes"_a = strings{},
      "Detection in Pascal VOC's format: ImageSets/Main/<names>.txt lists the images. Fields as of "
      "make_annotated_dataset, with 'difficult' as flags. No classes: VOC's twenty.");
}

}  // namespace

void bind_image_sets(nb::module_& module) {
  bind_joined_images(module);
  bind_image_lists(module);
  bind_annotated_images(module);
}

}  // namespace feedline::python
