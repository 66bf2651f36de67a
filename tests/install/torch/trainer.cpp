// A user's program: it takes feedline's batches as libtorch's tensors.

#include <feedline/feedline.hpp>
#include <feedline/torch.hpp>

#include <cstdint>
#include <iostream>
#include <numeric>
#include <utility>
#include <vector>

#include <torch/torch.h>

// libtorch's names and feedline's do not clash.
using namespace feedline;

int main() {
  std::vector<std::int64_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  torch::data::samplers::RandomSampler shuffled{1000};
  loader batches{make_memory_dataset({own("number", numbers)}),
                 libtorch::draw_order(shuffled),
                 make_host_device(),
                 {.batch_size = 64}};
  torch::Tensor sum = torch::zeros({}, torch::kInt64);
  for (batch& each : batches.epoch(0, libtorch::current_stream(torch::kCPU))) {
    const libtorch::batch_tensors fields{std::move(each)};
    sum += fields["number"].sum();
  }
  std::cout << "sum " << sum.item<std::int64_t>() << '\n';
}
