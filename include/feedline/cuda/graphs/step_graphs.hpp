#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Runs a step on each batch as CUDA graphs: the work that a step issues is captured once for each
/// place that batches lie at, and one launch issues it again for each later batch there. Places
/// recur, for device slots have fixed addresses: so no batch is copied into a static input.
///
///     feedline::step_graphs steps{feedline::stream_ref{stream}};
///     for (const feedline::batch& batch : loader.epoch(0, feedline::stream_ref{stream}))
///       steps.run(batch, [&] { train(batch["image"].data<float>(), batch.size(), stream); });
///
/// A place is the addresses of the batch's fields and the number of its samples. There are at most
/// `loader_plan::device_slots` times `batches_per_slot` of them, and one more for each slot that an
/// epoch's smaller last batch comes in. Each has a graph, of some kilobytes for each kernel: where
/// slots hold hundreds of batches, `expert_options::batches_per_slot` bounds their number.
///
/// What a step passes by value is captured with it: a learning rate that changes, or the number of
/// the step, lies in device memory. `clear` lets all be captured anew.
///
/// Threads: one at a time.
class step_graphs {
 public:
  /// @param stream Of the GPU that is current on the calling thread, and no captured one.
  /// @throws usage_error for `cudaStreamLegacy` and a null stream, which cannot be captured.
  explicit step_graphs(stream_ref stream);
  step_graphs(step_graphs&& other) noexcept;
  step_graphs& operator=(step_graphs&& other) noexcept;
  step_graphs(const step_graphs&) = delete;
  step_graphs& operator=(const step_graphs&) = delete;
  /// Graphs that still run are freed behind their end; the host does not wait.
  ~step_graphs();

  /// Issues a step on the stream.
  ///
  /// The first call only calls `issue`, with no capture: libraries make what they need at their
  /// first use. Later, `issue` is called once for each place, while the stream is captured; what it
  /// issues is launched then, and again for each later batch at that place, without a call.
  ///
  /// @param of Taken on this stream, and held until `run` returns.
  /// @param issue Issues all work of the step on the stream, and on no other that is not forked
  /// from it and joined to it by events. It neither waits for the GPU nor calls `cudaMalloc`, and
  /// takes and ends no batch.
  /// @throws usage_error if the batch was moved from or taken on another stream, or the stream is
  /// being captured by others; cuda_error if the step cannot be captured; what `issue` throws. The
  /// step did not run then, and the stream can be used.
  void run(const batch& of, const std::function<void()>& issue);

  /// Places that were captured.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Forgets all graphs: for when what the step issues has changed.
  void clear() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;  ///< null once moved from: then only destroyed or assigned to
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
