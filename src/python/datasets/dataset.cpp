#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/sampler/random_split.hpp>

#include "python/bindings.hpp"
#include "python/datasets/arrays.hpp"
#include "python/datasets/sizes.hpp"
#include "python/errors.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

nb::dict read(const dataset& of, const std::vector<sample_index>& samples, bool one) {
  for (const sample_index sample : samples)
    if (sample.value >= of.size())
      throw usage_error{"the dataset has no sample " + std::to_string(sample.value) +
                        "; there are 0 to " + std::to_string(of.size() - 1)};
  nb::dict values;
  std::vector<std::span<std::byte>> out;
  for (const field& each : of.fields()) {
    std::vector<std::uint64_t> shape = each.shape;
    if (!one) shape.insert(shape.begin(), samples.size());
    nb::object array = make_array(each.type, shape);
    out.push_back(bytes_of(array));
    values[text(each.name)] = std::move(array);
  }
  try {
    unlocked([&] { of.read(samples, out); });
  } catch (...) {
    rethrow_as_raised();
  }
  return values;
}

nb::dict read_run(const dataset_ptr& of, nb::handle samples) {
  std::vector<sample_index> wanted;
  for (const std::uint64_t sample : numbers<std::uint64_t>(samples))
    wanted.push_back(sample_index{sample});
  return read(*of, wanted, false);
}

nb::dict read_one(const dataset_ptr& of, std::int64_t sample) {
  const auto size = static_cast<std::int64_t>(of->size());
  if (sample < 0) sample += size;
  if (sample < 0 || sample >= size) throw nb::index_error("no such sample");
  return read(*of, {sample_index{static_cast<std::uint64_t>(sample)}}, true);
}

dataset_object load(const dataset_object& from, std::size_t max_bytes, int threads,
                    const std::optional<error_policy>& errors,
                    const std::optional<nb::callable>& failures) {
  struct shared {
    std::atomic<bool> is_left{false};
    std::optional<failure_report> report;
  };
  const auto with = std::make_shared<shared>();
  const auto look = [with](std::uint64_t, std::uint64_t) {
    if (with->is_left) throw usage_error{"load_into_memory was interrupted"};
  };
  load_into_memory_options options{.max_bytes = max_bytes, .threads = threads, .progress = look};
  if (errors) options.errors = *errors;
  if (failures) options.failures = [with](const failure_report& report) { with->report = report; };
  try {
    dataset_ptr loaded = interruptible([of = from.of, options] {
      const interruption interrupted;
      try {
        return load_into_memory(of, options);
      } catch (...) {
        interruption::rethrow_if_any();
        throw;
      }
    });
    if (with->report) (*failures)(nb::cast(*with->report, nb::rv_policy::copy));
    return {loaded, loaded == from.of ? from.held : holds{}};
  } catch (const nb::python_error&) {  // a signal's handler raised it: the threads still read
    with->is_left = true;
    throw;
  }
}

any_name describe(const dataset_ptr& of) {
  std::string text = "<feedline.Dataset of " + std::to_string(of->size()) + " samples";
  for (const field& each : of->fields()) text += ", " + to_string(each);
  return text + ">";
}

dataset_object join(const std::vector<dataset_object>& parts) {
  return composed(concatenate(pointers(parts)), parts);
}

dataset_object put_together(const std::vector<dataset_object>& parts) {
  return composed(feedline::zip(pointers(parts)), parts);
}

dataset_object choose(const dataset_object& of, nb::handle samples) {
  std::vector<sample_index> chosen;
  for (const std::uint64_t sample : numbers<std::uint64_t>(samples))
    chosen.push_back(sample_index{sample});
  return composed(subset(of.of, std::move(chosen)), of);
}

dataset_object choose_fields(
    const dataset_object& of,
    const std::vector<std::variant<any_name, std::pair<any_name, any_name>>>& fields) {
  std::vector<selected_field> chosen;
  for (const auto& each : fields) {
    if (const auto* const name = std::get_if<any_name>(&each)) {
      chosen.emplace_back(name->bytes);
    } else {
      const auto& [old_name, new_name] = std::get<1>(each);
      chosen.emplace_back(old_name.bytes, new_name.bytes);
    }
  }
  return composed(select(of.of, chosen), of);
}

