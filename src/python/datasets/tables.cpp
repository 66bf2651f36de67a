#include <feedline/formats/array_files.hpp>
#include <feedline/formats/columns.hpp>
#include <feedline/formats/csv.hpp>
#include <feedline/formats/file_list.hpp>
#include <feedline/formats/json_lines.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using text_file = std::filesystem::path;
using text_files = std::variant<text_file, std::vector<text_file>>;
using column_map = std::map<std::string, table_column>;
using pad_map = std::map<std::string, pad_options>;
/// Learnt, given, or in a file.
using label_source = std::variant<bool, std::vector<std::string>, text_file>;

std::string folder_of(const std::optional<text_file>& given) {
  return given ? given->string() : "";
}

std::vector<std::string> text_paths(const text_files& given) {
  if (const auto* const one = std::get_if<text_file>(&given)) return {one->string()};
  std::vector<std::string> paths;
  for (const text_file& each : std::get<1>(given)) paths.push_back(each.string());
  return paths;
}

std::optional<text_labels> labels_of(const std::optional<label_source>& given,
                                     const dtype_argument& type) {
  if (!given) return std::nullopt;
  if (const auto* const learns = std::get_if<bool>(&*given))
    return *learns ? std::optional{text_labels{.type = type}} : std::nullopt;
  if (const auto* const names = std::get_if<1>(&*given)) {
    if (names->empty()) throw usage_error{"TableColumn: labels has no name; True learns them"};
    return text_labels{.names = *names, .type = type};
  }
  return text_labels{.file = std::get<2>(*given).string(), .type = type};
}

char byte_of(const std::string& text, const char* name) {
  if (text.size() > 1)
    throw usage_error{"open_csv: " + std::string{name} + " is '" + text +
                      "', but takes one byte, or none"};
  return text.empty() ? '\0' : text.front();
}

void bind_columns(nb::module_& module) {
  nb::class_<table_column>(module, "TableColumn",
                           "How a column of a table becomes a field. `labels`: a list of names, "
                           "a file with a name on each line, or True: they are learnt.")
      .def(
          "__init__",
          [](table_column* self, const std::optional<dtype_argument>& type,
             const std::optional<std::vector<std::uint64_t>>& shape, bool is_ragged, bool is_text,
             const std::optional<label_source>& labels, const dtype_argument& label_type,
             const std::optional<column_fill>& fill) {
            new (self) table_column{.shape = shape,
                                    .is_ragged = is_ragged,
                                    .is_text = is_text,
                                    .labels = labels_of(labels, label_type),
                                    .fill = fill};
            if (type) self->type = *type;
          },
          nb::kw_only(), "dtype"_a = nb::none(), "shape"_a = nb::none(), "is_ragged"_a = false,
          "is_text"_a = false, "labels"_a = nb::none(),
          "label_dtype"_a = dtype_argument{element_type::i32}, "fill"_a = nb::none())
      .def_ro("is_ragged", &table_column::is_ragged)
      .def_ro("is_text", &table_column::is_text);
}

