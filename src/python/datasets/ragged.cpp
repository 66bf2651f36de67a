#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/decode.hpp>
#include <feedline/ragged/pack.hpp>
#include <feedline/ragged/pad.hpp>

#include "python/bindings.hpp"
#include "python/datasets/padding.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <string>
#include <variant>

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

namespace feedline::python {
namespace {

dataset_object padded(const ragged_object& of, std::uint64_t length, const padding_argument& value,
                      const named<pad_longer>& longer) {
  const pad_options options{.length = length, .value = to_padding(value), .longer = longer};
  return composed(interruptible([=, from = of.of] { return pad(from, options); }), of);
}

dataset_object packed(const ragged_object& of, std::uint64_t capacity, std::uint64_t max_samples,
                      const padding_argument& value, const named<pack_longer>& longer) {
  const pack_options options{.capacity = capacity,
                             .max_samples = max_samples,
                             .value = to_padding(value),
                             .longer = longer};
  return composed(interruptible([=, from = of.of] { return pack(from, options); }), of);
}

dataset_object decoded(const ragged_object& of, const decoder_ptr& by) {
  return composed(interruptible([from = of.of, by] { return decode(from, by); }), of);
}

ragged_object make_ragged(const dataset_object& values, const dataset_object& offsets) {
  ragged_object made{interruptible(
      [rows = values.of, from = offsets.of] { return make_ragged_dataset(rows, from); })};
  add(made.held, values.held);
  add(made.held, offsets.held);
  return made;
}

}  // namespace

void bind_padding(nb::module_& module) {
  const pad_options usual;
  nb::class_<pad_options>(module, "PadOptions", "How a ragged field is padded.")
      .def(
          "__init__",
          [](pad_options* self, std::uint64_t length, const padding_argument& value,
             const named<pad_longer>& longer) {
            new (self) pad_options{.length = length, .value = to_padding(value), .longer = longer};
          },
          nb::kw_only(), "length"_a = usual.length, "value"_a = 0,
          "longer"_a = named<pad_longer>{usual.longer})
      .def_ro("length", &pad_options::length);
}

void bind_ragged(nb::module_& module) {
  nb::class_<ragged_object>(module, "RaggedDataset", nb::dynamic_attr(),
                            nb::type_slots(collected<ragged_object>),
                            "Samples that each have their own number of elements.")
      .def_prop_ro("size", [](const ragged_dataset_ptr& self) { return self->size(); })
      .def_prop_ro("element", [](const ragged_dataset_ptr& self) { return self->element(); })
      .def("__len__", [](const ragged_dataset_ptr& self) { return self->size(); })
      .def(
          "length",
          [](const ragged_dataset_ptr& self, std::uint64_t sample) {
            if (sample >= self->size()) throw nb::index_error("no such sample");
            return self->length(sample_index{sample});
          },
          "sample"_a, "Number of elements of a sample.");

  module.def("make_ragged_dataset", &make_ragged, "values"_a, "offsets"_a,
             "Sample i is rows offsets[i] to offsets[i + 1] of `values`.");
  const pad_options pads;
  module.def("pad", &padded, "dataset"_a, nb::kw_only(), "length"_a = pads.length, "value"_a = 0,
             "longer"_a = named<pad_longer>{pads.longer},
             "Every sample with the same number of elements: fields NAME and NAME_length.");
  const pack_options packs;
  module.def("pack", &packed, "dataset"_a, nb::kw_only(), "capacity"_a,
             "max_samples"_a = packs.max_samples, "value"_a = 0,
             "longer"_a = named<pack_longer>{packs.longer},
             "Rows of whole samples that follow each other: fields NAME, NAME_count and "
             "NAME_offsets.");
  module.def("decode", &decoded, "dataset"_a, "by"_a,
             "Coded values of varying length, decoded by the readers.");
}

}  // namespace feedline::python
