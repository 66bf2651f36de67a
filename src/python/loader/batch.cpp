#include "python/loader/batch.hpp"

#include <feedline/interop/dlpack.hpp>

#include "python/arrays.hpp"
#include "python/bindings.hpp"
#include "python/named.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace feedline::python {
namespace {

constexpr std::int32_t cuda = 2;  ///< DLPack's number of a GPU

/// One field of a batch.
struct tensor_object {
  std::shared_ptr<const batch> lease;
  std::size_t place = 0;

  [[nodiscard]] tensor_view view() const { return lease->field_at(place); }
};

nb::tuple shape_of(const tensor_view& view) {
  nb::list extents;
  for (const std::uint64_t extent : view.shape()) extents.append(extent);
  return nb::tuple(extents);
}

/// A capsule with the name by which consumers know its content; they rename it once they take it.
template <class Tensor, class Deleter>
nb::object in_capsule(std::unique_ptr<Tensor, Deleter> tensor, const char* name) {
  PyObject* const capsule = PyCapsule_New(tensor.get(), name, [](PyObject* self) {
    constexpr const char* own =
        std::is_same_v<Tensor, DLManagedTensor> ? "dltensor" : "dltensor_versioned";
    if (PyCapsule_IsValid(self, own) == 0) return;
    Deleter{}(static_cast<Tensor*>(PyCapsule_GetPointer(self, own)));
  });
  if (capsule == nullptr) nb::raise_python_error();
  (void)tensor.release();
  return nb::steal(capsule);
}

nb::object dlpack(const tensor_object& self, std::optional<std::int64_t> stream,
                  std::optional<std::pair<int, int>> max_version,
                  std::optional<std::pair<int, int>> wanted, std::optional<bool> copy) {
  const dlpack_device where = dlpack_device_of(*self.lease);
  if (wanted && (wanted->first != where.type || wanted->second != where.id)) {
    PyErr_SetString(PyExc_BufferError,
                    "a batch's field cannot be handed to another device than "
                    "its own: the consumer copies it there");
    nb::raise_python_error();
  }
  if (copy.value_or(false)) {
    PyErr_SetString(PyExc_BufferError,
                    "a batch's field is handed over with no copy: the consumer copies it");
    nb::raise_python_error();
  }
  const std::optional<stream_ref> used_on = dlpack_stream(*self.lease, stream);
  const std::string name = self.view().name();
  if (max_version && max_version->first >= 1)
    return in_capsule(to_dlpack(self.lease, name, used_on), "dltensor_versioned");
  return in_capsule(to_unversioned_dlpack(self.lease, name, used_on), "dltensor");
}

/// The type in NumPy's array interface: '<f4'.
std::string type_string(element_type type) {
  const std::string_view name = to_string(type);
  if (type == element_type::bf16) {
    PyErr_SetString(PyExc_AttributeError, "the array interface has no bfloat16: take __dlpack__");
    nb::raise_python_error();
  }
  const char kind = type == element_type::boolean ? 'b' : name.front();
  return (size_bytes(type) == 1 ? "|" : "<") + std::string{kind} + std::to_string(size_bytes(type));
}

nb::dict cuda_array_interface(const tensor_object& self) {
  if (dlpack_device_of(*self.lease).type != cuda) {
    PyErr_SetString(PyExc_AttributeError, "a batch on the host has no __cuda_array_interface__");
    nb::raise_python_error();
  }
  const tensor_view view = self.view();
  nb::dict described;
  described["shape"] = shape_of(view);
  described["typestr"] = type_string(view.type());
  described["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.bytes().data()), false);
  described["strides"] = nb::none();
  // Consumers order themselves after the stream that the batch was taken on.
  described["stream"] = reinterpret_cast<std::uintptr_t>(self.lease->stream().get());
  described["version"] = 3;
  return described;
}

nb::object numpy(const nb::object& self) {
  return nb::module_::import_("numpy").attr("from_dlpack")(self);
}

nb::object torch(const nb::object& self) {
  return nb::module_::import_("torch").attr("from_dlpack")(self);
}

nb::object as_array(const nb::object& self, const nb::object& type, const nb::object& copy) {
  nb::object array = numpy(self);
  if (!type.is_none()) array = array.attr("astype")(type, nb::arg("copy") = false);
  if (!copy.is_none() && nb::cast<bool>(copy)) array = array.attr("copy")();
  return array;
}

tensor_object field_of(const batch_object& self, std::string_view name) {
  for (std::size_t place = 0; place < self.lease->field_count(); ++place)
    if (self.lease->field_at(place).name() == name) return {self.lease, place};
  try {
    (void)(*self.lease)[name];
  } catch (const usage_error& refusal) {
    throw nb::key_error(refusal.what());
  }
  throw nb::key_error("no such field");
}

nb::list names_of_fields(const batch_object& self) {
  nb::list names;
  for (std::size_t place = 0; place < self.lease->field_count(); ++place)
    names.append(text(self.lease->field_at(place).name()));
  return names;
}

/// Each field by name, as a function of its tensor.
template <class Function>
nb::dict each_field(const batch_object& self, Function&& make) {
  nb::dict made;
  for (std::size_t place = 0; place < self.lease->field_count(); ++place)
    made[text(self.lease->field_at(place).name())] =
        make(nb::cast(tensor_object{self.lease, place}));
  return made;
}

nb::object samples_of(const batch_object& self) {
  const std::vector<sample_index> samples = self.lease->samples();
  nb::object array = make_array(element_type::u64, {samples.size()});
  auto* const to = reinterpret_cast<std::uint64_t*>(bytes_of(array).data());
  for (std::size_t i = 0; i < samples.size(); ++i) to[i] = samples[i].value;
  return array;
}

void bind_tensor(nb::module_& module) {
  nb::class_<tensor_object>(
      module, "Tensor",
      "One field of a batch: memory that other libraries take with no copy, by DLPack or CUDA's "
      "array interface. It holds the batch, and so do arrays and tensors made of it.")
      .def_prop_ro(
          "shape", [](const tensor_object& self) { return shape_of(self.view()); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The batch dimension first.")
      .def_prop_ro("dtype", [](const tensor_object& self) { return name_of(self.view().type()); })
      .def_prop_ro("name", [](const tensor_object& self) { return self.view().name(); })
      .def_prop_ro("nbytes", [](const tensor_object& self) { return self.view().bytes().size(); })
      .def("__len__", [](const tensor_object& self) { return self.lease->size(); })
      .def("__dlpack_device__",
           [](const tensor_object& self) {
             const dlpack_device where = dlpack_device_of(*self.lease);
             return std::pair<int, int>{where.type, where.id};
           })
      .def("__dlpack__", &dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
      .def("numpy", &numpy, nb::sig("def numpy(self) -> numpy.ndarray"),
           "A view as an array of NumPy's, on the host device.")
      .def("torch", &torch, nb::sig("def torch(self) -> typing.Any"),
           "A view as a PyTorch tensor, to be used on its current stream.")
      .def("__array__", &as_array, "dtype"_a = nb::none(), "copy"_a = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "numpy.ndarray"))
      .def("__repr__", [](const tensor_object& self) {
        const tensor_view view = self.view();
        return "<feedline.Tensor " + to_string(field{view.name(), view.type(), view.shape()}) + ">";
      });
}

}  // namespace

void bind_batch(nb::module_& module) {
  bind_tensor(module);
  nb::class_<batch_object>(
      module, "Batch", nb::is_weak_referenceable(),
      "A lease on a batch's memory: a mapping from the fields' names to tensors. The memory is "
      "used for another batch once this object, its tensors and arrays made of them are destroyed.")
      .def("__getitem__", &field_of, "name"_a)
      .def("__iter__", [](const batch_object& self) { return nb::iter(names_of_fields(self)); })
      .def(
          "__len__", [](const batch_object& self) { return self.lease->field_count(); },
          "Number of fields; `size` counts the samples.")
      .def("__contains__",
           [](const batch_object& self, const nb::object& name) {
             return nb::cast<bool>(names_of_fields(self).attr("__contains__")(name));
           })
      .def("keys", &names_of_fields)
      .def("values",
           [](const batch_object& self) {
             return each_field(self, [](nb::object each) { return each; }).attr("values")();
           })
      .def("items",
           [](const batch_object& self) {
             return each_field(self, [](nb::object each) { return each; }).attr("items")();
           })
      .def_prop_ro(
          "size", [](const batch_object& self) { return self.lease->size(); },
          "Samples in the batch.")
      .def_prop_ro(
          "index", [](const batch_object& self) { return self.lease->index(); },
          "Number of the batch within its epoch.")
      .def_prop_ro("epoch", [](const batch_object& self) { return self.lease->epoch(); })
      .def("samples", &samples_of, nb::sig("def samples(self) -> numpy.ndarray"),
           "Indices of the samples in the dataset.")
      .def_prop_ro(
          "repeats", [](const batch_object& self) { return self.lease->repeats(); },
          "Number of last samples that repeat the epoch's first ones.")
      .def(
          "numpy", [](const batch_object& self) { return each_field(self, &numpy); },
          nb::sig("def numpy(self) -> dict[str, numpy.ndarray]"), "`Tensor.numpy` of each field.")
      .def(
          "torch", [](const batch_object& self) { return each_field(self, &torch); },
          nb::sig("def torch(self) -> dict[str, typing.Any]"), "`Tensor.torch` of each field.");
}

}  // namespace feedline::python
