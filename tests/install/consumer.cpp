// Reads 1000 numbers through a loader, and asks for what else the installed feedline has.

#include <feedline/feedline.hpp>

#ifdef WITH_CUDA
#include <feedline/cuda/device.hpp>
#endif
#ifdef WITH_HDF5
#include <feedline/hdf5/dataset.hpp>
#endif
#ifdef WITH_FORMATS
#include <feedline/formats/open.hpp>
#include <feedline/image/decode.hpp>
#endif

#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

int main() {
  std::vector<std::uint32_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto dataset = feedline::make_memory_dataset({feedline::own("number", numbers)});
  feedline::loader loader{
      dataset, feedline::shuffle{.seed = 1}, feedline::make_host_device(), {.batch_size = 64}};

  std::uint64_t sum = 0;
  for (feedline::batch& batch : loader.epoch(0))
    for (const std::uint32_t number : batch["number"].values<std::uint32_t>()) sum += number;
  std::cout << "sum " << sum << '\n';

#ifdef WITH_CUDA
  std::cout << "cuda " << (feedline::cuda_device_count() >= 0) << '\n';
#endif
#ifdef WITH_HDF5
  try {
    static_cast<void>(feedline::list_hdf5_fields("no such file"));
  } catch (const feedline::hdf5_error&) {
    std::cout << "hdf5 1\n";
  }
#endif
#ifdef WITH_FORMATS
  std::cout << "images " << feedline::make_image_decoder()->describe({}).shape.size() << '\n';
  try {
    static_cast<void>(feedline::open("no such file"));
  } catch (const feedline::dataset_error&) {
    std::cout << "formats 1\n";
  }
#endif
}
