#include <feedline/device/host_device.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/statistics/statistics.hpp>

#include "detail/threads.hpp"
#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t rows = 400;
constexpr std::uint64_t rows_per_chunk = 16;
constexpr std::uint64_t blocks = rows / rows_per_chunk;
constexpr std::uint64_t batch_size = 8;  // half a chunk

dataset_ptr open_compressed(const temporary_directory& folder, std::size_t cache_bytes) {
  hdf5_writer writer{folder.path() / "counted.h5"};
  std::vector<std::uint32_t> words(rows * 6);
  std::iota(words.begin(), words.end(), 0U);
  writer.write(
      "x", H5T_STD_U32LE, {rows, 6}, H5T_NATIVE_UINT32, words.data(),
      chunked("", {rows_per_chunk, 6}, [](hid_t creation) { H5Pset_deflate(creation, 1); }));
  writer.write("label", H5T_STD_U32LE, {rows}, H5T_NATIVE_UINT32, words.data(), {"contiguous"});
  return open_hdf5(writer.close(), {{"x"}, {"label"}},
                   {.max_host_cache_bytes = cache_bytes, .max_resident_bytes = 0});
}

loader_statistics read_epoch(loader& from, std::uint64_t epoch) {
  const loader_statistics before = from.statistics();
  for (const batch& each : from.epoch(epoch)) (void)each;
  return from.statistics().since(before);
}

}  // namespace

TEST_CASE("hdf5: a loader counts chunks that are decoded, and rows that are decoded already",
          "[statistics][host]") {
  const temporary_directory folder;
  loader loader{open_compressed(folder, std::size_t{1} << 30),
                sequential{},
                make_host_device(),
                {.batch_size = batch_size, .readers = no_readers}};
  const loader_statistics first = read_epoch(loader, 0);
  CHECK(first.decoded == blocks);
  CHECK(first.cache_hits == rows / 2);  // every other batch finds the chunk of the one before
  CHECK(first.cache_misses == rows / 2);
  const loader_statistics second = read_epoch(loader, 1);
  CHECK(second.decoded == 0);
  CHECK(second.cache_hits == rows);
  CHECK(second.cache_misses == 0);
}

TEST_CASE("hdf5: if few chunks are kept, each epoch decodes all of them", "[statistics][host]") {
  const temporary_directory folder;
  loader loader{open_compressed(folder, 1),
                sequential{},
                make_host_device(),
                {.batch_size = batch_size, .readers = no_readers}};
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const loader_statistics seen = read_epoch(loader, epoch);
    CHECK(seen.decoded == blocks);
    CHECK(seen.cache_hits == rows / 2);
    CHECK(seen.cache_misses == rows / 2);
  }
}

TEST_CASE("hdf5: several readers count each row once, and each chunk that is decoded once",
          "[statistics][host]") {
  const temporary_directory folder;
  loader loader{open_compressed(folder, std::size_t{1} << 30),
                sequential{},
                make_host_device(),
                {.batch_size = batch_size, .readers = 4}};
  const loader_statistics first = read_epoch(loader, 0);
  CHECK(first.decoded == blocks);
  CHECK(first.cache_hits + first.cache_misses == rows);
  CHECK(first.cache_misses >= blocks);
  CHECK(read_epoch(loader, 1).cache_hits == rows);
}

TEST_CASE("verdict: a compressed file that is read in a random order is decode-bound",
          "[statistics][host]") {
  constexpr std::uint64_t samples = 512;
  constexpr std::uint64_t values = 1024;
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "compressed.h5"};
  std::vector<std::uint32_t> words(samples * values);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * i);
  writer.write("x", H5T_STD_U32LE, {samples, values}, H5T_NATIVE_UINT32, words.data(),
               chunked("", {64, values}, [](hid_t creation) { H5Pset_deflate(creation, 6); }));
  const auto cores = static_cast<int>(detail::usable_cores());  // so that more readers do not help
  loader loader{
      open_hdf5(writer.close(), {{"x"}}, {.max_host_cache_bytes = 1, .max_resident_bytes = 0}),
      shuffle{.seed = 1},
      make_host_device(),
      {.batch_size = 16, .readers = cores}};
  const loader_statistics seen = read_epoch(loader, 0);
  INFO(report(seen));
  CHECK(seen.cache_hits + seen.cache_misses == samples);
  CHECK(seen.decoded > samples / 4);  // each chunk again and again
  CHECK(to_string(judge(seen).limit) == "decode-bound");
  // Where other work keeps readers from their cores for half of the time, that comes first.
  const auto waiting = std::min(seen.sampled_queue, seen.sampled_reading - seen.sampled_cpu);
  const bool alone = 2 * waiting < seen.sampled_reading;
  const std::string next = judge(seen).next;
  CHECK((alone || next.find("cores") != std::string::npos ||
         next.find("quota") != std::string::npos));
  CHECK((!alone || next.find("an order that follows chunks") != std::string::npos));
}
