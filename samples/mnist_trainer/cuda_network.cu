#include "cuda_network.cuh"

#include <stdexcept>
#include <string>
#include <utility>

namespace mnist {
namespace {

/// A matrix as cuBLAS takes it: column after column.
struct operand {
  const float* data;
  cublasOperation_t turned;
  std::size_t leading;
};

/// out = left × right, of the given size; `inner` is the extent they share.
void multiply(const cublas& blas, const operand& left, const operand& right, float* out,
              std::size_t rows, std::size_t columns, std::size_t inner) {
  const float one = 1.0F;
  const float zero = 0.0F;
  const auto as_int = [](std::size_t value) { return static_cast<int>(value); };
  FEEDLINE_SAMPLE_CHECK(cublasSgemm(blas.get(), left.turned, right.turned, as_int(rows),
                                    as_int(columns), as_int(inner), &one, left.data,
                                    as_int(left.leading), right.data, as_int(right.leading), &zero,
                                    out, as_int(rows)));
}

}  // namespace

cuda_network::cuda_network(const network_options& options,
                           std::shared_ptr<const cuda_stream> stream)
    : stream_{std::move(stream)},
      blas_{*stream_},
      layers_{make_layers(options.inputs)},
      parameters_{parameter_count(layers_), *stream_},
      gradient_{parameter_count(layers_), *stream_},
      velocity_{parameter_count(layers_), *stream_},
      tally_{1, *stream_} {
  parameters_.upload(initial_parameters(layers_, options.seed), *stream_);
  for (const layer& layer : layers_) {
    activations_.emplace_back(layer.outputs * options.max_batch, *stream_);
    deltas_.emplace_back(layer.outputs * options.max_batch, *stream_);
  }
}

const float* cuda_network::inputs_of(std::size_t layer, const digits_view& batch) const {
  return layer == 0 ? batch.images : activations_[layer - 1].data();
}

/// Leaves the last layer without its biases: `judge` adds them.
void cuda_network::forward(const digits_view& batch) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const layer& layer = layers_[i];
    multiply(blas_, {parameters_.data() + layer.weights, CUBLAS_OP_N, layer.outputs},
             {inputs_of(i, batch), CUBLAS_OP_N, layer.inputs}, activations_[i].data(),
             layer.outputs, batch.count, layer.inputs);
    if (i + 1 < layers_.size())
      add_bias_and_rectify(activations_[i].data(), parameters_.data() + layer.biases, layer.outputs,
                           batch.count, stream_->get());
  }
}

void cuda_network::judge_last(const digits_view& batch, float* delta) {
  judge(activations_.back().data(), parameters_.data() + layers_.back().biases, batch.labels, delta,
        tally_.data(), batch.count, stream_->get());
  seen_ += batch.count;
}

void cuda_network::backward(const digits_view& batch) {
  const std::size_t count = batch.count;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const layer& layer = layers_[i];
    const float* delta = deltas_[i].data();
    multiply(blas_, {delta, CUBLAS_OP_N, layer.outputs},
             {inputs_of(i, batch), CUBLAS_OP_T, layer.inputs}, gradient_.data() + layer.weights,
             layer.outputs, layer.inputs, count);
    sum_rows(delta, gradient_.data() + layer.biases, layer.outputs, count, stream_->get());
    if (i == 0) break;
    multiply(blas_, {parameters_.data() + layer.weights, CUBLAS_OP_T, layer.outputs},
             {delta, CUBLAS_OP_N, layer.outputs}, deltas_[i - 1].data(), layer.inputs, count,
             layer.outputs);
    mask(deltas_[i - 1].data(), activations_[i - 1].data(), layer.inputs * count, stream_->get());
  }
}

void cuda_network::train(const digits_view& batch, float learning_rate) {
  forward(batch);
  judge_last(batch, deltas_.back().data());
  backward(batch);
  descend(parameters_.data(), velocity_.data(), gradient_.data(), parameter_count(layers_),
          learning_rate, stream_->get());
}

void cuda_network::test(const digits_view& batch) {
  forward(batch);
  judge_last(batch, nullptr);
}

score cuda_network::take_score() {
  const device_tally tally = tally_.first(*stream_);
  FEEDLINE_SAMPLE_CHECK(cudaMemsetAsync(tally_.data(), 0, sizeof tally, stream_->get()));
  if (tally.bad_labels != 0)
    throw std::runtime_error{std::to_string(tally.bad_labels) +
                             " labels are above 9: the trainer knows the classes 0 to 9"};
  const auto seen = static_cast<double>(std::exchange(seen_, 0));
  return {tally.loss / seen, static_cast<double>(tally.correct) / seen};
}

}  // namespace mnist
