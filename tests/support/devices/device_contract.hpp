#pragma once

#include <feedline/backend/device.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace feedline::test {

/// Facts about a device that the contract needs and `device.hpp` does not tell.
struct device_under_test {
  device_ptr device;
  stream_ref stream;  ///< one a consumer may use
  /// Bytes of device memory, once all issued work is done.
  std::function<std::vector<std::byte>(const void* memory, std::size_t bytes)> read_back;
};

/// Checks the promises of every device with Catch assertions: memory zeroed, aligned and freed;
/// copies there and back done once their event is; events never recorded, recorded and recorded
/// again; waits that order streams; slots assembled out of rows cached, arrived and mapped.
void check_device_contract(const device_under_test& subject);

}  // namespace feedline::test
