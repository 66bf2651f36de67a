/// How fast chunks of HDF5 files are decoded, filter by filter and thread by thread, with nothing
/// else to do: the bound of what can be delivered from such files.
///
///     feedline_bench_decode
///     feedline_bench_decode --filter deflate --threads 1,8,16
///     feedline_bench_decode --row 784 --rows-per-chunk 16,256
///
/// The first tries all filters on three kinds of rows; the second deflate alone, beside libdeflate
/// by itself.
///
/// Each thread decodes chunk after chunk, of a few dozen, into memory of its own which stays in its
/// cache. Rows are those of MNIST where it is there (FEEDLINE_TEST_DATA), else drawn; longer rows
/// are several of its digits. No GPU needed.

#include <feedline/formats/idx.hpp>

#include "bench/processor.hpp"
#include "hdf5/filter/filters.hpp"
#include "support/command_line.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/filter_cases.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <latch>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifdef FEEDLINE_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

using namespace feedline;
using test::bytes;
using test::bytes_view;

namespace {

constexpr std::size_t wanted_chunk_bytes = 64 << 10;
constexpr std::size_t pool_bytes = 4 << 20;  // size of all chunks that threads decode in turn
constexpr int deflate_level = 4;

struct options {
  std::vector<std::size_t> row_bytes{784, 3072, 150528};
  std::vector<std::size_t> rows_per_chunk{0};
  std::vector<int> threads;
  std::string filter;
  double seconds = 0.5;
};

/// Decodes one chunk after another; one for each thread.
using decode_function = std::function<void(bytes_view stored, std::span<std::byte> out)>;

struct method {
  std::string name;
  std::function<bytes(bytes_view raw)> encode;
  std::function<decode_function()> decoder;  ///< called on the thread
};

decode_function decoder_of(const std::vector<detail::hdf5_filter>& pipeline, bool verify) {
  struct tools {
    detail::hdf5_filters filters;
    detail::hdf5_decoder decoder = {};
  };
  auto with = std::make_shared<tools>(tools{detail::hdf5_filters{pipeline}});
  if (!with->filters.refusal().empty()) throw std::runtime_error{with->filters.refusal()};
  return [with, verify](bytes_view stored, std::span<std::byte> out) {
    with->filters.decode(stored, 0, verify, with->decoder, out);
  };
}

#ifdef FEEDLINE_HAS_LIBDEFLATE
decode_function libdeflate_alone() {
  const std::shared_ptr<libdeflate_decompressor> made{libdeflate_alloc_decompressor(),
                                                      libdeflate_free_decompressor};
  return [made](bytes_view stored, std::span<std::byte> out) {
    if (libdeflate_zlib_decompress(made.get(), stored.data(), stored.size(), out.data(), out.size(),
                                   nullptr) != LIBDEFLATE_SUCCESS)
      throw std::runtime_error{"libdeflate does not decode"};
  };
}
#endif

std::vector<method> all_methods() {
  using namespace test;
  std::vector<method> methods;
  const auto add = [&](std::string name, std::vector<detail::hdf5_filter> pipeline,
                       std::function<bytes(bytes_view)> encode, bool verify = true) {
    methods.push_back(
        {std::move(name), std::move(encode), [=] { return decoder_of(pipeline, verify); }});
  };
  const auto by_deflate = [](bytes_view raw) { return deflated(raw, deflate_level); };
#ifdef FEEDLINE_HAS_LIBDEFLATE
  methods.push_back({"deflate, libdeflate by itself", by_deflate, libdeflate_alone});
#endif
  add("deflate", {{1, "", {}}}, by_deflate);
  add("shuffle of 4, deflate", {{2, "", {4}}, {1, "", {}}},
      [](bytes_view raw) { return deflated(shuffled(raw, 4), deflate_level); });
  add("shuffle of 4", {{2, "", {4}}}, [](bytes_view raw) { return shuffled(raw, 4); });
  add("shuffle of 12", {{2, "", {12}}}, [](bytes_view raw) { return shuffled(raw, 12); });
  add("fletcher32, verified", {{3, "", {}}}, with_fletcher32);
  add("fletcher32, not verified", {{3, "", {}}}, with_fletcher32, false);
  add("lzf", {{32000, "", {}}}, lzf_packed);
  if (has_blosc2)
    add("blosc2, shuffle of 4, zstd", {{32026, "", {}}},
        [](bytes_view raw) { return blosc2_packed(raw, 4, "zstd", 1); });
  if (has_lzo) add("lzo", {{305, "", {}}}, lzo_packed);
  if (has_bzip2) add("bzip2", {{307, "", {}}}, [](bytes_view raw) { return bzip2_packed(raw); });
  if (has_lz4)
    add("lz4", {{32004, "", {}}}, [](bytes_view raw) { return lz4_packed(raw, 1U << 30); });
  if (has_zstd) add("zstd", {{32015, "", {}}}, [](bytes_view raw) { return zstd_packed(raw); });
  if (has_blosc)
    for (const char* compressor : {"lz4", "zstd"})
      add(std::string{"blosc, shuffle of 4, "} + compressor, {{32001, "", {}}},
          [=](bytes_view raw) { return blosc_packed(raw, 4, compressor, 1); });
  for (const unsigned element : {1U, 4U}) {
    const std::string name = "bitshuffle of " + std::to_string(element);
    add(name, {{32008, "", {0, 4, element, 0, 0}}},
        [=](bytes_view raw) { return bitshuffled(raw, element, 0, bit_compression::none); });
    if (has_lz4)
      add(name + ", lz4", {{32008, "", {0, 4, element, 0, 2}}},
          [=](bytes_view raw) { return bitshuffled(raw, element, 0, bit_compression::lz4); });
  }
  const std::vector<unsigned> szip_values{168, 16, 8, 784};
  if (has_szip)
    add("szip", {{4, "", szip_values}},
        [=](bytes_view raw) { return szip_packed(raw, szip_values); });
  return methods;
}

/// MNIST's pixels, or drawn ones, as many as asked for.
bytes pixels(std::size_t count, std::string& whence) {
  const auto images = test::find_test_data("mnist/train-images-idx3-ubyte.gz");
  bytes made;
  if (images) {
    whence = "MNIST's digits";
    const auto digits = open_idx_file(*images, "image");
    std::vector<sample_index> samples(std::min<std::uint64_t>(digits->size(), count / 784 + 1));
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = {i};
    made.resize(samples.size() * 784);
    const std::span<std::byte> out{made};
    digits->read(samples, {&out, 1});
  } else {
    whence = "drawn strokes (no MNIST found)";
    made = test::contents()[2].make(784 * 1024);
  }
  const std::size_t period = made.size();
  made.resize(count);
  for (std::size_t i = period; i < count; ++i) made[i] = made[i - period];
  return made;
}

/// Bytes a second.
double measure(const method& by, const std::vector<bytes>& stored, std::size_t chunk_bytes,
               int threads, double seconds) {
  std::atomic<std::uint64_t> decoded{0};
  std::atomic<bool> over{false};
  std::latch ready{threads + 1};
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      const auto decode = by.decoder();
      bytes out(chunk_bytes);
      std::size_t at = static_cast<std::size_t>(thread) * 7;
      for (int warming = 0; warming < 3; ++warming) decode(stored[at++ % stored.size()], out);
      ready.arrive_and_wait();
      std::uint64_t mine = 0;
      for (; !over.load(std::memory_order_relaxed); ++mine)
        decode(stored[at++ % stored.size()], out);
      decoded += mine;
    });
  ready.arrive_and_wait();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  over = true;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (auto& thread : running) thread.join();
  return static_cast<double>(decoded.load() * chunk_bytes) / took.count();
}

