#pragma once

#include <feedline/device/device_ptr.hpp>
#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The CPU as a device, and the reference for all other devices. The consumer reads staging slots
/// directly, without a copy. Needs no stream. Memory is ordinary host memory, page-aligned.
[[nodiscard]] device_ptr make_host_device();

}  // namespace FEEDLINE_ABI
}  // namespace feedline
