// The code that docs/guide/interop.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>
// [/includes]

#include "training.hpp"

// Stands for another library, which takes a tensor and calls its deleter when it is done.
void take_over(DLManagedTensorVersioned* tensor);
DLManagedTensorVersioned* make_tensor(const char* what);

void hand_over(feedline::loader& loader, cudaStream_t compute, cudaStream_t library) {
  // [export]
  for (feedline::batch& taken : loader.epoch(0, feedline::stream_ref{compute})) {
    const auto batch = std::make_shared<const feedline::batch>(std::move(taken));
    take_over(feedline::to_dlpack(batch, "image", feedline::stream_ref{library}).release());
    take_over(feedline::to_dlpack(batch, "label", feedline::stream_ref{library}).release());
  }
  // [/export]
}

void brighten_aside(std::shared_ptr<const feedline::batch> batch, float* out, cudaStream_t side) {
  // [use]
  const feedline::stream_use use{std::move(batch), feedline::stream_ref{side}};
  brighten((*use)["image"].data<std::uint8_t>(), out, use->size(), side);
  // [/use]
}

feedline::dataset_ptr import() {
  // [import]
  std::vector<feedline::dlpack_field> fields;
  fields.push_back({"image", feedline::dlpack_tensor{make_tensor("images")}});
  fields.push_back({"label", feedline::dlpack_tensor{make_tensor("labels")}});
  const feedline::dataset_ptr train = feedline::make_dlpack_dataset(std::move(fields));
  // [/import]
  return train;
}
