// Over 250 lines: one short binding for each function that opens files.

#include <feedline/feedline.hpp>
#include <feedline/formats/numbers.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/image/folder.hpp>

#include "python/bindings.hpp"
#include "python/datasets/padding.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using file = std::filesystem::path;
using files = std::variant<file, std::vector<file>>;
using strings = std::vector<std::string>;
using shape = std::vector<std::uint64_t>;

strings paths_of(const files& given) {
  if (const auto* const one = std::get_if<file>(&given)) return {one->string()};
  strings paths;
  for (const file& each : std::get<1>(given)) paths.push_back(each.string());
  return paths;
}

void bind_decoders(nb::module_& module) {
  const image_options image;
  (void)nb::class_<decoder_ptr>(module, "Decoder", nb::dynamic_attr(),
                                "Turns stored values into a field's values.");
  module.def("make_image_decoder", &make_image_decoder, "options"_a = image,
             "JPEG and PNG into uint8 pixels.");
  module.def("make_mask_decoder", &make_mask_decoder, "options"_a = image,
             "PNG with a palette or grey values into uint8 classes, resized by the nearest pixel.");
  module.def(
      "decode_raw",
      [](const dtype_argument& type, shape of) { return decode_raw(type, std::move(of)); },
      "dtype"_a, "shape"_a = shape{}, "Values that are stored uncompressed.");
  module.def(
      "decode_decimal", [](const dtype_argument& type) { return decode_decimal(type); },
      "dtype"_a = dtype_argument{element_type::i32}, "Integers written as decimal digits.");
  module.def("decode_npy", &decode_npy, "Arrays stored as .npy files.");
}

void bind_open(nb::module_& module) {
  const open_options options;
  module.def(
      "open",
      [](const files& path, strings fields, std::string format, std::string like,
         const image_options& image, const dtype_argument& label_type,
         std::uint64_t tokens_per_sample, const std::map<std::string, pad_options>& pad,
         const std::map<std::string, table_column>& columns, const padding_arguments& fill_nulls,
         const named<external_files>& external) {
        const open_options how{.fields = std::move(fields),
                               .format = std::move(format),
                               .like = std::move(like),
                               .image = image,
                               .label_type = label_type,
                               .tokens_per_sample = tokens_per_sample,
                               .pad = pad,
                               .columns = columns,
                               .fill_nulls = to_padding(fill_nulls),
                               .external = external};
        const strings paths = paths_of(path);
        return interruptible(
            [=] { return paths.size() == 1 ? open(paths[0], how) : open(paths, how); });
      },
      "path"_a, nb::kw_only(), "fields"_a = options.fields, "format"_a = options.format,
      "like"_a = options.like, "image"_a = options.image,
      "label_dtype"_a = dtype_argument{options.label_type},
      "tokens_per_sample"_a = options.tokens_per_sample, "pad"_a = options.pad,
      "columns"_a = options.columns, "fill_nulls"_a = padding_arguments{},
      "external"_a = named<external_files>{options.external},
      "Opens a file or folder of any known format: the one that is named, such as 'tar', or as its "
      "content tells. Several paths, and patterns such as 'shard-{0000..0146}.tar' or "
      "'part-*.npy', "
      "are one sequence.");
  module.def(
      "list_fields",
      [](const file& path, std::string format, std::uint64_t tokens_per_sample,
         const std::map<std::string, table_column>& columns,
         const named<external_files>& external) {
        const open_options how{.format = std::move(format),
                               .tokens_per_sample = tokens_per_sample,
                               .columns = columns,
                               .external = external};
        return interruptible([=] { return list_fields(path.string(), how); });
      },
      "file"_a, nb::kw_only(), "format"_a = options.format,
      "tokens_per_sample"_a = options.tokens_per_sample, "columns"_a = options.columns,
      "external"_a = named<external_files>{options.external},
      "Lists the fields of a file or folder.");
  nb::class_<listed_field>(module, "ListedField", "A field that a file offers.")
      .def_prop_ro("name", [](const listed_field& self) { return any_name{self.name}; })
      .def_ro("samples", &listed_field::samples)
      .def_ro("spec", &listed_field::spec)
      .def_ro("is_ragged", &listed_field::is_ragged)
      .def_ro("refusal", &listed_field::refusal)
      .def_ro("left_out", &listed_field::left_out)
      .def_prop_ro("classes", [](const listed_field& self) { return self.classes; })
      .def_ro("access", &listed_field::access, "How it is stored and read, in words.")
      .def_ro("decoding", &listed_field::decoding,
              "What decodes its chunks: 'readers or devices', or 'readers alone: ' and the reason.")
      .def_prop_ro(
          "dimensions", [](const listed_field& self) { return any_names(self.dimensions); },
          "Names of the array's dimensions, the samples' first.")
      .def_prop_ro(
          "is_packed", [](const listed_field& self) { return self.packing.changes_values(); },
          "Whether rows are stored numbers that scale_factor, add_offset or _Unsigned give another "
          "meaning; unpack applies them.");
  module.def(
      "read_numbers",
      [](const file& path, const std::string& name) {
        return interruptible([=] { return read_numbers(path.string(), name); });
      },
      "file"_a, "name"_a = "",
      "Numbers of a small array or JSON file, row-major, such as means of channels: .npy; a member "
      "of .npz; an array of HDF5, NetCDF4, Zarr; in JSON the value that keys lead to: "
      "'t2m/mean'.");
  module.def(
      "expand_paths",
      [](const files& patterns) {
        return any_names(interruptible([=] { return expand_paths(paths_of(patterns)); }));
      },
      "patterns"_a, "Replaces each pattern by the files that it names.");
  module.def("map_files", &map_files, "allowed"_a,
             "Whether files that are opened from now on may be mapped; the first that is installs "
             "a handler of SIGBUS. The setting is the whole process's.");
}

