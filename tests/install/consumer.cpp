// Reads 1000 numbers through a loader, and asks for what else the installed feedline has.

#include <feedline/feedline.hpp>

#ifdef WITH_CUDA
#include <feedline/cuda/device.hpp>
#endif
#ifdef WITH_HDF5
#include <feedline/hdf5/dataset.hpp>
#endif
#ifdef WITH_REMOTE
#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>
#endif
#ifdef WITH_FORMATS
#include <feedline/formats/open.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/io/map_files.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#endif

#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

#ifdef WITH_FORMATS
/// Whether `open` maps a file, where `map_files` says whether it may.
bool is_mapped(bool allowed) {
  feedline::map_files(allowed);
  const std::filesystem::path path = std::filesystem::absolute("my_trainer.npy");
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}";
  header.resize(117, ' ');
  std::ofstream{path, std::ios::binary} << std::string{"\x93NUMPY\1\0v\0", 10} << header
                                        << "\nrows";
  const auto opened = feedline::open(path.string());
  std::ostringstream maps;
  maps << std::ifstream{"/proc/self/maps"}.rdbuf();
  std::filesystem::remove(path);
  return maps.str().find(path.string()) != std::string::npos;
}
#endif

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
  std::cout << "mapped " << is_mapped(false) << is_mapped(true) << '\n';
#endif
#ifdef WITH_REMOTE
  feedline::mount_remote_files();
  std::cout << "remote " << (feedline::remote_counts().requests == 0) << '\n';
#endif
}
