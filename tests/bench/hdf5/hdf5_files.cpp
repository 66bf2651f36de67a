#include "bench/hdf5/hdf5_files.hpp"

#include "bench/support/measure.hpp"
#include "hdf5/filter/filters.hpp"
#include "hdf5/library/handle.hpp"
#include "support/hdf5/writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

namespace feedline::bench {
namespace {

using namespace test;
using detail::hdf5_dataset_id;
using detail::hdf5_file_id;
using detail::hdf5_space_id;

constexpr int deflate_level = 4;
constexpr std::uint64_t least_chunks = 8192;
constexpr std::size_t chunk_bytes = 64 << 10;

std::uint64_t row_bytes(const shape& shape) {
  return sample_bytes(shape) - 1;
}

extent_vector extents_of(const shape& shape, std::uint64_t samples) {
  extent_vector extents{samples};
  extents.insert(extents.end(), shape.row.begin(), shape.row.end());
  return extents;
}

/// Deflates whole chunks of the rows, on all cores.
std::vector<std::vector<std::byte>> deflate_all(const std::vector<std::uint8_t>& images,
                                                std::size_t bytes) {
  std::vector<std::vector<std::byte>> stored(images.size() / bytes);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < std::max(std::thread::hardware_concurrency(), 1U); ++thread)
    running.emplace_back([&] {
      for (std::size_t at = next++; at < stored.size(); at = next++) {
        uLongf size = ::compressBound(bytes);
        stored[at].resize(size);
        if (::compress2(reinterpret_cast<Bytef*>(stored[at].data()), &size,
                        images.data() + at * bytes, bytes, deflate_level) != Z_OK)
          failed = true;
        stored[at].resize(size);
      }
    });
  for (auto& thread : running) thread.join();
  if (failed) throw std::runtime_error{"zlib cannot compress"};
  return stored;
}

class row_by_row final : public dataset {
 public:
  row_by_row(const std::filesystem::path& file, const shape& shape)
      : shape_{shape}, file_{H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)} {
    for (const char* name : {"image", "label"}) {
      datasets_.emplace_back(H5Dopen2(file_.get(), name, H5P_DEFAULT));
      require_hdf5(static_cast<bool>(datasets_.back()), "open the dataset again");
    }
  }

  std::uint64_t size() const override { return shape_.samples; }
  std::vector<field> fields() const override {
    return {{"image", element_type::u8, shape_.row}, {"label", element_type::u8, {}}};
  }
  read_concurrency concurrency() const override { return read_concurrency::serialized; }

  void do_read(const read_request& request) const override {
    for (std::size_t field = 0; field < datasets_.size(); ++field) {
      const std::size_t bytes = request.out[field].size() / request.samples.size();
      for (std::size_t i = 0; i < request.samples.size(); ++i)
        read_row(datasets_[field].get(), field == 0, request.samples[i].value,
                 request.out[field].data() + i * bytes);
    }
  }

 private:
  void read_row(hid_t from, bool image, std::uint64_t row, std::byte* out) const {
    extent_vector count{1};
    if (image) count = extents_of(shape_, 1);
    extent_vector start(count.size(), 0);
    start[0] = row;
    const hdf5_space_id space{H5Dget_space(from)};
    const hdf5_space_id memory{
        H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr)};
    require_hdf5(
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr) >= 0 &&
            H5Dread(from, H5T_NATIVE_UINT8, memory.get(), space.get(), H5P_DEFAULT, out) >= 0,
        "read a row");
  }

  shape shape_;
  hdf5_file_id file_;
  std::vector<hdf5_dataset_id> datasets_ = {};
};

}  // namespace

