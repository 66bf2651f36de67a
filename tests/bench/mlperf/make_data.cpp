#include <feedline/error.hpp>

#include "bench/mlperf/data.hpp"
#include "detail/checksums/crc32c.hpp"
#include "detail/threads.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tfrecord_bytes.hpp"
#include "support/files/zip_bytes.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace feedline::bench {
namespace {

namespace records = test::tfrecord;
using test::byte_vector;

/// Bytes that no compression makes smaller (xorshift64).
byte_vector noise(std::size_t bytes, std::uint64_t seed) {
  byte_vector made(bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  for (std::size_t at = 0; at < bytes; at += sizeof(state)) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    std::memcpy(made.data() + at, &state, std::min(sizeof(state), bytes - at));
  }
  return made;
}

/// Rows and columns of samples: DLIO's `get_dimension`.
class extents {
 public:
  explicit extents(const workload& of)
      : side_{std::floor(std::sqrt(of.record_bytes))},
        draws_{side_, std::max(of.record_stdev / 2 / std::sqrt(of.record_bytes), 1e-9)} {}

  std::array<std::uint64_t, 2> next() { return {drawn(), drawn()}; }

 private:
  std::uint64_t drawn() {
    return static_cast<std::uint64_t>(std::max(draws_(random_) + 1e-6, 1.0));
  }

  double side_;
  std::mt19937_64 random_{10};
  std::normal_distribution<double> draws_;
};

byte_vector npz_file(std::array<std::uint64_t, 2> extent, std::uint64_t seed) {
  const std::string shape =
      "(" + std::to_string(extent[0]) + ", " + std::to_string(extent[1]) + ", 1)";
  return test::zip_bytes(
      {{.name = "x.npy",
        .content = test::npy_bytes(test::npy_dictionary("|u1", shape),
                                   noise(extent[0] * extent[1], seed))},
       {.name = "y.npy",
        .content = test::npy_bytes(test::npy_dictionary("<i8", "(1,)"), byte_vector(8))}});
}

/// A record in its frame, with checksums that do not take long.
void append_framed(byte_vector& file, const byte_vector& record) {
  const auto masked = [](const byte_vector& bytes) {
    const std::uint32_t crc = detail::crc32c(bytes);
    return test::memory_of<std::uint32_t>({(crc >> 15U | crc << 17U) + 0xa282ead8U});
  };
  const byte_vector length = test::memory_of<std::uint64_t>({record.size()});
  const byte_vector length_crc = masked(length);
  const byte_vector crc = masked(record);
  for (const byte_vector* part : {&length, &length_crc, &record, &crc})
    file.insert(file.end(), part->begin(), part->end());
}

byte_vector tfrecord_file(std::array<std::uint64_t, 2> extent, std::uint64_t count,
                          std::uint64_t first) {
  const std::uint64_t bytes = extent[0] * extent[1];
  byte_vector file;
  file.reserve(count * (bytes + 100));
  for (std::uint64_t i = 0; i < count; ++i)
    append_framed(
        file,
        records::example({{"image", records::bytes_feature({noise(bytes, first + i)})},
                          {"size", records::int64_feature({static_cast<std::int64_t>(bytes)})}}));
  return file;
}

byte_vector jpeg_file(std::array<std::uint64_t, 2> extent, std::uint64_t seed) {
  const byte_vector grey = noise(extent[0] * extent[1], seed);
  test::pixels image{.height = static_cast<std::uint32_t>(extent[0]),
                     .width = static_cast<std::uint32_t>(extent[1]),
                     .channels = 1,
                     .values = std::vector<std::uint8_t>(grey.size())};
  std::memcpy(image.values.data(), grey.data(), grey.size());
  return test::jpeg_bytes(image, {.quality = 75});
}

std::string suffix(sample_form form) {
  switch (form) {
    case sample_form::npz:
      return ".npz";
    case sample_form::tfrecord:
      return ".tfrecord";
    case sample_form::bytes:
      return ".bin";
    case sample_form::jpeg:
      return ".jpeg";
    case sample_form::parquet:
      return ".parquet";
  }
  return {};
}

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file{path, std::ios::binary};
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error{"cannot write " + path.string()};
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

/// A file to make.
struct file_plan {
  std::filesystem::path path;
  std::array<std::uint64_t, 2> extent;
  std::uint64_t samples;
  std::uint64_t first;  ///< number of its first sample
};

byte_vector content_of(const workload& of, const file_plan& file) {
  switch (of.form) {
    case sample_form::npz:
      return npz_file(file.extent, file.first);
    case sample_form::tfrecord:
      return tfrecord_file(file.extent, file.samples, file.first);
    case sample_form::bytes:
      return noise(file.extent[0] * file.extent[1], file.first);
    case sample_form::jpeg:
      return jpeg_file(file.extent, file.first);
    case sample_form::parquet:
      return parquet_file(of, file.samples, file.first);
  }
  return {};
}

}  // namespace

made_data make_data(const workload& of, std::uint64_t samples,
                    const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  // Workloads with the same samples, but other accelerators, may share a folder.
  std::ostringstream what;
  what << of.model << (of.form == sample_form::bytes ? " as bytes, " : ", ") << samples
       << " samples of " << std::setprecision(12) << of.record_bytes << " +- " << of.record_stdev
       << " bytes\n";
  const auto note = folder / "made.txt";
  const std::string before = text_of(note);
  if (!before.empty() && before != what.str())
    throw usage_error{folder.string() + " has other samples: " + before +
                      "give another folder, or remove it"};
  made_data made{.samples = samples};
  extents sizes{of};
  std::string list;
  std::vector<file_plan> plans;
  for (std::uint64_t first = 0; first < samples; first += of.samples_per_file) {
    const std::uint64_t count = std::min(of.samples_per_file, samples - first);
    std::ostringstream name;
    name << "img_" << std::setw(7) << std::setfill('0') << made.files.size() << suffix(of.form);
    made.files.push_back(name.str());
    list += name.str() + " 0\n";
    plans.push_back({folder / name.str(), sizes.next(), count, first});
  }
  if (before.empty())
    detail::parallel_for(plans.size(),
                         [&](std::size_t i) { write(plans[i].path, content_of(of, plans[i])); });
  for (const file_plan& each : plans) made.bytes += std::filesystem::file_size(each.path);
  if (of.form == sample_form::bytes || of.form == sample_form::jpeg) {
    write(folder / "list.txt", std::as_bytes(std::span{list}));
    made.files = {"list.txt"};
  }
  write(note, std::as_bytes(std::span<const char>{what.str()}));
  return made;
}

}  // namespace feedline::bench
