#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

struct DLManagedTensorVersioned;  ///< DLPack's: what a capsule "dltensor_versioned" points to
struct DLManagedTensor;           ///< DLPack's: what a capsule "dltensor" points to

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Calls a tensor's own deleter.
struct dlpack_deleter {
  void operator()(DLManagedTensorVersioned* tensor) const noexcept;
  void operator()(DLManagedTensor* tensor) const noexcept;
};

/// A tensor of DLPack 1 (https://dmlc.github.io/dlpack), and one of DLPack before its versions.
/// `release()` hands it to whoever calls its deleter.
using dlpack_tensor = std::unique_ptr<DLManagedTensorVersioned, dlpack_deleter>;
using unversioned_dlpack_tensor = std::unique_ptr<DLManagedTensor, dlpack_deleter>;

/// One field of a batch as a tensor that other libraries take, with no copy.
///
///     auto batch = std::make_shared<const feedline::batch>(std::move(*range.next()));
///     feedline::dlpack_tensor image = feedline::to_dlpack(batch, "image");
///     at::Tensor images = at::fromDLPackVersioned(image.release());
///
/// The tensor holds the batch. Shape {samples, …}, dense, row-major, aligned to 256 bytes, in the
/// memory of `batch::device`; writable, so neither read-only nor a copy; version 1.0. All tensors
/// of one batch share its memory, and that is recycled when the last of them and of the batch's
/// other holders is gone.
///
/// Streams: `stream` is where the tensor is used. It waits for all work issued so far on the stream
/// the batch was taken on; the host does not wait. The memory is overwritten behind the work issued
/// on both streams until the tensor's deleter was called. Whoever uses the tensor on a third stream
/// orders that work before one of these two. `stream_use` has the rules.
///
/// Threads: the deleter may be called by any thread, but not by a callback of CUDA's
/// (`cudaLaunchHostFunc`). It never throws. It waits for nothing, but where it is the last to hold
/// memory of a loader that is gone, as `batch` says.
///
/// @param stream None: the stream the batch was taken on, or none. Nothing is ordered then.
/// @throws usage_error if the batch has no such field, or lies in memory that DLPack has no name
/// for; as `stream_use`.
[[nodiscard]] dlpack_tensor to_dlpack(std::shared_ptr<const batch> of, std::string_view field,
                                      std::optional<stream_ref> stream = std::nullopt);
/// The same for consumers that know no versions.
[[nodiscard]] unversioned_dlpack_tensor to_unversioned_dlpack(
    std::shared_ptr<const batch> of, std::string_view field,
    std::optional<stream_ref> stream = std::nullopt);

/// What Python's `__dlpack_device__` returns, by DLPack's numbers: {1, 0} is the host, {2, n} is
/// GPU n of CUDA's.
struct dlpack_device {
  std::int32_t type = 0;
  std::int32_t id = 0;

  friend bool operator==(const dlpack_device&, const dlpack_device&) = default;
};
/// Where a batch lies. @throws usage_error as `to_dlpack`.
[[nodiscard]] dlpack_device dlpack_device_of(const batch& of);

/// The stream that `__dlpack__(stream=…)` of Python's array API names, for `to_dlpack`.
///
/// | number | on a GPU                   | on the host |
/// | ------ | -------------------------- | ----------- |
/// | None   | `cudaStreamLegacy`         | nothing     |
/// | -1     | nothing: no order is asked | nothing     |
/// | 1      | `cudaStreamLegacy`         | refused     |
/// | 2      | `cudaStreamPerThread`      | refused     |
/// | > 2    | a `cudaStream_t`           | refused     |
/// | others | refused                    | refused     |
///
/// With -1 the caller orders its work behind the stream that the batch was taken on, and that
/// stream behind its work before the tensor is deleted.
/// @throws usage_error for what is refused.
[[nodiscard]] std::optional<stream_ref> dlpack_stream(const batch& of,
                                                      std::optional<std::int64_t> number);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
