#include "bench/machine.hpp"

#include "cuda/cuda_check.hpp"

#include <cuda_runtime_api.h>

#include <fstream>
#include <thread>

namespace feedline::bench {
namespace {

std::string processor() {
  std::ifstream cpuinfo{"/proc/cpuinfo"};
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

std::string describe_machine() {
  cudaDeviceProp gpu{};
  int driver = 0;
  int runtime = 0;
  FEEDLINE_CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
  FEEDLINE_CUDA_CHECK(cudaDriverGetVersion(&driver));
  FEEDLINE_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return "processor: " + processor() + ", " + std::to_string(std::thread::hardware_concurrency()) +
         " hardware threads\nGPU:       " + gpu.name + ", driver for CUDA " + version(driver) +
         ", runtime " + version(runtime) + "\n";
}

}  // namespace feedline::bench
