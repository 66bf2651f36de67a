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

/// One batch that a user's function converts to the batch that the consumer sees. All addresses are
/// device addresses.
struct batch_function_call {
  std::span<const tensor_view> in;  ///< the batch so far, one view a field, after `transforms`
  /// Outputs, one for each of `batch_transform::fields`: the batch's samples × sample_bytes(field)
  /// bytes, to be written.
  std::span<const std::span<std::byte>> out;
  std::uint64_t epoch;
  std::uint64_t index;    ///< number of the batch within its epoch
  std::uint64_t samples;  ///< samples in the batch
  /// Stream to issue the work on. There is none on the host: do the work before returning.
  stream_ref stream;
};

/// A user's own work on each batch, on the copy side. It is done when the consumer's stream reaches
/// the batch.
///
///     .batch_transform = feedline::batch_transform{
///         .fields = {{"image", element_type::f32, {28, 28}}},
///         .run = [](const feedline::batch_function_call& call) {
///           brighten<<<…, static_cast<cudaStream_t>(call.stream.get())>>>(
///               call.in[0].data<std::uint8_t>(), call.out[0].data(), call.samples);
///         }}
///
/// Threads: called by one thread at a time, not the consumer's (with zero readers, the consumer's),
/// with the batches in order. It must not wait for the device. The views are valid for the work
/// issued during the call. An exception ends the epoch with a `stage_error` of the transfer stage,
/// after the earlier batches. The function is then not called again until the consumer has
/// received that error and seeks, or has abandoned the epoch.
struct batch_transform {
  std::vector<field> fields = {};  ///< fields of the batches, which `run` writes
  std::function<void(const batch_function_call&)> run = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
