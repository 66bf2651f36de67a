#include <feedline/packing/pack_together.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using padding = std::variant<std::int64_t, double>;
/// One for all fields, or one for each.
template <class Value>
using one_or_each = std::variant<Value, std::vector<Value>>;

template <class Value>
std::vector<Value> as_list(one_or_each<Value> given) {
  if (auto* const list = std::get_if<std::vector<Value>>(&given)) return std::move(*list);
  return {std::get<Value>(std::move(given))};
}

dataset_object packed_together(const std::vector<ragged_object>& fields,
                               one_or_each<std::uint64_t> capacity, std::uint64_t window,
                               std::optional<std::uint64_t> seed, std::uint64_t max_samples,
                               one_or_each<padding> value, const named<pack_longer>& longer,
                               bool positions, bool documents, const named<packed_mask>& mask) {
  pack_together_options options{.capacity = as_list(std::move(capacity)),
                                .window = window,
                                .seed = seed,
                                .max_samples = max_samples,
                                .value = {},
                                .longer = longer,
                                .positions = positions,
                                .documents = documents,
                                .mask = mask};
  for (const padding& each : as_list(std::move(value)))
    options.value.push_back(std::visit([](auto number) { return padding_value{number}; }, each));
  std::vector<ragged_dataset_ptr> from;
  for (const ragged_object& each : fields) from.push_back(each.of);
  dataset_object made{interruptible([=] { return dataset_ptr{pack_together(from, options)}; })};
  for (const ragged_object& each : fields) add(made.held, each.held);
  return made;
}

nb::object costs(const dataset_object& rows) {
  const auto packed = std::dynamic_pointer_cast<const packed_dataset>(rows.of);
  if (!packed)
    throw usage_error{
        "packing_costs: the dataset is not the result of pack or pack_together: give it their "
        "rows, before they are zipped, mapped or chosen from"};
  return nb::cast(interruptible([packed] { return packing_costs(*packed); }));
}

}  // namespace

void bind_packing(nb::module_& module) {
  const pack_together_options usual;
  module.def(
      "pack_together", &packed_together, "fields"_a, nb::kw_only(), "capacity"_a,
      "window"_a = usual.window, "seed"_a = nb::none(), "max_samples"_a = usual.max_samples,
      "value"_a = 0, "longer"_a = named<pack_longer>{usual.longer}, "positions"_a = usual.positions,
      "documents"_a = usual.documents, "mask"_a = named<packed_mask>{usual.mask},
      nb::sig("def pack_together(fields: collections.abc.Sequence[RaggedDataset], *, "
              "capacity: int | collections.abc.Sequence[int], window: int = 65536, "
              "seed: int | None = None, max_samples: int = 0, "
              "value: float | collections.abc.Sequence[float] = 0, "
              "longer: typing.Literal['error', 'split'] = 'error', positions: bool = False, "
              "documents: bool = False, "
              "mask: typing.Literal['none', 'elements', 'followed'] = 'none') -> Dataset"),
      "Rows that a plan fills with samples of one or several ragged fields, more than 99 % on "
      "documents of web pages. Fields are NAME, NAME_count and NAME_offsets of each, and for the "
      "first one "
      "NAME_position, NAME_document and NAME_mask, if they are asked for.");
  module.def("packing_costs", &costs, "rows"_a,
             nb::sig("def packing_costs(rows: Dataset) -> list[int]"),
             "The sum of the squares of the samples' lengths in each row of `pack` or "
             "`pack_together`, such as for `bucket_by_length`.");
}

}  // namespace feedline::python
