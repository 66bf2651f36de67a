#pragma once

#include <feedline/batch/tensor_view.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// One batch that a user's function is to turn into what the consumer sees. All addresses are the
/// device's.
struct batch_function_call {
  std::span<const tensor_view> in;  ///< the batch so far, a view a field: after `transforms`
  std::span<const std::span<std::byte>>
      out;  ///< for each of `batch_transform::fields`, the batch's
            ///< samples × sample_bytes(field) bytes, to be written
  std::uint64_t epoch;
  std::uint64_t index;    ///< of the batch within its epoch
  std::uint64_t samples;  ///< in the batch
  stream_ref stream;      ///< to issue the work on; none on the host: do it before returning
};

/// A user's own work on each batch, on the copy side: it is done when the consumer's stream gets to
/// the batch.
///
///     .batch_transform = feedline::batch_transform{
///         .fields = {{"image", element_type::f32, {28, 28}}},
///         .run = [](const feedline::batch_function_call& call) {
///           brighten<<<…, static_cast<cudaStream_t>(call.stream.get())>>>(
///               call.in[0].data<std::uint8_t>(), call.out[0].data(), call.samples);
///         }}
///
/// Threads: called by one at a time, not the consumer's (with zero readers, the consumer's), with
/// the batches in order. It must not wait for the device. The views are valid for the work issued
/// during the call. What it throws ends the epoch with a `stage_error` of the transfer, after the
/// batches before. It is not called again until the consumer has got that error and seeks, or has
/// left the epoch.
struct batch_transform {
  std::vector<field> fields = {};  ///< what it writes: the fields of batches
  std::function<void(const batch_function_call&)> run = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
