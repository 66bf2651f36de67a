// Converts a pair of IDX files, such as MNIST's, to one HDF5 file: reading through a feedline
// dataset in long runs, and writing with the HDF5 library.
//
// Build:  cmake --preset release && cmake --build --preset release --target idx_to_hdf5
// Run:    build/release/samples/idx_to_hdf5 --images data/digits/train-images-idx3-ubyte
//             --labels data/digits/train-labels-idx1-ubyte --output train.h5 --gzip 4
// Expect: train.h5: 60000 samples
//           image: uint8[28, 28]
//           label: uint8[]
//
// Each field becomes a dataset of that name at the file's root, its first dimension the samples:
// what feedline::open_hdf5("train.h5", {{"image"}, {"label"}}) takes.

#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/idx_dataset.hpp>

#include <CLI/CLI.hpp>
#include <hdf5.h>
#include <system_error>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

struct conversion {
  std::string images;
  std::string labels;
  std::string output;
  std::uint64_t chunk_rows = 64;
  unsigned gzip = 0;
};

/// An id of the HDF5 library, closed at the end of its scope.
class handle {
 public:
  handle(const char* what, hid_t id, herr_t (*close)(hid_t)) : id_{id}, close_{close} {
    if (id < 0) throw std::runtime_error{std::string{"the HDF5 library cannot "} + what};
  }
  handle(handle&& other) noexcept
      : id_{std::exchange(other.id_, H5I_INVALID_HID)}, close_{other.close_} {}
  handle& operator=(handle&&) = delete;
  ~handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void require(herr_t status, const char* what) {
  if (status < 0) throw std::runtime_error{std::string{"the HDF5 library cannot "} + what};
}

hid_t type_in_memory(feedline::element_type type) {
  using enum feedline::element_type;
  switch (type) {
    case u8:
      return H5T_NATIVE_UINT8;
    case i8:
      return H5T_NATIVE_INT8;
    case i16:
      return H5T_NATIVE_INT16;
    case i32:
      return H5T_NATIVE_INT32;
    case f32:
      return H5T_NATIVE_FLOAT;
    case f64:
      return H5T_NATIVE_DOUBLE;
    default:
      throw std::logic_error{"IDX has no elements of type " +
                             std::string{feedline::to_string(type)}};
  }
}

/// A dataset for one field, stored in chunks of whole rows.
handle create(hid_t file, const feedline::field& field, std::uint64_t samples,
              const conversion& job) {
  std::vector<hsize_t> extents{samples};
  extents.insert(extents.end(), field.shape.begin(), field.shape.end());
  const auto rank = static_cast<int>(extents.size());
  const handle space{"describe the shape", H5Screate_simple(rank, extents.data(), nullptr),
                     H5Sclose};

  std::vector<hsize_t> chunk = extents;
  chunk[0] = std::min<hsize_t>(samples, job.chunk_rows);
  const handle storage{"describe the storage", H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  require(H5Pset_chunk(storage, rank, chunk.data()), "store chunks of that size");
  if (job.gzip > 0) require(H5Pset_deflate(storage, job.gzip), "compress");

  return {"create a dataset",
          H5Dcreate2(file, field.name.c_str(), type_in_memory(field.type), space, H5P_DEFAULT,
                     storage, H5P_DEFAULT),
          H5Dclose};
}

/// Writes rows first, first + 1, … of a field.
void write_rows(hid_t dataset, const feedline::field& field, std::uint64_t first,
                std::uint64_t count, const std::vector<std::byte>& rows) {
  std::vector<hsize_t> start(1 + field.shape.size(), 0);
  std::vector<hsize_t> counts{count};
  counts.insert(counts.end(), field.shape.begin(), field.shape.end());
  start[0] = first;
  const handle memory{"describe the rows",
                      H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr),
                      H5Sclose};
  const handle space{"describe the dataset", H5Dget_space(dataset), H5Sclose};
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, counts.data(), nullptr),
          "select rows");
  require(H5Dwrite(dataset, type_in_memory(field.type), memory, space, H5P_DEFAULT, rows.data()),
          "write rows; is the disk full?");
}

/// Copies all samples, a few megabytes at a time: whole chunks, each written once.
void convert(const feedline::dataset& from, hid_t file, const conversion& job) {
  const auto fields = from.fields();
  std::vector<handle> datasets;
  std::size_t sample_bytes = 0;
  for (const auto& field : fields) {
    datasets.push_back(create(file, field, from.size(), job));
    sample_bytes += feedline::sample_bytes(field);
  }
  const std::uint64_t chunks_a_run =
      std::max<std::uint64_t>(1, (4 << 20) / sample_bytes / job.chunk_rows);
  const std::uint64_t run = std::min(from.size(), chunks_a_run * job.chunk_rows);

  for (std::uint64_t first = 0; first < from.size(); first += run) {
    const std::uint64_t count = std::min(run, from.size() - first);
    std::vector<feedline::sample_index> samples;
    for (std::uint64_t i = 0; i < count; ++i) samples.push_back({first + i});
    std::vector<std::vector<std::byte>> rows;
    for (const auto& field : fields) rows.emplace_back(count * feedline::sample_bytes(field));
    const std::vector<std::span<std::byte>> out(rows.begin(), rows.end());
    from.read(samples, out);
    for (std::size_t i = 0; i < fields.size(); ++i)
      write_rows(datasets[i], fields[i], first, count, rows[i]);
  }
}

void run(const conversion& job) {
  const auto digits = feedline::open_idx(job.images, job.labels);

  // Under another name until it is whole: no half a file stays behind, no good one is lost.
  const std::string unfinished = job.output + ".part";
  try {
    const handle file{"create the output; check its folder and permissions",
                      H5Fcreate(unfinished.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                      H5Fclose};
    convert(*digits, file, job);
    require(H5Fflush(file, H5F_SCOPE_GLOBAL), "write the file out; is the disk full?");
  } catch (const std::exception& error) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw std::runtime_error{job.output + ": " + error.what()};
  }
  std::filesystem::rename(unfinished, job.output);

  std::cout << job.output << ": " << digits->size() << " samples\n";
  for (const auto& field : digits->fields()) std::cout << "  " << to_string(field) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  conversion job;
  CLI::App app{"Converts a pair of IDX files to one HDF5 file with datasets 'image' and 'label'."};
  app.add_option("--images", job.images, "IDX file of the images; may be gzip-compressed")
      ->required();
  app.add_option("--labels", job.labels, "IDX file of the labels; may be gzip-compressed")
      ->required();
  app.add_option("--output", job.output, "HDF5 file to write; replaced if it exists")->required();
  app.add_option("--chunk-rows", job.chunk_rows, "samples in a chunk")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
  app.add_option("--gzip", job.gzip, "compression, 1 to 9; 0 is none")
      ->capture_default_str()
      ->check(CLI::Range(0, 9));
  CLI11_PARSE(app, argc, argv);

  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // one line of our own, no stack of the library's
  try {
    run(job);
  } catch (const std::exception& error) {
    std::cerr << "idx_to_hdf5: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
