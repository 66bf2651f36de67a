// Takes the place of cuda_compute.cu where there is no CUDA toolkit.

#include <feedline/error.hpp>

#include "compute.hpp"

namespace mnist {

compute make_cuda_compute(int, const network_options&) {
  throw feedline::usage_error{
      "this trainer was built without CUDA: say --device cpu, or build it where nvcc is on the "
      "PATH"};
}

int usable_gpus() noexcept {
  return 0;
}

}  // namespace mnist
