// Samples as datasets of an HDF5 file: in chunks of whole samples, compressed, as shuffled reading likes it.
//
// A conversion that is cut short leaves a file that can be gone on with: the library writes what
// describes the file only when it is flushed, at a checkpoint, and data goes to new places of the
// file. What is then found in the file is compared with the checkpoint's checksums all the same.

#include <feedline/dataset/hdf5_dataset.hpp>
#include <feedline/error.hpp>

#include "durable_file.hpp"
#include "hdf5_handle.hpp"
#include "hdf5_type_of.hpp"
#include "output.hpp"
#include "packed_chunks.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// Chunks take between this and half of it, if their rows are to be chosen: large enough to compress
/// well, small enough to be decoded in a core's cache, and for many of them to be mixed.
constexpr std::size_t most_chunk_bytes = std::size_t{192} << 10;

/// A field whose chunk would be smaller than this lies in one piece: quicker to find than to decode.
constexpr std::size_t least_chunk_bytes = 4096;

constexpr H5Z_filter_t lz4_filter = 32004;
constexpr H5Z_filter_t zstd_filter = 32015;

std::uint64_t chunk_rows_of(const content& what, const hdf5_layout& layout) {
  std::size_t largest = 1;
  for (const feedline::field& field : what.fields)
    largest = std::max(largest, feedline::sample_bytes(field));
  const std::uint64_t rows =
      layout.chunk_rows != 0
          ? layout.chunk_rows
          : std::bit_floor(std::max<std::uint64_t>(1, most_chunk_bytes / largest));
  return std::min(rows, what.samples);
}

void require_plugin(H5Z_filter_t filter, const char* name) {
  if (H5Zfilter_avail(filter) > 0) return;
  throw feedline::usage_error{
      std::string{"the HDF5 library has no "} + name +
      " to compress with: install its plugin (hdf5-plugin-" + name +
      ") or name its folder in HDF5_PLUGIN_PATH, or take --compression deflate"};
}

/// One field, to be written.
struct column {
  hdf5_handle type;
  hdf5_handle dataset;
  bool packed_here;  ///< in chunks whose filters are not the library's work
};

class hdf5_output final : public output {
 public:
  hdf5_output(fs::path path, const content& what, const hdf5_layout& layout)
      : path_{std::move(path)},
        what_{what},
        layout_{layout},
        chunk_rows_{chunk_rows_of(what, layout)} {
    if (layout_.contiguous) return;
    if (layout_.filter == compression::lz4) require_plugin(lz4_filter, "lz4");
    if (layout_.filter == compression::zstd) require_plugin(zstd_filter, "zstd");
  }

  std::uint64_t unit() const noexcept override { return layout_.contiguous ? 1 : chunk_rows_; }

  void create() override {
    const hdf5_handle access = file_access();
    file_.emplace("create the file; check its folder and permissions",
                  H5Fcreate(path_.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access), H5Fclose);
    for (const feedline::field& field : what_.fields) create(field);
  }

  void resume() override {
    const hdf5_handle access = file_access();
    file_.emplace("open the unfinished file", H5Fopen(path_.c_str(), H5F_ACC_RDWR, access),
                  H5Fclose);
    for (const feedline::field& field : what_.fields)
      columns_.push_back({type_of(field.type),
                          {"open a dataset of the unfinished file",
                           H5Dopen2(*file_, field.name.c_str(), dataset_access()), H5Dclose},
                          is_packed_here(field)});
  }

