#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

struct DLManagedTensorVersioned;  ///< DLPack's type: a capsule "dltensor_versioned" points to it
struct DLManagedTensor;           ///< DLPack's type: a capsule "dltensor" points to it

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Calls a tensor's own deleter.
struct dlpack_deleter {
  void operator()(DLManagedTensorVersioned* tensor) const noexcept;
  void operator()(DLManagedTensor* tensor) const noexcept;
};

/// A tensor of DLPack 1 (https://dmlc.github.io/dlpack), and one of the older DLPack without
/// versions. `release()` gives it to a consumer that calls its deleter.
using dlpack_tensor = std::unique_ptr<DLManagedTensorVersioned, dlpack_deleter>;
using unversioned_dlpack_tensor = std::unique_ptr<DLManagedTensor, dlpack_deleter>;

/// One field of a batch as a tensor for other libraries, without a copy.
///
///     auto batch = std::make_shared<const feedline::batch>(std::move(*range.next()));
///     feedline::dlpack_tensor image = feedline::to_dlpack(batch, "image");
///     at::Tensor images = at::fromDLPackVersioned(image.release());
///
/// The tensor holds the batch. Shape {samples, …}, dense, row-major, aligned to 256 bytes, in the
/// memory of `batch::device`. The tensor is writable: its flags say neither read-only nor copied.
/// DLPack version 1.0. All tensors of one batch share its memory, which is used again after the
/// last tensor and the last other owner of the batch are destroyed.
///
/// Streams: `stream` is the stream on which the tensor is used. It is made to wait for all work
/// issued so far on the stream the batch was taken on; the host does not wait. The memory is
/// overwritten only after all work that was issued on both streams before the tensor's deleter is
/// called. If you use the tensor on a third stream, make one of these two wait for that work. See
/// `stream_use` for the rules.
///
/// Threads: any thread may call the deleter, except a CUDA callback (`cudaLaunchHostFunc`). The
/// deleter never throws. It does not wait, unless it releases the last memory of a destroyed
/// loader: see `batch`.
///
/// @param stream Empty: the tensor is used on the stream that the batch was taken on, or on none,
/// so no order is added.
/// @throws usage_error if the batch has no such field, or is in memory for which DLPack has no
/// device type; also in the cases of `stream_use`.
[[nodiscard]] dlpack_tensor to_dlpack(std::shared_ptr<const batch> of, std::string_view field,
                                      std::optional<stream_ref> stream = std::nullopt);
/// Same, for consumers that do not support versions.
[[nodiscard]] unversioned_dlpack_tensor to_unversioned_dlpack(
    std::shared_ptr<const batch> of, std::string_view field,
    std::optional<stream_ref> stream = std::nullopt);

/// The result of Python's `__dlpack_device__` in DLPack's numbers: {1, 0} is the host, {2, n} is
/// CUDA GPU n.
struct dlpack_device {
  std::int32_t type = 0;
  std::int32_t id = 0;

  friend bool operator==(const dlpack_device&, const dlpack_device&) = default;
};
/// The device whose memory holds the batch. @throws usage_error if DLPack has no type for it.
[[nodiscard]] dlpack_device dlpack_device_of(const batch& of);

/// Converts the stream number of `__dlpack__(stream=…)` of Python's array API for `to_dlpack`.
///
/// | number | on a GPU                   | on the host |
/// | ------ | -------------------------- | ----------- |
/// | None   | `cudaStreamLegacy`         | nothing     |
/// | -1     | nothing: no order is added | nothing     |
/// | 1      | `cudaStreamLegacy`         | refused     |
/// | 2      | `cudaStreamPerThread`      | refused     |
/// | > 2    | a `cudaStream_t`           | refused     |
/// | others | refused                    | refused     |
///
/// With -1 the caller does the ordering. It orders its work after the stream that the batch was
/// taken on. Before it deletes the tensor, it orders that stream after its work.
/// @throws usage_error if the number is refused.
[[nodiscard]] std::optional<stream_ref> dlpack_stream(const batch& of,
                                                      std::optional<std::int64_t> number);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
