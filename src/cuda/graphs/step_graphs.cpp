#include <feedline/cuda/graphs/step_graphs.hpp>
#include <feedline/error.hpp>

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Frees a graph, or an executable graph.
struct free_graph {
  void operator()(cudaGraph_t graph) const noexcept { FEEDLINE_CUDA_LOG(cudaGraphDestroy(graph)); }
  void operator()(cudaGraphExec_t graph) const noexcept {
    FEEDLINE_CUDA_LOG(cudaGraphExecDestroy(graph));
  }
};
using graph_ptr = std::unique_ptr<CUgraph_st, free_graph>;
using launchable_ptr = std::unique_ptr<CUgraphExec_st, free_graph>;

/// The memory of a batch, and the shapes of its fields, which may differ from batch to batch.
struct place {
  std::vector<const void*> fields;
  std::vector<std::vector<std::uint64_t>> shapes;

  friend auto operator<=>(const place&, const place&) = default;
};

place place_of(const batch& of) {
  place found;
  for (std::size_t i = 0; i < of.field_count(); ++i) {
    const tensor_view field = of.field_at(i);
    found.fields.push_back(field.bytes().data());
    found.shapes.push_back(field.shape());
  }
  return found;
}

/// Captures the work that a step issues on a stream. The capture mode is thread-local, so that
/// other threads are not affected.
graph_ptr capture(cudaStream_t stream, const std::function<void()>& issue) {
  FEEDLINE_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    issue();
  } catch (...) {
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) free_graph{}(graph);
    if (ended != cudaSuccess) detail::clear_error(ended);  // the exception gives the reason
    throw;
  }
  try {
    FEEDLINE_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  } catch (const cuda_error& refused) {
    throw cuda_error{
        refused.code(),
        std::string{"a step cannot be captured into a CUDA graph ("} + refused.what() +
            "): it must not wait for the GPU, allocate by cudaMalloc, or leave work on a stream "
            "that is not joined to its own"};
  }
  return graph_ptr{graph};
}

}  // namespace

struct step_graphs::state {
  explicit state(stream_ref of) : stream{of} {}

  stream_ref stream;
  bool is_warm = false;  ///< a step was issued without a capture
  std::map<place, launchable_ptr> graphs;

  [[nodiscard]] cudaStream_t on() const { return static_cast<cudaStream_t>(stream.get()); }
};

step_graphs::step_graphs(stream_ref stream) : state_{std::make_unique<state>(stream)} {
  if (state_->on() == nullptr || state_->on() == cudaStreamLegacy)
    throw usage_error{
        "the default stream cannot be captured into a CUDA graph: make step_graphs of a stream of "
        "your own, and take the batches on that"};
}

step_graphs::step_graphs(step_graphs&&) noexcept = default;
step_graphs& step_graphs::operator=(step_graphs&&) noexcept = default;
step_graphs::~step_graphs() = default;

void step_graphs::run(const batch& of, const std::function<void()>& issue) {
  if (of.stream() != state_->stream)
    throw usage_error{
        "the batch was taken on another stream than that of step_graphs: take batches on the "
        "stream that step_graphs was made with"};
  cudaStreamCaptureStatus status{};
  FEEDLINE_CUDA_CHECK(cudaStreamIsCapturing(state_->on(), &status));
  if (status != cudaStreamCaptureStatusNone)
    throw usage_error{
        "the stream of step_graphs is already being captured: end that capture first, or call "
        "the step without step_graphs"};
  if (!state_->is_warm) {
    issue();
    state_->is_warm = true;
    return;
  }
  place lies = place_of(of);
  auto found = state_->graphs.find(lies);
  if (found == state_->graphs.end()) {
    const graph_ptr captured = capture(state_->on(), issue);
    cudaGraphExec_t made = nullptr;
    FEEDLINE_CUDA_CHECK(cudaGraphInstantiate(&made, captured.get(), 0));
    found = state_->graphs.emplace(std::move(lies), launchable_ptr{made}).first;
  }
  FEEDLINE_CUDA_CHECK(cudaGraphLaunch(found->second.get(), state_->on()));
}

std::size_t step_graphs::size() const noexcept {
  return state_->graphs.size();
}

void step_graphs::clear() noexcept {
  state_->graphs.clear();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