  void write(std::uint64_t first, std::uint64_t count,
             std::span<const std::span<const std::byte>> columns) override {
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      if (columns_[f].packed_here) {
        write_packed(f, first, columns[f]);
      } else {
        write_plain(f, first, count, columns[f]);
      }
    }
  }

  void sync() override {
    require(H5Fflush(*file_, H5F_SCOPE_GLOBAL), "write the file out; is the disk full?");
    durable_file{path_, durable_file::mode::open}.sync();
  }

  void close() override {
    columns_.clear();
    file_.reset();
    durable_file{path_, durable_file::mode::open}.sync();
  }

  feedline::dataset_ptr read_back() const override {
    std::vector<feedline::hdf5_field> fields;
    for (const feedline::field& field : what_.fields) fields.push_back({field.name, field.name});
    return feedline::open_hdf5(path_, std::move(fields));
  }

 private:
  static hdf5_handle file_access() {
    hdf5_handle access{"prepare a file", H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
    require(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "prepare a file");
    H5AC_cache_config_t config{};
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    require(H5Pget_mdc_config(access, &config), "prepare a file");
    config.evictions_enabled = 0;  // nothing is written between two flushes but data
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    require(H5Pset_mdc_config(access, &config), "prepare a file");
    return access;
  }

  /// Whole chunks are written at once: a cache would only copy them.
  static hdf5_handle dataset_access() {
    hdf5_handle access{"prepare a dataset", H5Pcreate(H5P_DATASET_ACCESS), H5Pclose};
    require(H5Pset_chunk_cache(access, 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT), "prepare a dataset");
    return access;
  }

  void write_plain(std::size_t f, std::uint64_t first, std::uint64_t count,
                   std::span<const std::byte> rows) const {
    std::vector<hsize_t> counts{count};
    const auto& shape = what_.fields[f].shape;
    counts.insert(counts.end(), shape.begin(), shape.end());
    std::vector<hsize_t> start(counts.size(), 0);
    start[0] = first;
    const hdf5_handle memory{
        "describe samples",
        H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr), H5Sclose};
    const hdf5_handle space{"describe a dataset", H5Dget_space(columns_[f].dataset), H5Sclose};
    require(
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, counts.data(), nullptr),
        "select samples");
    require(
        H5Dwrite(columns_[f].dataset, columns_[f].type, memory, space, H5P_DEFAULT, rows.data()),
        "write samples; is the disk full?");
  }

  /// @param first Of a chunk.
  void write_packed(std::size_t f, std::uint64_t first, std::span<const std::byte> rows) const {
    const feedline::field& field = what_.fields[f];
    const auto chunks = pack_chunks(rows, chunk_rows_ * feedline::sample_bytes(field),
                                    feedline::size_bytes(field.type), layout_.level);
    std::vector<hsize_t> start(1 + field.shape.size(), 0);
    start[0] = first;
    for (const packed_chunk& chunk : chunks) {
      require(H5Dwrite_chunk(columns_[f].dataset, H5P_DEFAULT, chunk.filter_mask, start.data(),
                             chunk.bytes.size(), chunk.bytes.data()),
              "write a chunk; is the disk full?");
      start[0] += chunk_rows_;
    }
  }

  /// Whether a field lies in one piece.
  bool is_contiguous(const feedline::field& field) const {
    return layout_.contiguous || (layout_.chunk_rows == 0 &&
                                  chunk_rows_ * feedline::sample_bytes(field) < least_chunk_bytes);
  }

  bool is_packed_here(const feedline::field& field) const {
    return !is_contiguous(field) && layout_.filter == compression::deflate;
  }

  void create(const feedline::field& field) {
    std::vector<hsize_t> extents{what_.samples};
    extents.insert(extents.end(), field.shape.begin(), field.shape.end());
    const auto rank = static_cast<int>(extents.size());
    const hdf5_handle space{"describe a dataset of that shape",
                            H5Screate_simple(rank, extents.data(), nullptr), H5Sclose};

    const hdf5_handle storage{"prepare a dataset", H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
    const bool small =
        chunk_rows_ * feedline::sample_bytes(field) < least_chunk_bytes && layout_.chunk_rows == 0;
    if (layout_.contiguous || small) {
      require(H5Pset_alloc_time(storage, H5D_ALLOC_TIME_EARLY), "prepare a dataset");
    } else {
      extents[0] = chunk_rows_;
      require(H5Pset_chunk(storage, rank, extents.data()),
              "store chunks of that size; take a smaller --chunk-rows");
      set_filters(storage, field);
    }
    require(H5Pset_fill_time(storage, H5D_FILL_TIME_NEVER), "prepare a dataset");

    const hdf5_handle link{"prepare a dataset", H5Pcreate(H5P_LINK_CREATE), H5Pclose};
    require(H5Pset_create_intermediate_group(link, 1), "prepare a dataset");
    hdf5_handle type = type_of(field.type);
    hdf5_handle dataset{
        "create a dataset of that name",
        H5Dcreate2(*file_, field.name.c_str(), type, space, link, storage, dataset_access()),
        H5Dclose};
    columns_.push_back({std::move(type), std::move(dataset), is_packed_here(field)});
  }

  void set_filters(hid_t storage, const feedline::field& field) const {
    if (layout_.filter == compression::none) return;
    if (feedline::size_bytes(field.type) > 1) require(H5Pset_shuffle(storage), "shuffle bytes");
    const unsigned level = layout_.level;
    if (layout_.filter == compression::deflate)
      require(H5Pset_deflate(storage, level), "compress with deflate");
    if (layout_.filter == compression::lz4)
      require(H5Pset_filter(storage, lz4_filter, H5Z_FLAG_MANDATORY, 0, nullptr),
              "compress with lz4");
    if (layout_.filter == compression::zstd)
      require(H5Pset_filter(storage, zstd_filter, H5Z_FLAG_MANDATORY, 1, &level),
              "compress with zstd");
  }

  fs::path path_;
  content what_;
  hdf5_layout layout_;
  std::uint64_t chunk_rows_;
  std::optional<hdf5_handle> file_;
  std::vector<column> columns_;  // go before their file
};

}  // namespace

std::unique_ptr<output> make_hdf5_output(const fs::path& path, const content& what,
                                         const hdf5_layout& layout) {
  return std::make_unique<hdf5_output>(path, what, layout);
}

}  // namespace convert
