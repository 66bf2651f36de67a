#include "bench/support/machine.hpp"

#include <feedline/cuda/device.hpp>

#include "bench/processor.hpp"
#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <fstream>
#include <thread>
#include <variant>

namespace feedline::bench {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// First line of a system file; empty if there is none.
std::string first_line(const std::string& path) {
  std::ifstream file{path};
  std::string line;
  std::getline(file, line);
  return line;
}

/// The GPU's link, as "32.0 GT/s PCIe x16": the fastest that it can do, for an idle one may have
/// slowed down.
std::string bus() {
  std::array<char, 32> id{};
  FEEDLINE_CUDA_CHECK(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), 0));
  std::string address{id.data()};
  for (char& each : address)
    each = each >= 'A' && each <= 'F' ? static_cast<char>(each + 32) : each;
  const std::string folder = "/sys/bus/pci/devices/" + address;
  const std::string speed = first_line(folder + "/max_link_speed");
  const std::string width = first_line(folder + "/max_link_width");
  return speed.empty() || width.empty() ? "unknown" : speed + " x" + width;
}

/// NVIDIA's driver, as the kernel module tells it.
std::string driver() {
  const std::string line = first_line("/proc/driver/nvidia/version");
  for (std::size_t at = line.find_first_of("0123456789"); at != std::string::npos;
       at = line.find_first_of("0123456789", line.find(' ', at))) {
    const std::string word = line.substr(at, line.find(' ', at) - at);
    if (word.find('.') != std::string::npos) return word;
  }
  return "unknown";
}

}  // namespace

facts machine_facts() {
  cudaDeviceProp gpu{};
  int cuda_driver = 0;
  int runtime = 0;
  FEEDLINE_CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
  FEEDLINE_CUDA_CHECK(cudaDriverGetVersion(&cuda_driver));
  FEEDLINE_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return {{"processor", processor()},
          {"hardware_threads", std::thread::hardware_concurrency()},
          {"gpu", std::string{gpu.name}},
          {"bus", bus()},
          {"driver", driver()},
          {"cuda_driver", version(cuda_driver)},
          {"cuda_runtime", version(runtime)}};
}

std::string describe_machine() {
  const facts all = machine_facts();
  const auto text = [&](const char* name) { return std::get<std::string>(all.at(name).value); };
  return "processor: " + text("processor") + ", " +
         std::to_string(std::thread::hardware_concurrency()) +
         " hardware threads\nGPU:       " + text("gpu") + ", bus " + text("bus") + ", driver " +
         text("driver") + " for CUDA " + text("cuda_driver") + ", runtime " + text("cuda_runtime") +
         "\n";
}

bool has_gpu() {
  return cuda_device_count() != 0;
}

}  // namespace feedline::bench
