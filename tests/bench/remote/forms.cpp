#include "bench/remote/forms.hpp"

#include <feedline/formats/open.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "detail/threads.hpp"
#include "sampler/chunk_order.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"

#ifdef FEEDLINE_BENCH_HDF5
#include <feedline/hdf5/dataset.hpp>

#include "bench/hdf5/encodings.hpp"
#include "support/hdf5/writer.hpp"
#endif

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

namespace feedline::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t chunk_bytes = std::uint64_t{4} << 20;

/// Bytes that no compression makes smaller (xorshift64).
std::vector<std::byte> noise(std::uint64_t bytes, std::uint64_t seed) {
  std::vector<std::byte> made(static_cast<std::size_t>(bytes));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  for (std::size_t at = 0; at < made.size(); at += sizeof(state)) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    std::memcpy(made.data() + at, &state, std::min(sizeof(state), made.size() - at));
  }
  return made;
}

void write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote <= 0) throw std::runtime_error{"no room for the data; name another --folder"};
    offset += static_cast<std::uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw std::runtime_error{"a file cannot be made in " + path.string()};
  write_at(file, 0, bytes);
  ::close(file);
}

/// Samples in windows of chunks of 4 MiB, and a full shuffle if there is none.
sampler order_of(const form_sizes& sizes, bool in_windows) {
  if (!in_windows) return shuffle{.seed = 1};
  return shuffle{.seed = 1,
                 .within = chunks(std::max<std::uint64_t>(sizes.window_bytes / chunk_bytes, 1))};
}

written_form write_npy(const fs::path& folder, const form_sizes& sizes) {
  const std::uint64_t rows = std::max<std::uint64_t>(sizes.bytes / sizes.row_bytes, 1);
  const auto head =
      test::npy_bytes(test::npy_dictionary("|u1", "(" + std::to_string(rows) + ", " +
                                                      std::to_string(sizes.row_bytes) + ")"),
                      {});
  const fs::path path = folder / "rows.npy";
  write_file(path, head);
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  constexpr std::uint64_t block = std::uint64_t{16} << 20;
  const std::uint64_t bytes = rows * sizes.row_bytes;
  detail::parallel_for(static_cast<std::size_t>((bytes + block - 1) / block), [&](std::size_t i) {
    write_at(file, head.size() + i * block, noise(std::min(block, bytes - i * block), i));
  });
  ::close(file);
  return {.files = {"rows.npy"},
          .row_bytes = sizes.row_bytes,
          .stored_bytes = head.size() + bytes,
          .request_bytes = sizes.row_bytes,
          .open = [](const std::string& address) { return feedline::open(address + "rows.npy"); },
          .order = order_of(sizes, false),
          .is_one_array = true};
}

/// The same rows: npy has no chunks, so runs of rows stand in for them.
written_form write_npy_windows(const fs::path& folder, const form_sizes& sizes) {
  written_form made = write_npy(folder, sizes);
  const std::uint64_t rows = std::max<std::uint64_t>(chunk_bytes / sizes.row_bytes, 1);
  made.order = detail::chunk_order{
      1, rows, std::max<std::uint64_t>(sizes.bytes / std::max(sizes.window_bytes, chunk_bytes), 1)};
  return made;
}

written_form write_tar(const fs::path& folder, const form_sizes& sizes) {
  constexpr std::uint64_t shard_bytes = std::uint64_t{128} << 20;
  const std::uint64_t rows = std::max<std::uint64_t>(shard_bytes / sizes.row_bytes, 1);
  const std::uint64_t shards = std::max<std::uint64_t>(sizes.bytes / (rows * sizes.row_bytes), 1);
  written_form made{.files = {},
                    .row_bytes = sizes.row_bytes,
                    .request_bytes = chunk_bytes,
                    .open = {},
                    .order = order_of(sizes, true)};
  for (std::uint64_t shard = 0; shard < shards; ++shard)
    made.files.push_back("rows-" + std::to_string(shard) + ".tar");
  const auto dictionary = test::npy_dictionary("|u1", "(" + std::to_string(sizes.row_bytes) + ",)");
  detail::parallel_for(static_cast<std::size_t>(shards), [&](std::size_t shard) {
    test::tar_bytes archive;
    for (std::uint64_t row = 0; row < rows; ++row)
      archive.add(std::to_string(1'000'000 + shard * rows + row) + ".x.npy",
                  test::npy_bytes(dictionary, noise(sizes.row_bytes, shard * rows + row)));
    write_file(folder / made.files[shard], archive.ended());
  });
  for (const std::string& each : made.files) made.stored_bytes += fs::file_size(folder / each);
  made.open = [shards](const std::string& address) {
    return feedline::open(address + "rows-{0.." + std::to_string(shards - 1) + "}.tar");
  };
  return made;
}

