#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>
#include <feedline/interop/torch_types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torch/data/example.h>

namespace FEEDLINE_EXPORT feedline::libtorch {

/// A field for `make_memory_dataset` from a tensor whose first dimension is the samples:
///
///     torch::data::datasets::MNIST mnist{"data/mnist"};
///     const auto train = feedline::make_memory_dataset({
///         feedline::libtorch::own("image", mnist.images()),
///         feedline::libtorch::own("label", mnist.targets())});
///
/// Shares the tensor's memory and keeps it alive; the memory must not change. A tensor that is not
/// dense, or is on a device, is first copied to the host.
/// @throws usage_error if the tensor has no dimension, or a type that feedline does not have.
[[nodiscard]] inline memory_field own(std::string name, const torch::Tensor& values) {
  if (values.dim() == 0)
    throw usage_error{"field '" + name + "': a tensor with no dimension has no samples"};
  const auto rows = std::make_shared<const torch::Tensor>(values.detach().cpu().contiguous());
  field spec{std::move(name), element_type_for(rows->scalar_type()),
             std::vector<std::uint64_t>(rows->sizes().begin() + 1, rows->sizes().end())};
  return {std::move(spec),
          {static_cast<const std::byte*>(rows->const_data_ptr()), rows->nbytes()},
          rows};
}

/// The tensors of one libtorch sample.
[[nodiscard]] inline std::vector<torch::Tensor> tensors_of(const torch::data::Example<>& sample) {
  return {sample.data, sample.target};
}
[[nodiscard]] inline std::vector<torch::Tensor> tensors_of(
    const torch::data::TensorExample& sample) {
  return {sample.data};
}
[[nodiscard]] inline std::vector<torch::Tensor> tensors_of(std::vector<torch::Tensor> sample) {
  return sample;
}

/// Result of `adopt`.
template <class TorchDataset>
class adopted_dataset final : public dataset {
 public:
  adopted_dataset(TorchDataset of, std::vector<std::string> names, read_concurrency concurrency)
      : of_{std::move(of)}, concurrency_{concurrency} {
    const auto size = of_.size();
    if (!size || *size == 0)
      throw usage_error{"a dataset of libtorch's that tells no size, or has no sample"};
    size_ = *size;
    const std::vector<torch::Tensor> first = tensors_of(of_.get(0));
    if (names.size() != first.size()) {
      throw usage_error{"a sample of libtorch's dataset has " + std::to_string(first.size()) +
                        " tensors: name each, not " + std::to_string(names.size())};
    }
    for (std::size_t i = 0; i < first.size(); ++i)
      fields_.push_back(field_of(std::move(names[i]), first[i]));
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::vector<field> fields() const override { return fields_; }
  [[nodiscard]] read_concurrency concurrency() const override { return concurrency_; }

 private:
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::vector<torch::Tensor> sample = tensors_of(of_.get(request.samples[i].value));
      for (std::size_t place = 0; place < fields_.size(); ++place) {
        expect(request.samples[i], place, sample);
        const torch::Tensor row = sample[place].detach().cpu().contiguous();
        std::memcpy(request.out[place].data() + i * row.nbytes(), row.const_data_ptr(),
                    row.nbytes());
      }
    }
  }

  void expect(sample_index sample, std::size_t place, const std::vector<torch::Tensor>& is) const {
    const field& wanted = fields_[place];
    if (place < is.size() && field_of(wanted.name, is[place]) == wanted) return;
    const std::string found = place < is.size() ? to_string(field_of(wanted.name, is[place]))
                                                : std::to_string(is.size()) + " tensors";
    throw dataset_error{{.path = {}, .field = wanted.name, .sample = sample.value},
                        "the sample has " + found + ", and sample 0 has " + to_string(wanted)};
  }

  mutable TorchDataset of_;  // reading functions of libtorch are not const
  read_concurrency concurrency_;
  std::uint64_t size_ = 0;
  std::vector<field> fields_;
};

/// Wraps a libtorch dataset as a feedline dataset. Use it as a last resort, because each sample
/// becomes tensors, which are then copied. Samples are a `torch::data::Example` of tensors, a
/// `TensorExample`, or a vector of tensors. All have the types and sizes of sample 0, which is read
/// here.
///
/// @param names       Names of the fields: one for each tensor of a sample.
/// @param concurrency `parallel` if several threads may call the dataset's `get` at once.
/// @throws usage_error if the dataset does not give a size or is empty, the number of names differs
/// from that of the tensors, or feedline does not have a type. Reading throws dataset_error naming
/// a sample of another type or size. If `get` throws, a loader names the samples.
template <class TorchDataset>
[[nodiscard]] dataset_ptr adopt(TorchDataset of,
                                std::vector<std::string> names = {"data", "target"},
                                read_concurrency concurrency = read_concurrency::serialized) {
  return std::make_shared<const adopted_dataset<TorchDataset>>(std::move(of), std::move(names),
                                                               concurrency);
}

}  // namespace feedline::libtorch
