#include <feedline/arrays/csr.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/formats/npz.hpp>

#include "python/bindings.hpp"
#include "python/datasets/array_object.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/interpreter/lock.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
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

namespace {

using file = std::filesystem::path;
using range_argument = std::pair<std::uint64_t, std::uint64_t>;

axis_argument spelled(const array_axis& axis) {
  if (axis.name.empty()) return axis.number;
  return axis.name;
}

}  // namespace

void bind_windows(nb::module_& module) {
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
        // It may read coordinates, which it compares.
        made.of =
            unlocked([&] { return make_windows(windows, std::move(each), {.draws = draws}); });
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

}  // namespace feedline::python
