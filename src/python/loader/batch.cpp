#include "python/loader/batch.hpp"

#include <feedline/interop/dlpack.hpp>

#include "python/bindings.hpp"
#include "python/datasets/arrays.hpp"
#include "python/loader/tensor.hpp"
#include "python/named.hpp"

#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace feedline::python {
namespace {

tensor_object field_of(const batch_object& self, nb::handle name) {
  if (const auto place = self.names->index_of(name)) return {self.lease, *place};
  any_name wanted;
  if (nb::try_cast(name, wanted)) {
    try {
      (void)(*self.lease)[wanted.bytes];
    } catch (const usage_error& refusal) {
      throw nb::key_error(refusal.what());
    }
  }
  throw nb::key_error("no such field");
}

nb::object on_host(const batch_object& self, nb::handle name) {
  tensor_object field = field_of(self, name);
  field.host_copy = !field.view().is_on_host();
  (void)field.view();  // refused if the host does not keep it
  return numpy(nb::cast(field));
}

/// Each field by name, as a function of its tensor.
template <class Function>
nb::dict each_field(const batch_object& self, Function&& make) {
  nb::dict made;
  for (const auto [name, place] : self.names->indices())
    made[name] = make(nb::cast(tensor_object{self.lease, nb::cast<std::size_t>(place)}));
  return made;
}

/// Each field as a PyTorch tensor on a device. From the host copies end before this returns: the
/// memory that they read may be used again at once.
nb::dict moved_to(const batch_object& self, const nb::object& where, bool non_blocking) {
  return each_field(self, [&](const nb::object& tensor) {
    const bool is_host = nb::cast<const tensor_object&>(tensor).where().type != dlpack_cuda;
    return torch(tensor).attr("to")(where, "non_blocking"_a = non_blocking && !is_host);
  });
}

/// Frameworks change the values of a mapping and make another one of its type; what they left are
/// tensors that PyTorch's modules take.
nb::dict as_dict(const nb::object& fields) {
  nb::dict made;
  const auto given =
      nb::borrow<nb::dict>(nb::handle{reinterpret_cast<PyObject*>(&PyDict_Type)}(fields));
  for (const auto [name, value] : given)
    made[name] =
        nb::isinstance<tensor_object>(value) ? torch(nb::borrow(value)) : nb::borrow(value);
  return made;
}

any_name describe_batch(const batch_object& self) {
  const batch& held = *self.lease;
  std::string words = "<feedline.Batch " + std::to_string(held.index()) + " of epoch " +
                      std::to_string(held.epoch()) + ": " + std::to_string(held.size()) +
                      " samples";
  for (std::size_t place = 0; place < held.field_count(); ++place) {
    const tensor_view view = held.field_at(place);
    words += ", " + to_string(field{view.name(), view.type(), view.shape()});
  }
  const dlpack_device where = dlpack_device_of(held);
  return words + (where.type == dlpack_cuda ? ", on GPU " + std::to_string(where.id) : "") + ">";
}

nb::object samples_of(const batch_object& self) {
  const std::vector<sample_index> samples = self.lease->samples();
  nb::object array = make_array(element_type::u64, {samples.size()});
  auto* const to = reinterpret_cast<std::uint64_t*>(bytes_of(array).data());
  for (std::size_t i = 0; i < samples.size(); ++i) to[i] = samples[i].value;
  return array;
}

}  // namespace

field_names::field_names(const batch& of) {
  for (std::size_t place = 0; place < of.field_count(); ++place)
    indices_[text(of.field_at(place).name())] = place;
}

std::optional<std::size_t> field_names::index_of(nb::handle name) const {
  PyObject* const found = PyDict_GetItemWithError(indices_.ptr(), name.ptr());
  if (found != nullptr) return PyLong_AsSize_t(found);
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  return std::nullopt;
}

