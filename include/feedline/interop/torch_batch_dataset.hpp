#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>
#include <feedline/interop/torch_types.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torch/data/datasets/base.h>

namespace FEEDLINE_EXPORT feedline::libtorch {

/// A feedline dataset for `torch::data::make_data_loader`. A batch is one tensor for each field, in
/// the order of `fields()`, with the samples along the first dimension, in host memory. So nothing
/// is left to collate. For another form of the samples, use `.map`.
///
///     auto data = feedline::libtorch::batch_dataset{feedline::open("train.h5")};
///     auto loader = torch::data::make_data_loader(data, sampler, options);
///
/// Copies share the dataset. Threads: libtorch's loader uses one copy for each worker;
/// datasets that are read by one thread at a time take turns.
class batch_dataset
    : public torch::data::datasets::BatchDataset<batch_dataset, std::vector<torch::Tensor>> {
 public:
  /// @throws usage_error if there is no dataset.
  explicit batch_dataset(dataset_ptr of) : of_{std::move(of)} {
    if (!of_) throw usage_error{"batch_dataset needs a dataset, and was given null"};
  }

  /// Reads directly into new tensors. @throws usage_error if an index is not below the size;
  /// dataset_error naming the sample that cannot be read.
  std::vector<torch::Tensor> get_batch(c10::ArrayRef<std::size_t> indices) override {
    std::vector<sample_index> samples;
    for (const std::size_t index : indices) {
      if (index >= of_->size()) {
        throw usage_error{"there is no sample " + std::to_string(index) + ": the dataset has " +
                          std::to_string(of_->size())};
      }
      samples.push_back(sample_index{index});
    }
    std::vector<torch::Tensor> batch;
    std::vector<std::span<std::byte>> out;
    for (const field& each : of_->fields()) {
      batch.push_back(torch::empty(sizes_of(samples.size(), each), scalar_type(each.type)));
      out.emplace_back(static_cast<std::byte*>(batch.back().mutable_data_ptr()),
                       batch.back().nbytes());
    }
    of_->read(samples, out);
    return batch;
  }

  [[nodiscard]] std::optional<std::size_t> size() const override { return of_->size(); }

 private:
  dataset_ptr of_;
};

}  // namespace feedline::libtorch
