#include "programs/doctor/gpu.hpp"

namespace doctor {

gpu_search find_gpu(int /*ordinal*/) {
  return {nullptr, "this feedline-doctor was built without CUDA"};
}

}  // namespace doctor
