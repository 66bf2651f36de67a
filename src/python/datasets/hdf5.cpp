// Built where HDF5 is.

#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/groups.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

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

template <>
struct names<value_conventions> {
  static constexpr std::string_view what = "conventions of values";
  static constexpr named_value<value_conventions> all[] = {{"refuse", value_conventions::refuse},
                                                           {"ignore", value_conventions::ignore}};
};

namespace {

using file = std::filesystem::path;
/// A dataset's path within the file, and the name of its field.
using chosen = std::variant<std::string, std::pair<std::string, std::string>>;

hdf5_field as_field(const chosen& each) {
  if (const auto* const path = std::get_if<std::string>(&each)) return {.dataset = *path};
  const auto& [path, name] = std::get<1>(each);
  return {.dataset = path, .name = name};
}

dataset_ptr open_rows(const file& path, const std::vector<chosen>& datasets,
                      std::size_t max_host_cache_bytes, std::size_t max_resident_bytes,
                      const named<external_files>& external,
                      const named<value_conventions>& conventions) {
  std::vector<hdf5_field> fields;
  for (const chosen& each : datasets) fields.push_back(as_field(each));
  const hdf5_options how{.max_host_cache_bytes = max_host_cache_bytes,
                         .max_resident_bytes = max_resident_bytes,
                         .external = external,
                         .conventions = conventions};
  return interruptible([=] { return open_hdf5(path.string(), fields, how); });
}

ragged_dataset_ptr open_values(const file& path, const chosen& dataset,
                               std::size_t max_host_cache_bytes,
                               const named<external_files>& external) {
  return interruptible([=, external = external_files{external}] {
    return open_hdf5_ragged(path.string(), as_field(dataset),
                            {.max_host_cache_bytes = max_host_cache_bytes, .external = external});
  });
}

void bind_groups(nb::module_& module) {
  const hdf5_options usual;
  module.def(
      "list_hdf5_groups",
      [](const file& path, const std::string& samples, const named<external_files>& external) {
        const hdf5_options how{.external = external};
        return interruptible([=] { return list_hdf5_groups(path.string(), samples, how); });
      },
      "file"_a, "samples"_a, nb::kw_only(), "external"_a = named<external_files>{usual.external},
      "Names of the samples of open_hdf5_groups, in natural order.");
  module.def(
      "open_hdf5_groups",
      [](const file& path, const std::string& samples, const std::vector<chosen>& datasets,
         std::size_t max_host_cache_bytes, std::size_t max_resident_bytes,
         const named<external_files>& external, const named<value_conventions>& conventions) {
        std::vector<hdf5_field> fields;
        for (const chosen& each : datasets) fields.push_back(as_field(each));
        const hdf5_options how{.max_host_cache_bytes = max_host_cache_bytes,
                               .max_resident_bytes = max_resident_bytes,
                               .external = external,
                               .conventions = conventions};
        return interruptible([=] { return open_hdf5_groups(path.string(), samples, fields, how); });
      },
      "file"_a, "samples"_a, "fields"_a, nb::kw_only(),
      "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "max_resident_bytes"_a = usual.max_resident_bytes,
      "external"_a = named<external_files>{usual.external},
      "conventions"_a = named<value_conventions>{usual.conventions},
      "Samples that lie each in a group or dataset of its own: 'data/demo_*', in natural order. "
      "fields: paths within each group, '' if the sample is a dataset, or pairs (path, name).");
  module.def(
      "open_hdf5_groups_ragged",
      [](const file& path, const std::string& samples, const chosen& dataset,
         std::size_t max_host_cache_bytes, std::size_t max_resident_bytes,
         const named<external_files>& external, const named<value_conventions>& conventions) {
        const hdf5_options how{.max_host_cache_bytes = max_host_cache_bytes,
                               .max_resident_bytes = max_resident_bytes,
                               .external = external,
                               .conventions = conventions};
        return interruptible([=] {
          return open_hdf5_groups_ragged(path.string(), samples, as_field(dataset), how);
        });
      },
      "file"_a, "samples"_a, "field"_a, nb::kw_only(),
      "max_host_cache_bytes"_a = usual.max_host_cache_bytes,
      "max_resident_bytes"_a = usual.max_resident_bytes,
      "external"_a = named<external_files>{usual.external},
      "conventions"_a = named<value_conventions>{usual.conventions},
      "The same for one field whose datasets have different first dimensions.");
}

}  // namespace

void bind_hdf5(nb::module_& module) {
  const hdf5_options options;
  bind_groups(module);
  module.def("open_hdf5", &open_rows, "file"_a, "fields"_a, nb::kw_only(),
             "max_host_cache_bytes"_a = options.max_host_cache_bytes,
             "max_resident_bytes"_a = options.max_resident_bytes,
             "external"_a = named<external_files>{options.external},
             "conventions"_a = named<value_conventions>{options.conventions},
             "Datasets of one HDF5 file that share their first dimension: their paths, or pairs "
             "(path, name of the field). external: which other files the file may name: 'refuse', "
             "'same_folder', 'allow'. conventions: 'refuse' files that NetCDF packed or MATLAB "
             "wrote, or 'ignore' that, and read values as stored.");
  module.def("open_hdf5_ragged", &open_values, "file"_a, "field"_a, nb::kw_only(),
             "max_host_cache_bytes"_a = options.max_host_cache_bytes,
             "external"_a = named<external_files>{options.external},
             "A dataset of an HDF5 file whose values are of variable length.");
}

}  // namespace feedline::python
