#pragma once

#include <feedline/export.hpp>

#include <memory>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The hardware that batches are used on, as a loader needs it. `make_host_device` and
/// `make_cuda_device` make one; <feedline/backend/device.hpp> says how to write another.
class device;

/// Shared ownership of a device: a loader and its batches keep theirs alive.
using device_ptr = std::shared_ptr<device>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
