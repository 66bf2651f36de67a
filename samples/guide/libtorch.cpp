// The code that docs/guide/libtorch.md shows.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/torch.hpp>

#include <torch/torch.h>
// [/includes]

#ifdef WITH_CUDA
#include <feedline/cuda/device.hpp>
#endif

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/StreamGuard.h>

#ifdef WITH_CUDA
void train(torch::nn::AnyModule net, torch::optim::Optimizer& optimizer,
           const feedline::dataset_ptr& digits) {
  // [loop]
  const torch::Device device{torch::kCUDA, 0};
  feedline::loader loader{
      digits,
      feedline::shuffle{.seed = 42},
      feedline::make_cuda_device(0),
      {.batch_size = 256,
       .transforms = {{.field = "image", .scale = 1.0 / 255, .mean = {0.13}, .stddev = {0.31}},
                      {.field = "label", .to = feedline::element_type::i64}}}};

  for (int epoch = 0; epoch < 10; ++epoch) {
    for (auto& batch : loader.epoch(epoch, feedline::libtorch::current_stream(device))) {
      const feedline::libtorch::batch_tensors fields{std::move(batch)};
      optimizer.zero_grad();
      const auto output = net.forward(fields.channels_last("image"));
      torch::nll_loss(output, fields["label"]).backward();
      optimizer.step();
    }
  }
  // [/loop]
}
#endif

void log_images(const torch::Tensor& images);

void look(const feedline::libtorch::batch_tensors& fields, c10::Stream beside) {
  // [record]
  const torch::Tensor images = fields["image"];
  feedline::libtorch::record_stream(images, beside);
  const c10::StreamGuard on_it{beside};
  log_images(images);  // issues work on `beside`
  // [/record]
}

feedline::loader in_torchs_order(const feedline::dataset_ptr& digits,
                                 const feedline::device_ptr& gpu) {
  // [sampler]
  torch::manual_seed(1);
  torch::data::samplers::RandomSampler shuffled{60'000};
  feedline::loader loader{
      digits, feedline::libtorch::draw_order(shuffled, /*epochs=*/10), gpu, {.batch_size = 256}};
  // [/sampler]
  return loader;
}

void by_torchs_loader(const std::string& path) {
  // [to_torch]
  auto loader = torch::data::make_data_loader(
      feedline::libtorch::batch_dataset{feedline::open_npy(path, "image")},
      torch::data::samplers::SequentialSampler{60'000},
      torch::data::DataLoaderOptions{256}.workers(4));
  for (const std::vector<torch::Tensor>& fields : *loader) log_images(fields[0]);
  // [/to_torch]
}

feedline::dataset_ptr of_tensors(const torch::Tensor& images, const torch::Tensor& labels) {
  // [own]
  const auto digits = feedline::make_memory_dataset({
      feedline::libtorch::own("image", images),  // {60000, 1, 28, 28}
      feedline::libtorch::own("label", labels),  // {60000}
  });
  // [/own]
  return digits;
}

feedline::dataset_ptr of_torchs_dataset(const std::string& folder) {
  // [adopt]
  const auto digits =
      feedline::libtorch::adopt(torch::data::datasets::MNIST{folder}, {"image", "label"},
                                feedline::read_concurrency::parallel);
  // [/adopt]
  return digits;
}
