// Built where CUDA is.

#include <feedline/cuda/device.hpp>

#include "python/bindings.hpp"

namespace feedline::python {

void bind_cuda(nb::module_& module) {
  module.def("make_cuda_device", &make_cuda_device, "ordinal"_a = 0, "A GPU, by CUDA's ordinal.");
  module.def("cuda_device_count", &cuda_device_count, "GPUs that this process can use.");
}

}  // namespace feedline::python