std::vector<dataset_object> split(const dataset_object& of,
                                  const std::vector<count_or_share>& sizes, std::uint64_t seed) {
  std::vector<split_size> wanted;
  for (const count_or_share& each : sizes) wanted.push_back(as_size(each));
  std::vector<dataset_object> parts;
  for (dataset_ptr& part : random_split(of.of, wanted, seed))
    parts.push_back(composed(std::move(part), of));
  return parts;
}

}  // namespace

void bind_datasets(nb::module_& module) {
  nb::class_<field>(module, "Field", "One field of a sample.")
      .def(
          "__init__",
          [](field* self, const any_name& name, const dtype_argument& type,
             std::vector<std::uint64_t> shape) {
            new (self) field{name.bytes, type, std::move(shape)};
          },
          "name"_a, "dtype"_a, "shape"_a = std::vector<std::uint64_t>{})
      .def_prop_ro("name", [](const field& self) { return any_name{self.name}; })
      .def_prop_ro("dtype", [](const field& self) { return dtype_argument{self.type}; })
      .def_prop_ro(
          "shape", [](const field& self) { return nb::tuple(nb::cast(self.shape)); },
          "Shape of one sample; empty: a scalar. Where height and width differ from batch to "
          "batch, "
          "it has the largest.")
      .def_prop_ro(
          "classes", [](const field& self) { return any_names(self.classes.get()); },
          "Labels: names of the classes 0, 1, …; empty: values are numbers.")
      .def_prop_ro(
          "by_batch", [](const field& self) { return self.by_batch.has_value(); },
          "Whether height and width differ from batch to batch (ImageOptions, `sizes` and `fit`).")
      .def("__eq__", [](const field& self, const field& other) { return self == other; })
      .def("__repr__",
           [](const field& self) { return any_name{"<feedline.Field " + to_string(self) + ">"}; });

  nb::class_<dataset_object>(module, "Dataset", nb::dynamic_attr(),
                             nb::type_slots(collected<dataset_object>),
                             "Samples by index; made by the functions of this module.")
      .def_prop_ro("size", [](const dataset_ptr& self) { return self->size(); })
      .def_prop_ro("fields", [](const dataset_ptr& self) { return self->fields(); })
      .def("__len__", [](const dataset_ptr& self) { return self->size(); })
      .def_prop_ro(
          "varies_by_epoch", [](const dataset_ptr& self) { return self->varies_by_epoch(); },
          "Whether a sample differs between epochs, because of random augmentation on the CPU.")
      .def("__getitem__", &read_one, "sample"_a,
           nb::sig("def __getitem__(self, sample: int, /) -> dict[str, "
                   "numpy.typing.NDArray[typing.Any]]"),
           "One sample, read now: name -> array.")
      .def(
          "read", &read_run, "samples"_a,
          nb::sig(
              "def read(self, samples: typing.Any) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
          "A run of samples, read now: name -> array whose first dimension is that of `samples`.")
      .def("__repr__", &describe);

  const load_into_memory_options options;
  module.def(
      "load_into_memory", &load, "dataset"_a, nb::kw_only(), "max_bytes"_a = options.max_bytes,
      "threads"_a = options.threads, "errors"_a = nb::none(), "failures"_a = nb::none(),
      "Reads a dataset whole, once, in parallel, and holds it. Blocks; Ctrl-C ends it. "
      "`errors` says how samples that cannot be read are handled: None and "
      "ErrorPolicy(action='fail') hold nothing, 'skip' leaves them out. `failures` is called with "
      "a FailureReport of them, if there are any.");
}

void bind_composition(nb::module_& module) {
  module.def("concatenate", &join, "parts"_a, "Datasets one after the other, as one.");
  module.def("zip", &put_together, "parts"_a, "Datasets of equal size, their fields side by side.");
  module.def("select", &choose_fields, "dataset"_a, "fields"_a,
             "Some fields, in the order given: names, or pairs (name, new name).");
  module.def("subset", &choose, "dataset"_a, "samples"_a,
             nb::sig("def subset(dataset: Dataset, samples: typing.Any) -> Dataset"),
             "Chosen samples, in the order given: indices, as a list, a range or an array.");
  module.def("random_split", &split, "dataset"_a, "sizes"_a, "seed"_a,
             "Parts of a dataset that share no sample and together have all; floats are shares, "
             "integers count samples.");
}

}  // namespace feedline::python