void bind_image_folder(nb::module_& module) {
  const image_folder_options folder;
  module.def(
      "open_image_folder",
      [](const files& root, const image_options& image, const dtype_argument& label_type) {
        const image_folder_options how{.image = image, .label_type = label_type};
        image_folder found =
            interruptible([=] { return open_image_folder(expand_paths(paths_of(root)), how); });
        return std::make_tuple(std::move(found.dataset), any_names(found.classes));
      },
      "root"_a, nb::kw_only(), "image"_a = folder.image,
      "label_dtype"_a = dtype_argument{folder.label_type},
      "A folder that holds a folder of images for each class: the dataset, with fields 'image' "
      "and 'label', and the names of the classes. Several folders are one sequence, with one list "
      "of classes over all of them.");
}

void bind_records(nb::module_& module) {
  const record_options records;
  module.def(
      "open_records",
      [](const files& paths, const std::vector<field>& fields, std::uint64_t header_bytes,
         std::uint64_t record_bytes, const named<std::endian>& byte_order) {
        std::vector<record_field> parts;
        for (const field& each : fields) parts.push_back({each.name, each.type, each.shape});
        const record_options how{
            .header_bytes = header_bytes, .record_bytes = record_bytes, .byte_order = byte_order};
        return interruptible([=] { return open_records(paths_of(paths), parts, how); });
      },
      "files"_a, "fields"_a, nb::kw_only(), "header_bytes"_a = records.header_bytes,
      "record_bytes"_a = records.record_bytes,
      "byte_order"_a = named<std::endian>{records.byte_order},
      "Files of records of one size; the fields follow one another.");
}

void bind_arrays_in_files(nb::module_& module) {
  module.def(
      "open_npy",
      [](const file& path, const std::string& name) {
        return interruptible([=] { return open_npy(path.string(), name); });
      },
      "file"_a, "field_name"_a, "One .npy file: its first dimension counts the samples.");
  module.def(
      "open_npz",
      [](const file& path, const strings& members, std::size_t max_bytes) {
        return interruptible(
            [=] { return open_npz(path.string(), members, {.max_bytes = max_bytes}); });
      },
      "file"_a, "members"_a = strings{}, nb::kw_only(), "max_bytes"_a = npz_options{}.max_bytes,
      "Arrays of a .npz archive, each a field; no members: all of them.");
  module.def(
      "open_idx",
      [](const file& images, const file& labels) {
        return interruptible([=] { return open_idx(images.string(), labels.string()); });
      },
      "images"_a, "labels"_a, "A pair of IDX files such as MNIST's: fields 'image' and 'label'.");
  module.def(
      "open_idx_file",
      [](const file& path, const std::string& name) {
        return interruptible([=] { return open_idx_file(path.string(), name); });
      },
      "file"_a, "field_name"_a);
  module.def(
      "open_cifar10",
      [](const files& paths) {
        return interruptible([=] { return open_cifar10(paths_of(paths)); });
      },
      "files"_a, "CIFAR-10's binary version: fields 'label' and 'image'.");
  module.def(
      "open_cifar100",
      [](const files& paths) {
        return interruptible([=] { return open_cifar100(paths_of(paths)); });
      },
      "files"_a, "CIFAR-100's binary version: fields 'coarse_label', 'fine_label' and 'image'.");
}

void bind_shards(nb::module_& module) {
  const tar_options tar;
  module.def(
      "open_tar",
      [](const files& shards,
         const std::vector<std::tuple<std::string, strings, decoder_ptr>>& fields,
         bool skip_incomplete, bool lenient, std::size_t run_bytes,
         const std::string& index_folder) {
        std::vector<tar_field> wanted;
        for (const auto& [name, extensions, decoder] : fields)
          wanted.push_back({name, extensions, decoder});
        const tar_options how{.skip_incomplete = skip_incomplete,
                              .lenient = lenient,
                              .run_bytes = run_bytes,
                              .index_folder = index_folder};
        return interruptible([=] { return open_tar(paths_of(shards), wanted, how); });
      },
      "shards"_a, "fields"_a, nb::kw_only(), "skip_incomplete"_a = tar.skip_incomplete,
      "lenient"_a = tar.lenient, "run_bytes"_a = tar.run_bytes, "index_folder"_a = tar.index_folder,
      "Tar shards in WebDataset's layout. A field is (name, [extension, …], decoder).");
  const token_options tokens;
  module.def(
      "open_tokens",
      [](const files& shards, std::uint64_t tokens_per_sample, std::uint64_t stride,
         const std::optional<dtype_argument>& type, const named<token_header>& header,
         const named<std::endian>& byte_order) {
        token_options how{.tokens_per_sample = tokens_per_sample,
                          .stride = stride,
                          .header = header,
                          .byte_order = byte_order};
        if (type) how.type = *type;
        return interruptible([=] { return open_tokens(paths_of(shards), how); });
      },
      "shards"_a, nb::kw_only(), "tokens_per_sample"_a, "stride"_a = tokens.stride,
      "dtype"_a = nb::none(), "header"_a = named<token_header>{tokens.header},
      "byte_order"_a = named<std::endian>{tokens.byte_order},
      "Shards of tokens: fields 'input' and 'target'.");
}

}  // namespace

void bind_formats(nb::module_& module) {
  bind_decoders(module);
  bind_open(module);
  bind_image_folder(module);
  bind_records(module);
  bind_arrays_in_files(module);
  bind_shards(module);
}

}  // namespace feedline::python
