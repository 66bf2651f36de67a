#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t samples = 2000;
constexpr std::size_t words_per_row = 6;
constexpr unsigned threads = 16;

/// Every word of a row is the row's number.
std::vector<std::uint32_t> spelled() {
  std::vector<std::uint32_t> words;
  for (std::uint32_t row = 0; row < samples; ++row) words.insert(words.end(), words_per_row, row);
  return words;
}

/// Reads runs of random samples, and counts rows that are not what they should be.
std::uint64_t wrong_rows(const dataset& data, unsigned seed, bool again) {
  std::mt19937_64 random{seed};
  std::vector<sample_index> run(64);
  std::vector<std::uint32_t> words(run.size() * words_per_row);
  const std::span<std::byte> out = std::as_writable_bytes(std::span{words});
  std::uint64_t wrong = 0;
  for (int turn = 0; turn < 15; ++turn) {
    for (auto& sample : run) sample.value = random() % samples;
    if (again) std::fill(run.begin() + 1, run.begin() + 9, run.front());  // a sample many times
    data.read(run, std::vector{out});
    for (std::size_t i = 0; i < run.size(); ++i)
      for (std::size_t word = 0; word < words_per_row; ++word)
        wrong += words[i * words_per_row + word] != run[i].value;
  }
  return wrong;
}

std::vector<hdf5_layout> layouts() {
  const auto gzip = [](hid_t creation) { H5Pset_deflate(creation, 1); };
  return {
      {"contiguous"},
      chunked("raw chunks", {16, words_per_row}),
      chunked("deflate", {16, words_per_row}, gzip),
      chunked("deflate, a row a chunk", {1, words_per_row}, gzip),
      chunked("chunks that split rows", {16, 4}),
      chunked("fletcher32", {16, words_per_row},
              [](hid_t creation) { H5Pset_fletcher32(creation); }),
      chunked("by the library", {16, words_per_row}, [](hid_t creation) { H5Pset_nbit(creation); }),
  };
}

}  // namespace

TEST_CASE("hdf5: sixteen readers of one file get the same as one, however few chunks are kept",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "many.h5"};
  const auto words = spelled();
  const auto [big_endian, cache_bytes] =
      GENERATE(std::pair{false, std::size_t{1}}, std::pair{true, std::size_t{10'000}},
               std::pair{false, std::size_t{1} << 30});
  const hid_t stored_type = big_endian ? H5T_STD_U32BE : H5T_STD_U32LE;
  for (const auto& layout : layouts())
    writer.write(layout.name, stored_type, {samples, words_per_row}, H5T_NATIVE_UINT32,
                 words.data(), layout);
  const auto file = writer.close();
  for (const auto& layout : layouts()) {
    INFO(layout.name << ", " << cache_bytes << " bytes kept");
    const auto opened = open_hdf5(file, {{layout.name}},
                                  {.max_host_cache_bytes = cache_bytes, .max_resident_bytes = 0});
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> readers;
    for (unsigned seed = 0; seed < threads; ++seed)
      readers.emplace_back([&, seed] { wrong += wrong_rows(*opened, seed, seed % 2 == 0); });
    for (auto& reader : readers) reader.join();
    CHECK(wrong.load() == 0);
  }
}

TEST_CASE(
    "hdf5: the first of several damaged chunks in a run is named, whichever thread decodes it",
    "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "damaged.h5"};
  const auto words = spelled();
  writer.write(
      "x", H5T_STD_U32LE, {samples, words_per_row}, H5T_NATIVE_UINT32, words.data(),
      chunked("", {10, words_per_row}, [](hid_t creation) { H5Pset_fletcher32(creation); }));
  const auto file = writer.close();
  // Samples 500 and 1500 begin chunks, each of which loses a byte of its last row.
  std::vector<std::byte> bytes(std::filesystem::file_size(file));
  {
    std::FILE* opened = std::fopen(file.c_str(), "r+b");
    REQUIRE(std::fread(bytes.data(), 1, bytes.size(), opened) == bytes.size());
    for (const std::uint32_t row : {509U, 1509U}) {
      const auto* pattern = reinterpret_cast<const std::byte*>(&words[row * words_per_row]);
      const auto found =
          std::search(bytes.begin(), bytes.end(), pattern, pattern + words_per_row * 4);
      REQUIRE(found != bytes.end());
      std::fseek(opened, static_cast<long>(found - bytes.begin()), SEEK_SET);
      std::fputc(0x77, opened);
    }
    std::fclose(opened);
  }
  for (int round = 0; round < 20; ++round) {
    const auto opened = open_hdf5(file, {{"x"}}, {.max_resident_bytes = 0});
    std::atomic<std::uint64_t> named_other{0};
    std::vector<std::thread> readers;
    for (unsigned reader = 0; reader < threads; ++reader)
      readers.emplace_back([&] {
        std::vector<sample_index> run;
        for (const std::uint64_t sample : {3U, 1505U, 800U, 502U, 1400U}) run.push_back({sample});
        std::vector<std::byte> out(run.size() * words_per_row * 4);
        try {
          opened->read(run, std::vector{std::span<std::byte>{out}});
          ++named_other;
        } catch (const hdf5_error& error) {
          named_other += error.sample() != 1505;
        }
      });
    for (auto& reader : readers) reader.join();
    CHECK(named_other.load() == 0);
  }
}
