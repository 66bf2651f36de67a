#include <feedline/formats/expand_paths.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/image/list.hpp>

#include "python/bindings.hpp"
#include "python/interruptible.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <nanobind/stl/filesystem.h>
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
                joined_field& to = fields.emplace_back(joined_field{
                    std::get<0>(one), std::get<1>(one).string(), std::get<2>(one)});
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
      [](const paths& lists, const path& root, strings classes, const image_options& image,
         const dtype_argument& label_type) {
        const image_list_options how{.root = root.string(),
                                     .classes = std::move(classes),
                                     .image = image,
                                     .label_type = label_type};
        image_list found = interruptible([=] { return open_image_list(expanded(lists), how); });
        return std::make_tuple(std::move(found.dataset), any_names(found.classes));
      },
      "lists"_a, nb::kw_only(), "root"_a = path{}, "classes"_a = list.classes,
      "image"_a = list.image, "label_type"_a = dtype_argument{list.label_type},
      "Images that text files list, one a line: a path, white space, a label. The dataset, with "
      "fields 'image' and 'label', and the names of the classes, empty if labels are numbers. "
      "Relative paths begin at `root`, or if that is empty at each list's folder.");
}

}  // namespace

void bind_image_sets(nb::module_& module) {
  bind_joined_images(module);
  bind_image_lists(module);
}

}  // namespace feedline::python
