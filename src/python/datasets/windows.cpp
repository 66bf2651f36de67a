// Over 250 lines: one short binding for each function of arrays.

#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/csr.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#ifdef FEEDLINE_HAS_HDF5
#include <feedline/hdf5/arrays.hpp>
#endif

#include "python/bindings.hpp"
#include "python/datasets/array_object.hpp"
#include "python/datasets/arrays.hpp"
#include "python/errors.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {

template <>
struct names<window_position> {
  static constexpr std::string_view what = "position of windows";
  static constexpr named_value<window_position> all[] = {{"grid", window_position::grid},
                                                         {"random", window_position::random}};
};
template <>
struct names<window_edges> {
  static constexpr std::string_view what = "edges of windows";
  static constexpr named_value<window_edges> all[] = {
      {"drop", window_edges::drop}, {"pad", window_edges::pad}, {"reflect", window_edges::reflect}};
};

template <>
struct names<nan_rule> {
  static constexpr std::string_view what = "rule for NaN";
  static constexpr named_value<nan_rule> all[] = {
      {"keep", nan_rule::keep}, {"replace", nan_rule::replace}, {"refuse", nan_rule::refuse}};
};

namespace {

using file = std::filesystem::path;
using strings = std::vector<std::string>;
using axis_argument = std::variant<std::int64_t, std::string>;
using range_argument = std::pair<std::uint64_t, std::uint64_t>;

/// One number for all channels, or one for each: what numpy.asarray makes numbers of.
std::vector<double> as_numbers(nb::handle numbers, const char* name) {
  if (numbers.is_none()) return {};
  const nb::object flat = nb::module_::import_("numpy").attr("asarray")(numbers, "float64");
  auto all = nb::cast<std::vector<double>>(flat.attr("ravel")().attr("tolist")());
  if (all.empty())
    throw usage_error{std::string{"standardize: "} + name +
                      " has no numbers; give one, or one for each index, or None"};
  return all;
}

array_axis as_axis(const axis_argument& axis) {
  return std::visit([](const auto& each) { return array_axis{each}; }, axis);
}
axis_argument spelled(const array_axis& axis) {
  if (axis.name.empty()) return axis.number;
  return axis.name;
}

array_object made_of(array_ptr made, const array_object& of) {
  return {std::move(made), of.held};
}

array_object array_of_memory(nb::handle values, const std::string& name,
                             const strings& dimensions) {
  dense_array dense = as_dense(values);
  const nb::object held = held_objects::make();
  const bool is_view = nb::object{dense.held.attr("base")}.is(values);
  const held_object owner{is_view ? nb::borrow(values) : std::move(dense.held),
                          *held_objects::of(held)};
  return {make_memory_array(
              {.name = name, .type = dense.type, .shape = dense.shape, .dimensions = dimensions},
              dense.bytes, owner.owner()),
          {held}};
}

nb::object read_all(const array_object& self) {
  const array_spec& spec = self.of->spec();
  nb::object values = make_array(spec.type, spec.shape);
  const auto out = bytes_of(values);
  try {
    unlocked([&] { self.of->read_all(out); });
  } catch (...) {
    rethrow_as_raised();
  }
  return values;
}

nb::object numbers_of(const std::vector<std::uint64_t>& numbers) {
  return nb::tuple(nb::cast(numbers));
}

void bind_array(nb::module_& module) {
  nb::class_<array_object>(module, "Array", nb::dynamic_attr(),
                           nb::type_slots(collected<array_object>),
                           "An array of N dimensions, wherever it is stored, for make_windows.")
      .def_prop_ro("name", [](const array_object& self) { return any_name{self.of->spec().name}; })
      .def_prop_ro("dtype",
                   [](const array_object& self) { return dtype_argument{self.of->spec().type}; })
      .def_prop_ro(
          "shape", [](const array_object& self) { return numbers_of(self.of->spec().shape); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dimensions",
          [](const array_object& self) { return any_names(self.of->spec().dimensions); },
          "Names of the dimensions; empty: none has one.")
      .def_prop_ro(
          "chunk", [](const array_object& self) { return numbers_of(self.of->spec().chunk); },
          nb::sig("def chunk(self) -> tuple[int, ...]"),
          "Extents of the chunks that are decoded as a whole; empty: it is not chunked.")
      .def_prop_ro(
          "chunks_kept", [](const array_object& self) { return self.of->spec().chunks_kept; },
          "Maximum number of decoded chunks in memory.")
      .def("numpy", &read_all, nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
           "The whole array, read now.")
      .def("__repr__", [](const array_object& self) {
        return any_name{"<feedline.Array " + to_string(self.of->spec()) + ">"};
      });

  module.def("make_memory_array", &array_of_memory, "values"_a, "name"_a,
             "dimensions"_a = strings{},
             nb::sig("def make_memory_array(values: typing.Any, name: str, dimensions: "
                     "collections.abc.Sequence[str] = []) -> Array"),
             "An array in memory: what numpy.asarray accepts. It must not change.");
  module.def(
      "open_npy_array",
      [](const file& path, const std::string& name, const strings& dimensions) {
        return array_object{
            interruptible([=] { return open_npy_array(path.string(), name, dimensions); })};
      },
      "file"_a, "name"_a, "dimensions"_a = strings{},
      "A .npy file as an array of N dimensions, with names for them.");
  module.def(
      "open_npz_array",
      [](const file& path, const std::string& member) {
        return array_object{interruptible([=] { return open_npz_array(path.string(), member); })};
      },
      "file"_a, "member"_a, "A member of a .npz archive as an array of N dimensions.");
  module.def(
      "load_array",
      [](const array_object& array) {
        return array_object{interruptible([of = array.of] { return load_array(of); })};
      },
      "array"_a, "The same array, read into memory.");
  module.def(
      "rename_array",
      [](const array_object& array, const std::string& name, const strings& dimensions) {
        return made_of(rename_array(array.of, name, dimensions), array);
      },
      "array"_a, "name"_a = "", "dimensions"_a = strings{},
      "The same array by another name, or with other names of its dimensions.");
  module.def(
      "choose_along",
      [](const array_object& array, const axis_argument& axis,
         const std::vector<std::uint64_t>& indices) {
        return made_of(choose_along(array.of, as_axis(axis), indices), array);
      },
      "array"_a, "axis"_a, "indices"_a,
      "Some indices along an axis, in the order given, such as levels.");
  module.def(
      "concatenate_arrays",
      [](const std::vector<array_object>& parts, const axis_argument& axis) {
        std::vector<array_ptr> each;
        array_object made;
        for (const array_object& part : parts) {
          each.push_back(part.of);
          add(made.held, part.held);
        }
        made.of = concatenate_arrays(std::move(each), as_axis(axis));
        return made;
      },
      "parts"_a, "axis"_a, "Arrays one after the other along an axis, such as files of years.");
  module.def(
      "unpack",
      [](const array_object& array, const std::optional<dtype_argument>& dtype, double missing) {
        unpack_options options{.missing = missing};
        if (dtype) options.type = *dtype;
        return made_of(unpack(array.of, options), array);
      },
      "array"_a, nb::kw_only(), "dtype"_a = nb::none(),
      "missing"_a = std::numeric_limits<double>::quiet_NaN(),
      "The numbers that packed numbers stand for, as xarray computes them: scale_factor, "
      "add_offset, _FillValue, missing_value. dtype: 'float32', 'float64'; None: xarray's choice. "
      "missing: stands for missing values and NaN.");
  module.def(
      "standardize",
      [](const array_object& array, const nb::object& mean, const nb::object& stddev,
         const std::optional<axis_argument>& axis, const dtype_argument& dtype,
         const named<nan_rule>& nan, double replacement) {
        standardize_options options{.mean = as_numbers(mean, "mean"),
                                    .stddev = as_numbers(stddev, "stddev"),
                                    .type = dtype,
                                    .nan = nan,
                                    .replacement = replacement};
        if (axis) options.axis = as_axis(*axis);
        return made_of(standardize(array.of, options), array);
      },
      "array"_a, "mean"_a = nb::none(), "stddev"_a = nb::none(), nb::kw_only(),
      "axis"_a = nb::none(), "dtype"_a = dtype_argument{element_type::f32},
      "nan"_a = named<nan_rule>{nan_rule::keep}, "replacement"_a = 0.0,
      "Values less the mean, divided by the deviation: numbers, or one for each index of an axis. "
      "nan: NaN is kept, becomes the replacement, or makes samples unreadable.");
}

void bind_windows_of_arrays(nb::module_& module) {
  const window usual{0};
  nb::class_<window>(module, "Window", "Windows along one axis of arrays.")
      .def(
          "__init__",
          [](window* self, const axis_argument& axis, std::uint64_t size, std::uint64_t stride,
             std::uint64_t step, const named<window_position>& position,
             const named<window_edges>& edges, const std::vector<range_argument>& excluded,
             bool keep_axis, std::uint64_t region) {
            new (self)
                window{as_axis(axis), size, stride, step, position, edges, {}, keep_axis, region};
            for (const auto& [begin, end] : excluded) self->excluded.push_back({begin, end});
          },
          "axis"_a, "size"_a = usual.size, "stride"_a = usual.stride, "step"_a = usual.step,
          nb::kw_only(), "position"_a = named<window_position>{usual.position},
          "edges"_a = named<window_edges>{usual.edges},
          "excluded"_a = std::vector<range_argument>{}, "keep_axis"_a = usual.keep_axis,
          "region"_a = usual.region)
      .def_prop_ro("axis", [](const window& self) { return spelled(self.axis); })
      .def_ro("size", &window::size)
      .def_ro("stride", &window::stride)
      .def_ro("step", &window::step)
      .def_prop_ro("position",
                   [](const window& self) { return named<window_position>{self.position}; })
      .def_prop_ro("edges", [](const window& self) { return named<window_edges>{self.edges}; })
      .def_prop_ro("excluded",
                   [](const window& self) {
                     std::vector<range_argument> ranges;
                     for (const index_range& each : self.excluded)
                       ranges.emplace_back(each.begin, each.end);
                     return ranges;
                   })
      .def_ro("keep_axis", &window::keep_axis)
      .def_ro("region", &window::region);

  nb::class_<field_window>(module, "FieldWindow",
                           "How a field's window differs from the sample's along one axis.")
      .def(
          "__init__",
          [](field_window* self, const axis_argument& axis, std::int64_t offset,
             const std::optional<std::uint64_t>& size, const std::optional<std::uint64_t>& step) {
            new (self) field_window{as_axis(axis), offset, size, step};
          },
          "axis"_a, "offset"_a = 0, "size"_a = nb::none(), "step"_a = nb::none())
      .def_prop_ro("axis", [](const field_window& self) { return spelled(self.axis); })
      .def_ro("offset", &field_window::offset)
      .def_ro("size", &field_window::size)
      .def_ro("step", &field_window::step);

  nb::class_<window_field_object>(module, "WindowField",
                                  nb::type_slots(collected<window_field_object>),
                                  "A field of windows: an array, or several stacked as channels.")
      .def(
          "__init__",
          [](window_field_object* self, const any_name& name,
             const std::vector<array_object>& arrays, const std::vector<field_window>& windows,
             const std::vector<axis_argument>& channels, std::size_t channel_axis, double pad) {
            new (self) window_field_object{window_field{.name = name.bytes,
                                                        .arrays = {},
                                                        .windows = windows,
                                                        .channel_axis = channel_axis,
                                                        .pad = pad}};
            for (const array_object& each : arrays) {
              self->of.arrays.push_back(each.of);
              add(self->held, each.held);
            }
            for (const axis_argument& each : channels) self->of.channels.push_back(as_axis(each));
          },
          "name"_a, "arrays"_a, nb::kw_only(), "windows"_a = std::vector<field_window>{},
          "channels"_a = std::vector<axis_argument>{}, "channel_axis"_a = 0, "pad"_a = 0.0)
      .def_prop_ro("name", [](const window_field_object& self) { return any_name{self.of.name}; });

  module.def(
      "make_windows",
      [](const std::vector<window>& windows, const std::vector<window_field_object>& fields,
         std::uint64_t draws) {
        std::vector<window_field> each;
        dataset_object made;
        for (const window_field_object& field : fields) {
          each.push_back(field.of);
          add(made.held, field.held);
        }
        made.of = make_windows(windows, std::move(each), {.draws = draws});
        return made;
      },
      "windows"_a, "fields"_a, nb::kw_only(), "draws"_a = window_options{}.draws,
      "A dataset whose samples are windows of arrays. draws: samples at each position of the "
      "grid.");
  module.def(
      "make_csr_dataset",
      [](const any_name& field_name, const array_object& data, const array_object& indices,
         const array_object& indptr, std::uint64_t columns) {
        dataset_object made;
        for (const array_object* each : {&data, &indices, &indptr}) add(made.held, each->held);
        made.of = make_csr_dataset(field_name.bytes, {data.of, indices.of, indptr.of, columns});
        return made;
      },
      "field_name"_a, "data"_a, "indices"_a, "indptr"_a, "columns"_a,
      "Dense rows of a sparse matrix that is stored by rows.");
  module.def(
      "open_npz_csr",
      [](const file& path, const std::string& name) {
        return interruptible([=] { return open_npz_csr(path.string(), name); });
      },
      "file"_a, "field_name"_a, "Dense rows of a matrix that scipy.sparse.save_npz wrote.");
}

#ifdef FEEDLINE_HAS_HDF5
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
#endif

}  // namespace

void bind_windows(nb::module_& module) {
  bind_array(module);
  bind_windows_of_arrays(module);
#ifdef FEEDLINE_HAS_HDF5
  bind_hdf5_arrays(module);
#endif
}

}  // namespace feedline::python