#ifdef FEEDLINE_BENCH_HDF5

written_form write_hdf5(const fs::path& folder, const form_sizes& sizes) {
  const std::uint64_t in_chunk = std::max<std::uint64_t>(chunk_bytes / sizes.row_bytes, 1);
  const std::uint64_t chunks_of =
      std::max<std::uint64_t>(sizes.bytes / (in_chunk * sizes.row_bytes), 1);
  const fs::path path = folder / "rows.h5";
  test::hdf5_writer writer{path};
  const auto rows = writer.make("rows", H5T_STD_U8LE, {chunks_of * in_chunk, sizes.row_bytes},
                                test::chunked("", {in_chunk, sizes.row_bytes}));
  const auto bytes = noise(in_chunk * sizes.row_bytes, 1);
  for (std::uint64_t chunk = 0; chunk < chunks_of; ++chunk)
    writer.write_chunk(rows.get(), {chunk * in_chunk, 0}, bytes);
  writer.close();
  return {.files = {"rows.h5"},
          .row_bytes = sizes.row_bytes,
          .stored_bytes = fs::file_size(path),
          .request_bytes = bytes.size(),
          .open =
              [window = sizes.window_bytes](const std::string& address) {
                return open_hdf5(address + "rows.h5", {{"rows"}},
                                 {.max_host_cache_bytes = 3 * window});
              },
          .order = order_of(sizes, true)};
}

written_form write_compressed(const fs::path& folder, const form_sizes& sizes,
                              const std::string& name, std::size_t bytes_of_chunk) {
  encoding as = encodings_named(name).front();
  as.chunk_bytes = bytes_of_chunk;
  const encoded_file file =
      write_encoded(folder, as, std::max<std::uint64_t>(sizes.bytes / bytes_of_chunk, 1));
  const std::uint64_t window = sizes.window_bytes / bytes_of_chunk;
  const std::string path = file.path.filename().string();
  return {.files = {path},
          .row_bytes = file.row_bytes,
          .stored_bytes = fs::file_size(file.path),
          .request_bytes =
              static_cast<std::uint64_t>(static_cast<double>(file.chunk_bytes()) / file.ratio()),
          .open =
              [path, room = 3 * sizes.window_bytes](const std::string& address) {
                return open_hdf5(address + path, {{"image"}}, {.max_host_cache_bytes = room});
              },
          .order = shuffle{.seed = 1, .within = chunks(std::max<std::uint64_t>(window, 1))},
          .decodes = decode_on::device};
}

#endif

}  // namespace

const std::vector<form>& all_forms() {
  static const std::vector<form> all = [] {
    std::vector<form> made{
        {"npy-windows", "rows of an npy file, in windows of runs of 4 MiB", &write_npy_windows},
        {"npy-shuffle", "rows of an npy file, in full shuffle", &write_npy},
        {"tar", "members of tar shards of 128 MiB, in windows of runs of 4 MiB", &write_tar},
    };
#ifdef FEEDLINE_BENCH_HDF5
    made.push_back({"hdf5", "rows of HDF5, in windows of chunks of 4 MiB", &write_hdf5});
    made.push_back({"deflate", "deflated rows of 28 x 28 bytes in chunks of 200 KiB",
                    [](const fs::path& folder, const form_sizes& sizes) {
                      return write_compressed(folder, sizes, "deflate", std::size_t{200} << 10);
                    }});
    made.push_back({"deflate-1m", "the same in chunks of 1 MiB",
                    [](const fs::path& folder, const form_sizes& sizes) {
                      return write_compressed(folder, sizes, "deflate", std::size_t{1} << 20);
                    }});
    if (std::ranges::any_of(all_encodings(), [](const auto& each) { return each.name == "zstd"; }))
      made.push_back({"zstd", "the same by zstd in chunks of 200 KiB",
                      [](const fs::path& folder, const form_sizes& sizes) {
                        return write_compressed(folder, sizes, "zstd", std::size_t{200} << 10);
                      }});
#endif
    return made;
  }();
  return all;
}

}  // namespace feedline::bench
