#include <feedline/device/host_device.hpp>

#include "compute.hpp"
#include "cpu_network.hpp"

namespace mnist {

compute make_cpu_compute(const network_options& options) {
  compute cpu;
  cpu.name = "cpu";
  cpu.device = feedline::make_host_device();
  cpu.model = std::make_unique<cpu_network>(options);
  cpu.waiting = std::make_unique<host_wait_meter>();
  cpu.checksum = std::make_unique<host_batch_checksum>(options.inputs);
  return cpu;
}

}  // namespace mnist