void bind_batch(nb::module_& module) {
  bind_tensor(module);
  nb::class_<batch_object>(
      module, "Batch", nb::is_weak_referenceable(),
      nb::sig("class Batch(collections.abc.Mapping[str, Tensor])"),
      "A lease on a batch's memory: a mapping from the fields' names to tensors. The memory is "
      "used for another batch once this object, its tensors and arrays made of them are destroyed. "
      "Frameworks that make `type(batch)(changed)` get a dict.")
      .def(nb::new_(&as_dict), "fields"_a)
      .def("__getitem__", &field_of, "name"_a.none(),
           nb::sig("def __getitem__(self, name: str, /) -> Tensor"))
      .def(
          "__iter__", [](const batch_object& self) { return nb::iter(self.names->indices()); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
      .def(
          "__len__", [](const batch_object& self) { return self.lease->field_count(); },
          "Number of fields; `size` counts the samples.")
      .def(
          "__contains__",
          [](const batch_object& self, nb::handle name) {
            return self.names->index_of(name).has_value();
          },
          "name"_a.none(), nb::sig("def __contains__(self, name: object, /) -> bool"))
      .def(
          "_ipython_key_completions_",
          [](const batch_object& self) { return self.names->indices().keys(); },
          nb::sig("def _ipython_key_completions_(self) -> list[str]"))
      .def(
          "get",
          [](const batch_object& self, nb::handle name, const nb::object& otherwise) {
            const auto place = self.names->index_of(name);
            return place ? nb::cast(tensor_object{self.lease, *place}) : otherwise;
          },
          "name"_a.none(), "default"_a = nb::none(),
          nb::sig("def get(self, name: str, /, default: typing.Any = None) -> typing.Any"))
      .def(
          "keys",
          [](const batch_object& self) {
            return nb::steal(PyDict_Copy(self.names->indices().ptr())).attr("keys")();
          },
          nb::sig("def keys(self) -> collections.abc.KeysView[str]"))
      .def(
          "values",
          [](const batch_object& self) {
            return each_field(self, [](nb::object each) { return each; }).attr("values")();
          },
          nb::sig("def values(self) -> collections.abc.ValuesView[Tensor]"))
      .def(
          "items",
          [](const batch_object& self) {
            return each_field(self, [](nb::object each) { return each; }).attr("items")();
          },
          nb::sig("def items(self) -> collections.abc.ItemsView[str, Tensor]"))
      .def("to", &moved_to, "device"_a, "non_blocking"_a = false,
           nb::sig("def to(self, device: typing.Any, non_blocking: bool = False) -> "
                   "dict[str, typing.Any]"),
           "Each field as a PyTorch tensor on a device: a view if it is there, else a copy. From "
           "the host the copy blocks, because the memory that it reads is used again; from a GPU "
           "it need not.")
      .def("__repr__", &describe_batch)
      .def_prop_ro(
          "size", [](const batch_object& self) { return self.lease->size(); },
          "Samples in the batch.")
      .def_prop_ro(
          "index", [](const batch_object& self) { return self.lease->index(); },
          "Number of the batch within its epoch.")
      .def_prop_ro(
          "epoch", [](const batch_object& self) { return self.lease->epoch(); },
          "Number of the epoch.")
      .def("samples", &samples_of, nb::sig("def samples(self) -> numpy.typing.NDArray[typing.Any]"),
           "Indices of the samples in the dataset.")
      .def("on_host", &on_host, "name"_a,
           nb::sig("def on_host(self, name: str) -> numpy.typing.NDArray[typing.Any]"),
           "A field that `keep_on_host` names, as an array of NumPy's, whether it is on the device "
           "too or not. It holds the batch.")
      .def_prop_ro(
          "repeats", [](const batch_object& self) { return self.lease->repeats(); },
          "Number of last samples that repeat the epoch's first ones.")
      .def(
          "numpy", [](const batch_object& self) { return each_field(self, &numpy); },
          nb::sig("def numpy(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
          "`Tensor.numpy` of each field.")
      .def(
          "torch", [](const batch_object& self) { return each_field(self, &torch); },
          nb::sig("def torch(self) -> dict[str, typing.Any]"), "`Tensor.torch` of each field.");
}

}  // namespace feedline::python
