#include <feedline/device/device.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

void device::assemble(const assembly& /*work*/, stream_ref /*stream*/) {
  throw device_error{capabilities().name +
                     " cannot assemble slots: it must say so (device_capabilities::assembles)"};
}

const std::byte* device::map(std::span<const std::byte> /*memory*/) {
  throw device_error{capabilities().name +
                     " cannot map host memory: it must say that it assembles no slots "
                     "(device_capabilities::assembles)"};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
