#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>

#include "python/bindings.hpp"
#include "python/datasets/array_object.hpp"
#include "python/datasets/arrays.hpp"
#include "python/errors.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/interpreter/lock.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {

template <>
struct names<nan_rule> {
  static constexpr std::string_view what = "rule for NaN";
  static constexpr named_value<nan_rule> all[] = {
      {"keep", nan_rule::keep}, {"replace", nan_rule::replace}, {"refuse", nan_rule::refuse}};
};

namespace {

using file = std::filesystem::path;
using strings = std::vector<std::string>;

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

}  // namespace

void bind_nd_arrays(nb::module_& module) {
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
        // It may read coordinates, which it compares.
        made.of = unlocked([&] { return concatenate_arrays(std::move(each), as_axis(axis)); });
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

}  // namespace feedline::python
