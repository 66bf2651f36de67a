#include <feedline/formats/litdata.hpp>
#include <feedline/formats/lmdb.hpp>
#include <feedline/formats/mds.hpp>
#include <feedline/formats/shard_options.hpp>
#include <feedline/image/decode.hpp>

#include "python/bindings.hpp"
#include "python/dataset_object.hpp"
#include "python/datasets/record_decoder.hpp"
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

using set_path = std::filesystem::path;
using set_paths = std::variant<set_path, std::vector<set_path>>;
using column_shape = std::vector<std::uint64_t>;

std::vector<std::string> paths_of_sets(const set_paths& given) {
  if (const auto* const one = std::get_if<set_path>(&given)) return {one->string()};
  std::vector<std::string> paths;
  for (const set_path& each : std::get<1>(given)) paths.push_back(each.string());
  return paths;
}

/// The options that all functions share.
shard_options options_of(std::vector<std::string> fields,
                         const std::map<std::string, column_options>& columns,
                         const std::optional<image_options>& image,
                         const std::map<std::string, pad_options>& pad, std::size_t looked_at,
                         std::size_t max_host_cache_bytes = 0) {
  shard_options how;
  how.fields = std::move(fields);
  how.columns = columns;
  if (image) how.image = make_image_decoder(*image);
  how.pad = pad;
  how.looked_at = looked_at;
  how.max_host_cache_bytes = max_host_cache_bytes;
  return how;
}

using open_function = dataset_ptr(const std::vector<std::string>&, const shard_options&);

void bind_open(nb::module_& module, const char* name, open_function* open, const char* about) {
  const shard_options usual;
  module.def(
      name,
      [open](const set_paths& paths, std::vector<std::string> fields,
             const std::map<std::string, column_options>& columns,
             const std::optional<image_options>& image,
             const std::map<std::string, pad_options>& pad, std::size_t looked_at,
             std::size_t max_host_cache_bytes) {
        const shard_options how =
            options_of(std::move(fields), columns, image, pad, looked_at, max_host_cache_bytes);
        return interruptible([=] { return open(paths_of_sets(paths), how); });
      },
      "paths"_a, nb::kw_only(), "fields"_a = usual.fields, "columns"_a = usual.columns,
      "image"_a = nb::none(), "pad"_a = usual.pad, "looked_at"_a = usual.looked_at,
      "max_host_cache_bytes"_a = usual.max_host_cache_bytes, about);
}

using ragged_function = ragged_dataset_ptr(const std::vector<std::string>&, const std::string&,
                                           const shard_options&);

void bind_ragged_open(nb::module_& module, const char* name, ragged_function* open) {
  const shard_options usual;
  module.def(
      name,
      [open](const set_paths& paths, const std::string& field,
             const std::map<std::string, column_options>& columns, std::size_t looked_at,
             std::size_t max_host_cache_bytes) {
        const shard_options how =
            options_of({}, columns, std::nullopt, {}, looked_at, max_host_cache_bytes);
        return ragged_object{interruptible([=] { return open(paths_of_sets(paths), field, how); })};
      },
      "paths"_a, "field"_a = "value", nb::kw_only(), "columns"_a = usual.columns,
      "looked_at"_a = usual.looked_at, "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "One ragged field of such records, to pad or pack.");
}

ragged_dataset_ptr open_lmdb_values(const std::vector<std::string>& paths, const std::string& field,
                                    const shard_options& how) {
  return open_lmdb_ragged(paths, field, {.values = how, .database = {}});
}

void bind_open_lmdb(nb::module_& module) {
  const shard_options usual;
  module.def(
      "open_lmdb",
      [](const set_paths& paths, std::vector<std::string> fields,
         const std::map<std::string, column_options>& columns,
         const std::optional<image_options>& image, const std::map<std::string, pad_options>& pad,
         std::size_t looked_at, std::string database,
         const std::optional<bound_record_decoder>& record) {
        lmdb_options how{.values = options_of(std::move(fields), columns, image, pad, looked_at),
                         .database = std::move(database)};
        if (record) how.values.record = record->of;
        dataset_object opened{interruptible([=] { return open_lmdb(paths_of_sets(paths), how); })};
        if (record) opened.held.push_back(record->held);
        return opened;
      },
      "paths"_a, nb::kw_only(), "fields"_a = usual.fields, "columns"_a = usual.columns,
      "image"_a = nb::none(), "pad"_a = usual.pad, "looked_at"_a = usual.looked_at,
      "database"_a = "", "record"_a = nb::none(),
      "LMDB environments, as one sequence in the order of their keys; a value is the field "
      "\"value\", or NAME of keys NAME-NUMBER. Without `image`, JPEG and PNG files stay bytes. "
      "`record`: a RecordDecoder, for values that are pickles or messages of your own.");
}

}  // namespace

void bind_record_sets(nb::module_& module) {
  nb::class_<column_options>(module, "ColumnOptions",
                             "How a column of records becomes a field: by a decoder, with a shape, "
                             "or ragged; `dtype` reads bytes as elements of that type.")
      .def(
          "__init__",
          [](column_options* self, const std::optional<decoder_ptr>& decoder,
             const std::optional<dtype_argument>& dtype, const std::optional<column_shape>& shape,
             bool is_ragged) {
            new (self)
                column_options{.decoder = decoder.value_or(nullptr),
                               .type = dtype ? std::optional<element_type>{*dtype} : std::nullopt,
                               .shape = shape,
                               .is_ragged = is_ragged};
          },
          nb::kw_only(), "decoder"_a = nb::none(), "dtype"_a = nb::none(), "shape"_a = nb::none(),
          "is_ragged"_a = false)
      .def_ro("is_ragged", &column_options::is_ragged);
  bind_open(module, "open_mds", &open_mds,
            "Folders of MosaicML's streaming (MDS), as one sequence; each column is a field. "
            "Without `image`, JPEG and PNG files stay bytes. Shards that zstd, gz or bz2 "
            "compressed are decompressed whole, and kept within `max_host_cache_bytes` (0: a "
            "quarter of the memory).");
  bind_open(module, "open_litdata", &open_litdata,
            "Folders of LitData, as one sequence; each leaf of a sample is a field, named by the "
            "keys that lead to it. Options as in open_mds.");
  bind_open_lmdb(module);
  bind_ragged_open(module, "open_mds_ragged", &open_mds_ragged);
  bind_ragged_open(module, "open_litdata_ragged", &open_litdata_ragged);
  bind_ragged_open(module, "open_lmdb_ragged", &open_lmdb_values);
}

}  // namespace feedline::python
