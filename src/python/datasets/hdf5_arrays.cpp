#include <feedline/hdf5/arrays.hpp>

#include "python/bindings.hpp"
#include "python/datasets/array_object.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using file = std::filesystem::path;
using strings = std::vector<std::string>;

}  // namespace

void bind_hdf5_arrays(nb::module_& module) {
  const hdf5_options usual;
  module.def(
      "open_hdf5_arrays",
      [](const file& path, const strings& datasets, std::size_t max_host_cache_bytes,
         const named<external_files>& external) {
        const hdf5_options how{.max_host_cache_bytes = max_host_cache_bytes, .external = external};
        std::vector<array_object> arrays;
        for (array_ptr& each :
             interruptible([=] { return open_hdf5_arrays(path.string(), datasets, how); }))
          arrays.push_back({std::move(each)});
        return arrays;
      },
      "file"_a, "datasets"_a, nb::kw_only(), "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "external"_a = named<external_files>{usual.external},
      "Datasets of an HDF5 or NetCDF4 file as arrays of N dimensions, which share the memory for "
      "decoded chunks.");
  module.def(
      "open_hdf5_array",
      [](const file& path, const std::string& dataset, std::size_t max_host_cache_bytes,
         const named<external_files>& external) {
        const hdf5_options how{.max_host_cache_bytes = max_host_cache_bytes, .external = external};
        return array_object{
            interruptible([=] { return open_hdf5_array(path.string(), dataset, how); })};
      },
      "file"_a, "dataset"_a, nb::kw_only(), "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "external"_a = named<external_files>{usual.external},
      "A dataset of an HDF5 or NetCDF4 file as an array of N dimensions.");
  module.def(
      "open_hdf5_csr",
      [](const file& path, const std::string& group, std::size_t max_host_cache_bytes) {
        const hdf5_options how{.max_host_cache_bytes = max_host_cache_bytes};
        return interruptible([=] { return open_hdf5_csr(path.string(), group, how); });
      },
      "file"_a, "group"_a, nb::kw_only(), "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "Dense rows of a sparse matrix in a group of an HDF5 file, as AnnData stores it: 'X'.");
}

}  // namespace feedline::python
