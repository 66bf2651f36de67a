#include "python/loader/tensor.hpp"

#include "python/datasets/arrays.hpp"
#include "python/named.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

namespace feedline::python {
namespace {

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
  const dlpack_device where = self.where();
  if (self.host_copy) {
    PyErr_SetString(PyExc_BufferError,
                    "the host's view of a field that is on the device too has no __dlpack__: take "
                    ".numpy()");
    nb::raise_python_error();
  }
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
  const std::optional<stream_ref> used_on =
      self.view().is_on_host() ? std::nullopt : dlpack_stream(*self.lease, stream);
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
  if (self.where().type != dlpack_cuda) {
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

/// NumPy's array interface of a tensor on the host; bfloat16, which it lacks, as words of 16 bits.
nb::dict array_interface(const tensor_object& self, const std::string& type) {
  const tensor_view view = self.view();
  nb::dict described;
  described["shape"] = shape_of(view);
  described["typestr"] = type;
  described["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.bytes().data()), false);
  described["version"] = 3;
  return described;
}

nb::dict host_array_interface(const tensor_object& self) {
  if (self.where().type == dlpack_cuda) {
    PyErr_SetString(PyExc_AttributeError, "a batch on a GPU has no __array_interface__");
    nb::raise_python_error();
  }
  return array_interface(self, type_string(self.view().type()));
}

/// A view of bfloat16, whose type comes from ml_dtypes.
nb::object bf16_array(const nb::object& self, const tensor_object& tensor) {
  if (tensor.where().type == dlpack_cuda)
    throw usage_error{"this batch is on a GPU, and NumPy is for the host: take .torch()"};
  const nb::object type = bfloat16_of_numpy();
  // The array keeps the object that has the interface, and this object keeps the batch.
  const nb::object words = nb::module_::import_("types").attr("SimpleNamespace")(
      "tensor"_a = self, "__array_interface__"_a = array_interface(tensor, "<u2"));
  return nb::module_::import_("numpy").attr("asarray")(words).attr("view")(type);
}

/// Before NumPy 2.1 arrays made by DLPack cannot be written.
bool dlpack_is_writable(const nb::module_& numpy) {
  // A static variable whose first value calls Python would let one thread wait for another that
  // waits for the interpreter.
  static std::atomic<int> known{-1};
  if (known == -1) {
    const auto version = nb::cast<std::string>(numpy.attr("__version__"));
    const int major = std::stoi(version);
    known = major > 2 || (major == 2 && std::stoi(version.substr(2)) >= 1) ? 1 : 0;
  }
  return known == 1;
}

nb::object as_array(const nb::object& self, const nb::object& type, const nb::object& copy) {
  nb::object array = numpy(self);
  if (!type.is_none()) array = array.attr("astype")(type, nb::arg("copy") = false);
  if (!copy.is_none() && nb::cast<bool>(copy)) array = array.attr("copy")();
  return array;
}

}  // namespace

nb::object numpy(const nb::object& self) {
  const auto& tensor = nb::cast<const tensor_object&>(self);
  if (tensor.view().type() == element_type::bf16) return bf16_array(self, tensor);
  const nb::module_ module = nb::module_::import_("numpy");
  if (!tensor.host_copy && (dlpack_is_writable(module) || tensor.where().type == dlpack_cuda))
    return module.attr("from_dlpack")(self);
  return module.attr("asarray")(self);
}

nb::object torch(const nb::object& self) {
  return nb::module_::import_("torch").attr("from_dlpack")(self);
}

void bind_tensor(nb::module_& module) {
  nb::class_<tensor_object>(
      module, "Tensor",
      "One field of a batch: memory that other libraries take with no copy, by DLPack or CUDA's "
      "array interface. It holds the batch, and so do arrays and tensors made of it.")
      .def_prop_ro(
          "shape", [](const tensor_object& self) { return shape_of(self.view()); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The batch dimension first.")
      .def_prop_ro(
          "dtype", [](const tensor_object& self) { return name_of(self.view().type()); },
          "Name of the element type, as NumPy spells it, or 'bfloat16'.")
      .def_prop_ro(
          "name", [](const tensor_object& self) { return any_name{self.view().name()}; },
          "Name of the field.")
      .def_prop_ro(
          "nbytes", [](const tensor_object& self) { return self.view().bytes().size(); },
          "Size of the content in bytes.")
      .def("__len__", [](const tensor_object& self) { return self.lease->size(); })
      .def("__dlpack_device__",
           [](const tensor_object& self) {
             const dlpack_device where = self.where();
             return std::pair<int, int>{where.type, where.id};
           })
      .def("__dlpack__", &dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none(),
           nb::sig("def __dlpack__(self, *, stream: int | None = None, "
                   "max_version: tuple[int, int] | None = None, "
                   "dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> "
                   "typing_extensions.CapsuleType"))
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
      .def_prop_ro("__array_interface__", &host_array_interface)
      .def("numpy", &numpy, nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
           "A view as an array of NumPy's, on the host device. It can be written. bfloat16 needs "
           "the package ml_dtypes.")
      .def("torch", &torch, nb::sig("def torch(self) -> typing.Any"),
           "A view as a PyTorch tensor, to be used on its current stream.")
      .def("__array__", &as_array, "dtype"_a = nb::none(), "copy"_a = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "numpy.typing.NDArray[typing.Any]"))
      .def("__repr__", [](const tensor_object& self) {
        const tensor_view view = self.view();
        return any_name{"<feedline.Tensor " +
                        to_string(field{view.name(), view.type(), view.shape()}) + ">"};
      });
}

}  // namespace feedline::python
