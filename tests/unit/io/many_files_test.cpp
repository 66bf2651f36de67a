/// Datasets of far more files than a process may have open, in each format whose files stay open.
/// This program lowers its hard limit, so that it cannot be raised again.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/io/map_files.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/process.hpp"
#include "support/checks/sanitized.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/zip_bytes.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr rlim_t limit = 256;

const bool is_limited = [] {
  const rlimit few{limit, limit};
  return ::setrlimit(RLIMIT_NOFILE, &few) == 0;
}();

/// 2,000 under a limit of 256; FEEDLINE_TEST_FILES in the environment asks for another number.
std::uint64_t file_count() {
  const char* const asked = std::getenv("FEEDLINE_TEST_FILES");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : sanitized ? 600 : 2000;
}

/// Content of a file of a format, and how such files are opened together. File i holds two samples
/// (tokens: one window), whose first field's first element is i; each is of 32 bits.
struct format {
  std::string name;
  std::function<byte_vector(std::uint32_t)> bytes;
  std::function<dataset_ptr(const std::vector<std::string>&)> open;
  std::uint64_t samples_per_file = 2;
};

byte_vector numbers(std::uint32_t file, std::size_t count) {
  return memory_of(std::vector<std::uint32_t>(count, file));
}

byte_vector array_of(std::uint32_t file) {
  return npy_bytes(npy_dictionary("<u4", "(2, 3)"), numbers(file, 6));
}

dataset_ptr joined(const std::vector<std::string>& paths,
                   const std::function<dataset_ptr(const std::string&)>& open) {
  std::vector<dataset_ptr> parts;
  for (const std::string& path : paths) parts.push_back(open(path));
  return concatenate(std::move(parts));
}

std::vector<format> all_formats() {
  return {
      {"npy", array_of,
       [](const std::vector<std::string>& paths) {
         return joined(paths, [](const std::string& path) { return open_npy(path, "x"); });
       }},
#ifdef FEEDLINE_TEST_NPZ
      {"npz",
       [](std::uint32_t file) { return zip_bytes({{.name = "x.npy", .content = array_of(file)}}); },
       [](const std::vector<std::string>& paths) {
         return joined(paths, [](const std::string& path) { return open_npz(path); });
       }},
#endif
      {"records", [](std::uint32_t file) { return numbers(file, 6); },
       [](const std::vector<std::string>& paths) {
         return open_records(paths, {{"x", element_type::u32, {3}}});
       }},
      {"tar",
       [](std::uint32_t file) {
         const auto array = npy_bytes(npy_dictionary("<u4", "(3,)"), numbers(file, 3));
         return tar_bytes{}.add("a.npy", array).add("b.npy", array).ended();
       },
       [](const std::vector<std::string>& paths) {
         return open_tar(paths, {{"x", {"npy"}, decode_npy()}});
       }},
      {"tokens", [](std::uint32_t file) { return numbers(file, 4); },
       [](const std::vector<std::string>& paths) {
         return open_tokens(paths,
                            {.tokens_per_sample = 3, .stride = 4, .type = element_type::u32});
       },
       1},
  };
}

/// Reads every sample once, by several threads at once and in an order that jumps about.
/// @return How many are not what their file holds.
std::uint64_t wrong_samples(const dataset& data, std::uint64_t per_file) {
  constexpr std::uint64_t threads = 8;
  constexpr std::uint64_t stride = 7919;  // a prime number
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (std::uint64_t t = 0; t < threads; ++t) {
    readers.emplace_back([&, t] {
      std::vector<std::vector<std::uint32_t>> values(data.fields().size(),
                                                     std::vector<std::uint32_t>(3));
      std::vector<std::span<std::byte>> out;
      for (auto& each : values) out.push_back(std::as_writable_bytes(std::span{each}));
      for (std::uint64_t i = t; i < data.size(); i += threads) {
        const sample_index sample{i * stride % data.size()};
        try {
          data.read({&sample, 1}, out);
          const auto file = static_cast<std::uint32_t>(sample.value / per_file);
          if (values[0] != std::vector<std::uint32_t>(3, file)) ++wrong;
        } catch (const std::exception& failure) {
          if (wrong++ == 0) std::fprintf(stderr, "%s\n", failure.what());
        }
        if (i % 64 == 0) {
          (void)data.wants_prefetch();
          data.prefetch({&sample, 1});
        }
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  return wrong;
}

/// Milliseconds since it was made, or asked last.
class stop_watch {
 public:
  long lap() {
    const auto now = std::chrono::steady_clock::now();
    const auto passed = now - std::exchange(begin_, now);
    return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(passed).count());
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

TEST_CASE("many files: thousands are open under a limit of 256, and every sample is right",
          "[dataset][host]") {
  REQUIRE(is_limited);
  const auto formats = all_formats();
  const format& each = formats[GENERATE_REF(range(std::size_t{0}, formats.size()))];
  const std::uint64_t count = file_count();
  const temporary_directory folder;
  std::vector<std::string> paths;
  for (std::uint32_t file = 0; file < count; ++file)
    paths.push_back(folder.write(std::to_string(file), each.bytes(file)).string());
  const std::size_t before = descriptor_count();

  for (const bool may_map : {true, false}) {
    map_files(may_map);
    stop_watch watch;
    const dataset_ptr data = each.open(paths);
    const long opened = watch.lap();
    CAPTURE(each.name, may_map);
    CHECK(data->size() == count * each.samples_per_file);
    CHECK(wrong_samples(*data, each.samples_per_file) == 0);
    const std::size_t now = descriptor_count();
    CHECK(now <= before + limit / 2);
    if (count > 2000)
      std::printf(
          "%s%s: %zu files opened in %ld ms, %llu samples read in %ld ms, %zu descriptors\n",
          each.name.c_str(), may_map ? "" : ", not mapped", paths.size(), opened,
          static_cast<unsigned long long>(data->size()), watch.lap(), now - before);
  }
  map_files(true);
}
