#include "python/held_object.hpp"

namespace feedline::python {

held_object::held_object(nb::object object)
    : object_{object.release().ptr(), [](PyObject* held) {
                if (!nb::is_alive()) return;
                const nb::gil_scoped_acquire lock;
                Py_XDECREF(held);
              }} {}

}  // namespace feedline::python
