#include "python/bindings.hpp"

#include <cstddef>
#include <vector>

namespace feedline::python {

#ifndef Py_LIMITED_API

namespace {

vectorcallfunc make_of_nanobind = nullptr;  ///< the same for all classes

/// Makes an object. If nanobind refuses the arguments, Python code finds the one that is wrong.
PyObject* make_explained(PyObject* type, PyObject* const* arguments, std::size_t count,
                         PyObject* names) {
  PyObject* const made = make_of_nanobind(type, arguments, count, names);
  if (made != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return made;
  nb::python_error refusal;
  const auto by_place = static_cast<std::size_t>(PyVectorcall_NARGS(count));
  const std::size_t by_name =
      names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names));
  std::vector<PyObject*> all{refusal.value().ptr(), type};
  all.insert(all.end(), arguments, arguments + by_place + by_name);
  const nb::object explain = nb::module_::import_("feedline._arguments").attr("explained");
  const nb::object raised =
      nb::steal(PyObject_Vectorcall(explain.ptr(), all.data(), by_place + 2, names));
  if (raised.is_valid()) PyErr_SetObject(PyExc_TypeError, raised.ptr());
  return nullptr;
}

}  // namespace

void explain_refused_arguments(nb::module_& module) {
  for (const auto [name, value] : nb::borrow<nb::dict>(module.attr("__dict__"))) {
    if (!nb::type_check(value)) continue;
    auto* const type = reinterpret_cast<PyTypeObject*>(value.ptr());
    make_of_nanobind = type->tp_vectorcall;
    type->tp_vectorcall = &make_explained;
  }
}

#else

void explain_refused_arguments(nb::module_&) {}  // the stable ABI does not show classes' calls

#endif

}  // namespace feedline::python
