/// One contract, every device that needs no GPU.

#include "support/devices/device_contract.hpp"

#include <feedline/device/host_device.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

using namespace feedline;
using namespace feedline::test;

namespace {

std::vector<std::byte> read_host(const void* memory, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(memory);
  return {first, first + bytes};
}

}  // namespace

TEST_CASE("device contract: the host device", "[device][host]") {
  check_device_contract({make_host_device(), {}, read_host});
}

TEST_CASE("device contract: the scripted device", "[device][host]") {
  const scripted on;
  check_device_contract({on.device, on.stream, read_host});
}
