#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>

#include "python/bindings.hpp"

#include <string>

#include <nanobind/stl/string.h>

namespace feedline::python {
namespace {

#ifndef FEEDLINE_HAS_CUDA
device_ptr refuse(int /*ordinal*/) {
  throw usage_error{"feedline was built without CUDA: install a CUDA toolkit and build it again"};
}
#endif

}  // namespace

void bind_devices(nb::module_& module) {
  nb::class_<device_ptr>(module, "Device", "Where batches are used.")
      .def_prop_ro("name", [](const device_ptr& self) { return self->capabilities().name; })
      .def("__repr__", [](const device_ptr& self) {
        return "<feedline.Device " + self->capabilities().name + ">";
      });
  module.def("make_host_device", &make_host_device,
             "The CPU: batches are read in the memory that the readers wrote.");
#ifdef FEEDLINE_HAS_CUDA
  bind_cuda(module);
#else
  module.def("make_cuda_device", &refuse, "ordinal"_a = 0,
             "A GPU; this feedline was built without CUDA.");
  module.def(
      "cuda_device_count", [] { return 0; }, "This feedline was built without CUDA.");
#endif
}

}  // namespace feedline::python
