#include <feedline/feedline.hpp>
#include <feedline/formats/zarr.hpp>

#include "python/bindings.hpp"
#include "python/datasets/array_object.hpp"
#include "python/interpreter/interruptible.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

/// Path of an array, or that and the field's name.
using chosen_array = std::variant<std::string, std::pair<std::string, std::string>>;

zarr_field zarr_field_of(const chosen_array& array) {
  if (const auto* const path = std::get_if<std::string>(&array)) return {.array = *path};
  const auto& [path, name] = std::get<1>(array);
  return {.array = path, .name = name};
}

}  // namespace

void bind_zarr(nb::module_& module) {
  const zarr_options options;
  module.def(
      "open_zarr",
      [](const std::filesystem::path& store, const std::vector<chosen_array>& arrays,
         std::size_t max_host_cache_bytes, std::size_t max_resident_bytes) {
        std::vector<zarr_field> fields;
        for (const chosen_array& each : arrays) fields.push_back(zarr_field_of(each));
        const zarr_options how{.max_host_cache_bytes = max_host_cache_bytes,
                               .max_resident_bytes = max_resident_bytes};
        return interruptible([=] { return open_zarr(store.string(), fields, how); });
      },
      "store"_a, "fields"_a, nb::kw_only(), "max_host_cache_bytes"_a = options.max_host_cache_bytes,
      "max_resident_bytes"_a = options.max_resident_bytes,
      "Arrays of one Zarr store that share their first dimension: their paths, '' if the store is "
      "an array, or pairs (path, name of the field). A store is a folder, here or at an address, "
      "or a zip archive.");
  module.def(
      "open_zarr_arrays",
      [](const std::filesystem::path& store, const std::vector<std::string>& arrays,
         std::size_t max_host_cache_bytes) {
        const zarr_options how{.max_host_cache_bytes = max_host_cache_bytes};
        std::vector<array_object> opened;
        for (array_ptr& each :
             interruptible([=] { return open_zarr_arrays(store.string(), arrays, how); }))
          opened.push_back({std::move(each)});
        return opened;
      },
      "store"_a, "arrays"_a, nb::kw_only(), "max_host_cache_bytes"_a = options.max_host_cache_bytes,
      "Arrays of one Zarr store as arrays of N dimensions, which share the memory for decoded "
      "chunks: their paths, '' if the store is an array.");
  module.def(
      "open_zarr_array",
      [](const std::filesystem::path& store, const std::string& array,
         std::size_t max_host_cache_bytes) {
        const zarr_options how{.max_host_cache_bytes = max_host_cache_bytes};
        return array_object{
            interruptible([=] { return open_zarr_array(store.string(), array, how); })};
      },
      "store"_a, "array"_a = "", nb::kw_only(),
      "max_host_cache_bytes"_a = options.max_host_cache_bytes,
      "An array of a Zarr store as an array of N dimensions.");
}

}  // namespace feedline::python