drawn_rows draw_rows(const shape& shape) {
  drawn_rows rows{std::vector<std::uint8_t>(row_bytes(shape) * shape.samples),
                  std::vector<std::uint8_t>(shape.samples)};
  std::mt19937_64 random{1};
  for (std::size_t at = 0; at < rows.images.size();) {
    const std::uint64_t bits = random();
    at += 8 + bits % 24;  // background
    std::uint64_t ink = random();
    for (std::size_t stroke = 2 + (bits >> 8) % 5; stroke > 0 && at < rows.images.size();
         --stroke, ink >>= 8)
      rows.images[at++] = static_cast<std::uint8_t>(ink);
  }
  for (auto& label : rows.labels) label = static_cast<std::uint8_t>(random() % 10);
  return rows;
}

std::uint64_t samples_per_chunk(const shape& shape) {
  return std::max<std::uint64_t>(chunk_bytes / row_bytes(shape), 1);
}

std::string to_string(hdf5_kind kind) {
  switch (kind) {
    case hdf5_kind::contiguous:
      return "contiguous";
    case hdf5_kind::chunks:
      return "chunks";
  }
  return {};
}

std::filesystem::path write_hdf5(const std::filesystem::path& folder, const shape& shape,
                                 const drawn_rows& rows, hdf5_kind kind) {
  hdf5_writer writer{folder / (shape.name + "_" + to_string(kind) + ".h5")};
  hdf5_layout layout;
  if (kind == hdf5_kind::chunks) layout = chunked("", extents_of(shape, samples_per_chunk(shape)));
  writer.write("image", H5T_STD_U8LE, extents_of(shape, shape.samples), H5T_NATIVE_UINT8,
               rows.images.data(), layout);
  writer.write("label", H5T_STD_U8LE, {shape.samples}, H5T_NATIVE_UINT8, rows.labels.data());
  return writer.close();
}

dataset_ptr open_row_by_row(const std::filesystem::path& file, const shape& shape) {
  return std::make_shared<const row_by_row>(file, shape);
}

deflated_file write_deflated(const std::filesystem::path& folder, const shape& shape,
                             const drawn_rows& rows) {
  const std::uint64_t per_chunk = samples_per_chunk(shape);
  deflated_file written{.path = folder / (shape.name + "_deflate.h5")};
  written.stored = deflate_all(rows.images, per_chunk * row_bytes(shape));
  const std::uint64_t copies = std::max<std::uint64_t>(least_chunks / written.stored.size(), 1);
  written.chunks = written.stored.size() * copies;
  written.samples = written.chunks * per_chunk;

  hdf5_writer writer{written.path};
  const auto layout = chunked("", extents_of(shape, per_chunk), [](hid_t creation) {
    require_hdf5(H5Pset_deflate(creation, deflate_level) >= 0, "deflate");
  });
  const auto extents = extents_of(shape, written.samples);
  const auto images = writer.make("image", H5T_STD_U8LE, extents, layout);
  extent_vector place(extents.size(), 0);
  for (std::uint64_t number = 0; number < written.chunks; ++number, place[0] += per_chunk)
    writer.write_chunk(images.get(), place, written.stored[number % written.stored.size()]);
  std::vector<std::uint8_t> labels(written.samples);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = rows.labels[i % rows.labels.size()];
  writer.write("label", H5T_STD_U8LE, {written.samples}, H5T_NATIVE_UINT8, labels.data());
  return written;
}

double decode_bound(const shape& shape, const deflated_file& file, int threads, double seconds) {
  const std::size_t bytes = samples_per_chunk(shape) * row_bytes(shape);
  const detail::hdf5_filters filters{{{.id = 1, .name = "deflate", .values = {deflate_level}}}};
  std::atomic<std::uint64_t> decoded{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> running;
  const auto start = clock_type::now();
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      detail::hdf5_decoder decoder;
      std::vector<std::byte> out(bytes);
      std::uint64_t mine = 0;
      for (auto at = static_cast<std::size_t>(thread) * 37; !over.load(std::memory_order_relaxed);
           ++at, ++mine)
        filters.decode(file.stored[at % file.stored.size()], 0, false, decoder, out);
      decoded += mine;
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  over = true;
  for (auto& thread : running) thread.join();
  return static_cast<double>(decoded.load() * samples_per_chunk(shape)) / seconds_since(start);
}

}  // namespace feedline::bench