void measure_all(const options& chosen, std::size_t row_bytes, std::size_t per_chunk) {
  const std::size_t chunk_bytes = row_bytes * per_chunk;
  const std::size_t chunks = std::max<std::size_t>(pool_bytes / chunk_bytes, 4);
  std::string whence;
  const bytes raw = pixels(chunks * chunk_bytes, whence);
  std::printf("\nrows of %zu bytes, %zu a chunk (%.1f KiB), %zu chunks of %s\n", row_bytes,
              per_chunk, static_cast<double>(chunk_bytes) / 1024, chunks, whence.c_str());
  std::printf("%-32s %6s", "filters", "size");
  for (const int threads : chosen.threads)
    std::printf("  %8s %9s", "GB/s", ("rows/s:" + std::to_string(threads)).c_str());
  std::printf("\n");

  for (const method& by : all_methods()) {
    if (by.name.find(chosen.filter) == std::string::npos) continue;
    std::vector<bytes> stored;
    std::size_t stored_bytes = 0;
    for (std::size_t i = 0; i < chunks; ++i) {
      stored.push_back(by.encode(bytes_view{raw}.subspan(i * chunk_bytes, chunk_bytes)));
      stored_bytes += stored.back().size();
    }
    std::printf("%-32s %5.1f%%", by.name.c_str(),
                100 * static_cast<double>(stored_bytes) / static_cast<double>(raw.size()));
    for (const int threads : chosen.threads) {
      const double rate = measure(by, stored, chunk_bytes, threads, chosen.seconds);
      std::printf("  %8.2f %9.0f", rate / 1e9, rate / static_cast<double>(row_bytes));
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  options chosen;
  test::command_line line{"How fast chunks of HDF5 files are decoded, filter by filter"};
  line.add_option("--row", chosen.row_bytes, "bytes of a row");
  line.add_option("--rows-per-chunk", chosen.rows_per_chunk, "0: about 64 KiB");
  line.add_option("--threads", chosen.threads, "default: 1, 2, 4, … all");
  line.add_option("--filter", chosen.filter, "only those whose name has this part");
  line.add_option("--seconds", chosen.seconds, "of each measurement");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;

  const int all = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (chosen.threads.empty()) {
    for (int threads = 1; threads < all; threads *= 2) chosen.threads.push_back(threads);
    chosen.threads.push_back(all);
  }
  std::printf("%s, %d hardware threads\n", bench::processor().c_str(), all);
  std::printf("each thread into memory of its own, %.1f s; size: stored, of decoded\n",
              chosen.seconds);
  try {
    for (const std::size_t row : chosen.row_bytes)
      for (const std::size_t rows : chosen.rows_per_chunk)
        measure_all(chosen, row,
                    rows != 0 ? rows : std::max<std::size_t>(wanted_chunk_bytes / row, 1));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedline_bench_decode: %s\n", error.what());
    return 1;
  }
}
