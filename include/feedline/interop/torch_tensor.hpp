#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/batch/stream_use.hpp>
#include <feedline/device/device_id.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>
#include <feedline/interop/torch_stream.hpp>
#include <feedline/interop/torch_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <torch/types.h>

namespace FEEDLINE_EXPORT feedline::libtorch {

/// State shared by the storages of one batch's tensors: the batch, and its uses on further streams.
/// Threads: any.
class tensor_owner {
 public:
  explicit tensor_owner(batch&& of) : batch_{std::make_shared<const batch>(std::move(of))} {}

  [[nodiscard]] const batch& held() const noexcept { return *batch_; }

  /// Declares that the batch is used on `stream` from now on, until this owner is destroyed.
  /// @throws like `stream_use`.
  void use_on(stream_ref stream) {
    if (stream == batch_->stream()) return;
    const std::scoped_lock lock{mutex_};
    const auto is_it = [&](const stream_use& known) { return known.stream() == stream; };
    if (std::none_of(uses_.begin(), uses_.end(), is_it)) uses_.emplace_back(batch_, stream);
  }

  /// Called by libtorch when a storage is destroyed.
  static void release(void* held) noexcept {
    delete static_cast<std::shared_ptr<tensor_owner>*>(held);
  }

 private:
  std::shared_ptr<const batch> batch_;
  std::mutex mutex_;
  std::vector<stream_use> uses_;
};

/// A batch as libtorch tensors, without a copy.
///
///     for (feedline::batch& batch : loader.epoch(0, feedline::libtorch::current_stream(device))) {
///       const feedline::libtorch::batch_tensors fields{std::move(batch)};
///       torch::Tensor loss = torch::nll_loss(net->forward(fields["image"]), fields["label"]);
///     }
///
/// The batch's memory returns to the loader when this object, all its tensors and everything that
/// shares their storage (views, saved tensors of a graph) are destroyed, on any thread.
///
/// Streams, on a GPU: the stream that is current when a tensor is requested waits for the batch.
/// The memory is overwritten only after the work issued on that stream until the last tensor is
/// destroyed. The stream may differ from the one the batch was taken on; if it is the same, no
/// ordering is needed. Before a tensor is used on a further stream, call `record_stream`.
///
/// Threads: any, several at once.
class batch_tensors {
 public:
  /// Takes ownership of the batch. @throws usage_error, leaving the batch unchanged, if it is on a
  /// device that this libtorch cannot use, or if it was moved from.
  explicit batch_tensors(feedline::batch&& of)
      : device_{torch_device(of.device())}, owner_{std::make_shared<tensor_owner>(std::move(of))} {}

  /// The batch, for its size, index, epoch, samples and views.
  [[nodiscard]] const feedline::batch& batch() const noexcept { return owner_->held(); }
  /// Device of the tensors; fields that the host keeps (`loader_options::keep_on_host`) are on the
  /// CPU.
  [[nodiscard]] c10::Device device() const noexcept { return device_; }

  /// A field with sizes {samples, …}, dense, row-major. Writable, like the batch. On a GPU its
  /// memory is not from libtorch's allocator. @throws usage_error if there is no such field, naming
  /// the existing ones, or if the current stream is being captured and is not the batch's;
  /// device_error.
  [[nodiscard]] torch::Tensor operator[](std::string_view field) const {
    return tensor(batch()[field]);
  }
  /// All fields, in the order of the dataset's fields. @throws as above.
  [[nodiscard]] std::vector<torch::Tensor> all() const {
    std::vector<torch::Tensor> fields;
    for (std::size_t place = 0; place < batch().field_count(); ++place)
      fields.push_back(tensor(batch().field_at(place)));
    return fields;
  }
  /// A field of images as needed by libtorch's convolutions. The images are stored as height ×
  /// width × channels, or as height × width. The tensor has the sizes {samples, channels, height,
  /// width} and the strides of `torch::MemoryFormat::ChannelsLast`. It is a view, without a copy.
  /// @throws as above; usage_error if the field has another number of dimensions.
  [[nodiscard]] torch::Tensor channels_last(std::string_view field) const {
    const torch::Tensor images = (*this)[field];
    if (images.dim() == 4) return images.permute({0, 3, 1, 2});
    if (images.dim() == 3) return images.unsqueeze(1);
    throw usage_error{"field '" + std::string{field} + "' has " + std::to_string(images.dim() - 1) +
                      " dimensions a sample: images have height, width and channels, or two"};
  }

 private:
  [[nodiscard]] torch::Tensor tensor(const tensor_view& of) const {
    owner_->use_on(current_stream(device_));
    const c10::ScalarType type = scalar_type(of.type());
    const std::vector<std::uint64_t> shape = of.shape();
    const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
    const c10::Device where = of.is_on_host() ? c10::Device{c10::kCPU} : device_;
    return at::for_blob(of.mutable_bytes().data(), sizes)
        .context(std::make_unique<std::shared_ptr<tensor_owner>>(owner_).release(),
                 &tensor_owner::release)
        .options(torch::TensorOptions{where}.dtype(type))
        .target_device(where)
        .make_tensor();
  }

  c10::Device device_;
  std::shared_ptr<tensor_owner> owner_;
};

/// Declares that a batch's tensor, or a view of one, is used on a further stream, and makes that
/// stream wait for the batch. Use it instead of `Tensor::record_stream`, which does nothing for
/// memory that is not from libtorch's own allocator. Call it before the work is issued; one call is
/// enough for all tensors of a batch. On the host it does nothing.
/// @throws usage_error if the tensor does not share a batch's memory; also like `stream_use`.
inline void record_stream(const torch::Tensor& used, c10::Stream stream) {
  const auto* const owner =
      used.defined() && used.has_storage()
          ? used.storage().data_ptr().cast_context<std::shared_ptr<tensor_owner>>(
                &tensor_owner::release)
          : nullptr;
  if (owner == nullptr) {
    throw usage_error{
        "record_stream of feedline's was given a tensor that lies in no batch: call "
        "tensor.record_stream(stream) for a tensor of libtorch's own"};
  }
  (*owner)->use_on(stream_of(stream));
}

}  // namespace feedline::libtorch
