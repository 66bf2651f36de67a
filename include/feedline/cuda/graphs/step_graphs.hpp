#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Runs a step on each batch as CUDA graphs. The work of a step is captured once for each batch
/// address. One launch then issues it again for each later batch at the same address. Device slots
/// have fixed addresses, so the same addresses return, and no batch has to be copied into a static
/// input.
///
///     feedline::step_graphs steps{feedline::stream_ref{stream}};
///     for (const feedline::batch& batch : loader.epoch(0, feedline::stream_ref{stream}))
///       steps.run(batch, [&] { train(batch["image"].data<float>(), batch.size(), stream); });
///
/// A graph is identified by the addresses and shapes of the batch's fields. If the size of images
/// differs from batch to batch, there is a graph for each address and size. Otherwise there are at
/// most `loader_plan::device_slots` times `batches_per_slot` graphs, plus one for each slot that
/// receives an epoch's smaller last batch. A graph takes some kilobytes of memory for each kernel.
/// If slots hold hundreds of batches, limit the number of graphs with
/// `expert_options::batches_per_slot`.
///
/// A graph contains the values of the arguments at the time of the capture. So keep a learning
/// rate that changes, or the step's number, in device memory. After `clear` every graph is captured
/// again.
///
/// Threads: one at a time.
class step_graphs {
 public:
  /// @param stream A stream of the GPU that is current on the calling thread. It must not be in a
  /// capture.
  /// @throws usage_error for `cudaStreamLegacy` and a null stream, which cannot be captured.
  explicit step_graphs(stream_ref stream);
  step_graphs(step_graphs&& other) noexcept;
  step_graphs& operator=(step_graphs&& other) noexcept;
  step_graphs(const step_graphs&) = delete;
  step_graphs& operator=(const step_graphs&) = delete;
  /// Graphs that still run are freed after they finish; the host does not wait.
  ~step_graphs();

  /// Issues a step on the stream.
  ///
  /// The first call runs `issue` without a capture, because libraries allocate memory at their
  /// first use. After that, `issue` is called once for each batch address while the stream is
  /// captured, and the captured work is launched. Each later batch at that address launches it
  /// again without a call of `issue`.
  ///
  /// @param of A batch taken on this stream; hold it until `run` returns.
  /// @param issue Issues all work of the step on the stream. It may use other streams only if they
  /// are forked from this one and joined to it by events. It must not wait for the GPU, call
  /// `cudaMalloc`, or take or end a batch.
  /// @throws usage_error if the batch was moved from or taken on another stream, or if the stream
  /// is in another capture; cuda_error if the step cannot be captured; exceptions of `issue`. If a
  /// capture fails, the step did not run, and the stream can still be used.
  void run(const batch& of, const std::function<void()>& issue);

  /// Number of captured graphs.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Forgets all graphs. Call it when the work that the step issues has changed.
  void clear() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;  ///< null once moved from; then only destroy or assign
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
