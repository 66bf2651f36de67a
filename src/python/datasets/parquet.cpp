#include <feedline/formats/parquet.hpp>
#include <feedline/image/decode.hpp>

#include "python/bindings.hpp"
#include "python/datasets/padding.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/interpreter/interruptible.hpp"

#include <cstddef>
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

using table_file = std::filesystem::path;
using table_files = std::variant<table_file, std::vector<table_file>>;

std::vector<std::string> table_paths(const table_files& given) {
  if (const auto* const one = std::get_if<table_file>(&given)) return {one->string()};
  std::vector<std::string> paths;
  for (const table_file& each : std::get<1>(given)) paths.push_back(each.string());
  return paths;
}

}  // namespace

void bind_parquet(nb::module_& module) {
  const parquet_options usual;
  module.def(
      "open_parquet",
      [](const table_files& paths, std::vector<std::string> fields,
         const std::optional<image_options>& image, const std::map<std::string, pad_options>& pad,
         const padding_arguments& fill_nulls, std::size_t max_host_cache_bytes) {
        const parquet_options how{.fields = std::move(fields),
                                  .image = image ? make_image_decoder(*image) : nullptr,
                                  .pad = pad,
                                  .fill_nulls = to_padding(fill_nulls),
                                  .max_host_cache_bytes = max_host_cache_bytes};
        return interruptible([=] { return open_parquet(table_paths(paths), how); });
      },
      "files"_a, nb::kw_only(), "fields"_a = usual.fields, "image"_a = nb::none(),
      "pad"_a = usual.pad, "fill_nulls"_a = padding_arguments{},
      "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "Parquet files as one sequence; each column is a field. Without `image`, JPEG and PNG files "
      "stay bytes. A null is an error when it is read, unless `fill_nulls` has a value for its "
      "column. Needs a feedline that was built with Arrow.");
  module.def(
      "open_parquet_ragged",
      [](const table_files& paths, const std::string& field, const padding_arguments& fill_nulls,
         std::size_t max_host_cache_bytes) {
        const parquet_options how{.fill_nulls = to_padding(fill_nulls),
                                  .max_host_cache_bytes = max_host_cache_bytes};
        return ragged_object{
            interruptible([=] { return open_parquet_ragged(table_paths(paths), field, how); })};
      },
      "files"_a, "field"_a, nb::kw_only(), "fill_nulls"_a = padding_arguments{},
      "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "A column of text, bytes or lists, for `pad`, `pack` and `bucket_by_length`.");
}

}  // namespace feedline::python