void bind_json_lines(nb::module_& module) {
  const table_options usual;
  module.def(
      "open_json_lines",
      [](const text_files& paths, std::vector<std::string> fields, const column_map& columns,
         const pad_map& pad, std::size_t looked_at, std::size_t max_host_cache_bytes,
         const std::optional<text_file>& index_folder) {
        const table_options how{.fields = std::move(fields),
                                .columns = columns,
                                .pad = pad,
                                .looked_at = looked_at,
                                .max_host_cache_bytes = max_host_cache_bytes,
                                .index_folder = folder_of(index_folder)};
        return interruptible([=] { return open_json_lines(text_paths(paths), how); });
      },
      "files"_a, nb::kw_only(), "fields"_a = usual.fields, "columns"_a = usual.columns,
      "pad"_a = usual.pad, "looked_at"_a = usual.looked_at,
      "max_host_cache_bytes"_a = usual.max_host_cache_bytes, "index_folder"_a = nb::none(),
      "Files with a JSON object on each line, as one sequence; each key is a field. Files of gzip "
      "are decompressed in blocks, which are kept within `max_host_cache_bytes` (0: a quarter of "
      "the memory). `index_folder` keeps what a pass over the files finds: where records are.");
  module.def(
      "open_json_lines_ragged",
      [](const text_files& paths, const std::string& field, const column_map& columns,
         std::size_t looked_at, std::size_t max_host_cache_bytes,
         const std::optional<text_file>& index_folder) {
        const table_options how{.columns = columns,
                                .looked_at = looked_at,
                                .max_host_cache_bytes = max_host_cache_bytes,
                                .index_folder = folder_of(index_folder)};
        return ragged_object{
            interruptible([=] { return open_json_lines_ragged(text_paths(paths), field, how); })};
      },
      "files"_a, "field"_a, nb::kw_only(), "columns"_a = usual.columns,
      "looked_at"_a = usual.looked_at, "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "index_folder"_a = nb::none(), "One ragged field of JSON lines, to pad or pack.");
}

void bind_csv(nb::module_& module) {
  const csv_options usual;
  module.def(
      "open_csv",
      [](const text_files& paths, std::vector<std::string> fields, const column_map& columns,
         const pad_map& pad, std::size_t looked_at, const std::string& separator,
         const std::string& quote, std::optional<bool> header,
         const std::vector<std::string>& missing,
         const std::map<std::string, std::vector<std::string>>& merge,
         std::size_t max_host_cache_bytes, const std::optional<text_file>& index_folder) {
        const csv_options how{.table = {.fields = std::move(fields),
                                        .columns = columns,
                                        .pad = pad,
                                        .looked_at = looked_at,
                                        .max_host_cache_bytes = max_host_cache_bytes,
                                        .index_folder = folder_of(index_folder)},
                              .separator = byte_of(separator, "separator"),
                              .quote = byte_of(quote, "quote"),
                              .header = header,
                              .missing = missing,
                              .merge = merge};
        return interruptible([=] { return open_csv(text_paths(paths), how); });
      },
      "files"_a, nb::kw_only(), "fields"_a = usual.table.fields, "columns"_a = usual.table.columns,
      "pad"_a = usual.table.pad, "looked_at"_a = usual.table.looked_at, "separator"_a = "",
      "quote"_a = "\"", "header"_a = nb::none(), "missing"_a = usual.missing,
      "merge"_a = usual.merge, "max_host_cache_bytes"_a = usual.table.max_host_cache_bytes,
      "index_folder"_a = nb::none(),
      "Files of separated values, as one sequence; each column is a field. `separator`: one byte, "
      "or '' to find it. `quote`: one byte, or '' if nothing is quoted. `merge`: columns that "
      "become one field, {'pixels': ['pixel*']}. `max_host_cache_bytes` and `index_folder` as in "
      "open_json_lines.");
  module.def(
      "open_csv_ragged",
      [](const text_files& paths, const std::string& field, const column_map& columns,
         std::size_t looked_at, const std::string& separator, const std::string& quote,
         std::optional<bool> header, const std::vector<std::string>& missing,
         std::size_t max_host_cache_bytes, const std::optional<text_file>& index_folder) {
        const csv_options how{.table = {.columns = columns,
                                        .looked_at = looked_at,
                                        .max_host_cache_bytes = max_host_cache_bytes,
                                        .index_folder = folder_of(index_folder)},
                              .separator = byte_of(separator, "separator"),
                              .quote = byte_of(quote, "quote"),
                              .header = header,
                              .missing = missing};
        return ragged_object{
            interruptible([=] { return open_csv_ragged(text_paths(paths), field, how); })};
      },
      "files"_a, "field"_a, nb::kw_only(), "columns"_a = usual.table.columns,
      "looked_at"_a = usual.table.looked_at, "separator"_a = "", "quote"_a = "\"",
      "header"_a = nb::none(), "missing"_a = usual.missing,
      "max_host_cache_bytes"_a = usual.table.max_host_cache_bytes, "index_folder"_a = nb::none(),
      "One ragged field of such files, to pad or pack.");
}

void bind_array_files(nb::module_& module) {
  const array_file_options usual;
  module.def(
      "open_array_files",
      [](const text_files& paths, std::vector<std::string> fields, const pad_map& pad,
         std::size_t looked_at) {
        const array_file_options how{
            .fields = std::move(fields), .pad = pad, .looked_at = looked_at};
        return interruptible([=] { return open_array_files(text_paths(paths), how); });
      },
      "files"_a, nb::kw_only(), "fields"_a = usual.fields, "pad"_a = usual.pad,
      "looked_at"_a = usual.looked_at,
      "Files of arrays (.npz, .npy, .safetensors) that are a sample each, or folders of them. "
      "Arrays whose shapes differ are ragged.");
  module.def(
      "open_array_files_ragged",
      [](const text_files& paths, const std::string& field, std::size_t looked_at) {
        const array_file_options how{.looked_at = looked_at};
        return ragged_object{
            interruptible([=] { return open_array_files_ragged(text_paths(paths), field, how); })};
      },
      "files"_a, "field"_a, nb::kw_only(), "looked_at"_a = usual.looked_at,
      "One ragged field of such files, to pad or pack.");
}

void bind_file_list(nb::module_& module) {
  const file_list_options usual;
  module.def(
      "open_file_list",
      [](const text_files& lists, const std::string& root, std::vector<std::string> classes,
         const image_options& image, const dtype_argument& label_type, const pad_map& pad) {
        const file_list_options how{.root = root,
                                    .classes = std::move(classes),
                                    .image = image,
                                    .label_type = label_type,
                                    .pad = pad};
        return interruptible([=] { return open_file_list(text_paths(lists), how); });
      },
      "lists"_a, nb::kw_only(), "root"_a = usual.root, "classes"_a = usual.classes,
      "image"_a = usual.image, "label_dtype"_a = dtype_argument{usual.label_type},
      "pad"_a = usual.pad,
      "Files that text files list, one a line: a path, white space, a label. Images, arrays, or "
      "bytes.");
}

}  // namespace

void bind_tables(nb::module_& module) {
  bind_columns(module);
  bind_json_lines(module);
  bind_csv(module);
  bind_array_files(module);
  bind_file_list(module);
}

}  // namespace feedline::python
