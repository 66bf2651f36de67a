// Samples as datasets of an HDF5 file: in chunks of whole samples, compressed, as shuffled reading
// likes it.
//
// A conversion that is cut short leaves a file that can be gone on with: the library writes what
// describes the file only when it is flushed, at a checkpoint, and data goes to new places of the
// file. What is then found in the file is compared with the checkpoint's checksums all the same.

#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "programs/convert/output/hdf5_access.hpp"
#include "programs/convert/output/hdf5_calls.hpp"
#include "programs/convert/output/hdf5_type_of.hpp"
#include "programs/convert/output/output.hpp"
#include "programs/convert/output/packed_chunks.hpp"
#include "programs/convert/work/durable_file.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// Chunks take between this and half of it, if their rows are to be chosen: large enough to
/// compress well, small enough to be decoded in a core's cache, and for many of them to be mixed.
constexpr std::size_t max_chunk_bytes = std::size_t{192} << 10;

/// A field whose chunk would be smaller than this lies in one piece: quicker to find than to
/// decode.
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
          : std::bit_floor(std::max<std::uint64_t>(1, max_chunk_bytes / largest));
  return std::min(rows, what.samples);
}

void require_plugin(H5Z_filter_t filter, const char* name) {
  const feedline::detail::hdf5_session hdf5;
  if (H5Zfilter_avail(filter) > 0) return;
  throw feedline::usage_error{
      std::string{"the HDF5 library has no "} + name +
      " to compress with: install its plugin (hdf5-plugin-" + name +
      ") or name its folder in HDF5_PLUGIN_PATH, or take --compression deflate"};
}

/// One field, to be written.
struct column {
  hdf5_type_id type;
  hdf5_dataset_id dataset;
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

  // After a failed write the library could not close the file, and would damage what was flushed
  // before: it is left open, which leave_hdf5_as_it_is_at_exit makes last.
  ~hdf5_output() override {
    const hdf5_session hdf5{path_};
    if (is_writing_) {
      for (column& each : columns_) (void)each.dataset.release();
      (void)file_.release();
    }
    columns_.clear();
    file_ = {};
  }

  std::uint64_t unit() const noexcept override { return layout_.contiguous ? 1 : chunk_rows_; }

  void create() override {
    const hdf5_session hdf5{path_};
    file_ = required<hdf5_file_id>(
        hdf5, H5Fcreate(path_.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, hdf5_file_access(hdf5).get()),
        "create the file; check its folder and permissions");
    on_disk_.emplace(path_, durable_file::mode::open);
    for (const feedline::field& field : what_.fields) create(hdf5, field);
    reserve(hdf5, 0, 0);
  }

  void resume() override {
    const hdf5_session hdf5{path_};
    file_ = required<hdf5_file_id>(
        hdf5, H5Fopen(path_.c_str(), H5F_ACC_RDWR, hdf5_file_access(hdf5).get()),
        "open the unfinished file");
    on_disk_.emplace(path_, durable_file::mode::open);
    for (const feedline::field& field : what_.fields)
      columns_.push_back(
          {type_of(hdf5, field.type),
           required<hdf5_dataset_id>(
               hdf5, H5Dopen2(file_.get(), field.name.c_str(), hdf5_dataset_access(hdf5).get()),
               "open a dataset of the unfinished file"),
           is_packed_here(field)});
    reserve(hdf5, 0, 0);
  }

  void write(std::uint64_t first, std::uint64_t count,
             std::span<const std::span<const std::byte>> columns) override {
    is_writing_ = true;
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      if (columns_[f].packed_here) {
        write_packed(f, first, columns[f]);
      } else {
        write_plain(f, first, count, columns[f]);
      }
    }
    is_writing_ = false;
  }

  void sync() override {
    flush();
    on_disk_->sync();
  }

  void close() override {
    flush();
    {
      const hdf5_session hdf5{path_};
      columns_.clear();
      require(hdf5, H5Fclose(file_.release()), "close the file");
    }
    on_disk_->release_room();
    on_disk_->sync();
    on_disk_.reset();
  }

  feedline::dataset_ptr read_back() const override {
    std::vector<feedline::hdf5_field> fields;
    for (const feedline::field& field : what_.fields) fields.push_back({field.name, field.name});
    return feedline::open_hdf5(path_, std::move(fields));
  }

 private:
  void flush() {
    const hdf5_session hdf5{path_};
    is_writing_ = true;
    require(hdf5, H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "write the file out");
    is_writing_ = false;
  }

  /// Takes disk space for what is to be written next, so that the library never meets a full disk:
  /// for all that the file has a place for already, and these bytes behind it.
  void reserve(const hdf5_session& hdf5, std::uint64_t bytes, std::uint64_t chunks) {
    constexpr std::uint64_t index_bytes = 256;  // of a chunk, at most
    constexpr std::uint64_t header_bytes = 64 << 10;
    hsize_t end = 0;
    require(hdf5, H5Fget_filesize(file_.get(), &end), "tell the size of the file");
    end += bytes + chunks * index_bytes + header_bytes;
    if (end <= reserved_) return;
    on_disk_->reserve_room(reserved_, end - reserved_);
    reserved_ = end;
  }

  void write_plain(std::size_t f, std::uint64_t first, std::uint64_t count,
                   std::span<const std::byte> rows) {
    std::vector<hsize_t> counts{count};
    const auto& shape = what_.fields[f].shape;
    counts.insert(counts.end(), shape.begin(), shape.end());
    std::vector<hsize_t> start(counts.size(), 0);
    start[0] = first;
    const hdf5_session hdf5{path_};
    if (!is_contiguous(what_.fields[f])) {
      const std::uint64_t chunks = (count + chunk_rows_ - 1) / chunk_rows_;
      reserve(hdf5, chunks * chunk_rows_ * feedline::sample_bytes(what_.fields[f]), chunks);
    }
    const auto memory = required<hdf5_space_id>(
        hdf5, H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr),
        "describe samples");
    const auto space = required<hdf5_space_id>(hdf5, H5Dget_space(columns_[f].dataset.get()),
                                               "describe a dataset");
    require(hdf5,
            H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, counts.data(),
                                nullptr),
            "select samples");
    require(hdf5,
            H5Dwrite(columns_[f].dataset.get(), columns_[f].type.get(), memory.get(), space.get(),
                     H5P_DEFAULT, rows.data()),
            "write samples");
  }

  /// @param first Of a chunk.
  void write_packed(std::size_t f, std::uint64_t first, std::span<const std::byte> rows) {
    const feedline::field& field = what_.fields[f];
    const auto chunks = pack_chunks(rows, chunk_rows_ * feedline::sample_bytes(field),
                                    feedline::size_bytes(field.type), layout_.level);
    std::uint64_t bytes = 0;
    for (const packed_chunk& chunk : chunks) bytes += chunk.bytes.size();
    std::vector<hsize_t> start(1 + field.shape.size(), 0);
    start[0] = first;
    const hdf5_session hdf5{path_};
    reserve(hdf5, bytes, chunks.size());
    for (const packed_chunk& chunk : chunks) {
      require(hdf5,
              H5Dwrite_chunk(columns_[f].dataset.get(), H5P_DEFAULT, chunk.filter_mask,
                             start.data(), chunk.bytes.size(), chunk.bytes.data()),
              "write a chunk");
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

  void create(const hdf5_session& hdf5, const feedline::field& field) {
    constexpr auto prepare = "prepare a dataset";
    std::vector<hsize_t> extents{what_.samples};
    extents.insert(extents.end(), field.shape.begin(), field.shape.end());
    const auto rank = static_cast<int>(extents.size());
    const auto space = required<hdf5_space_id>(
        hdf5, H5Screate_simple(rank, extents.data(), nullptr), "describe a dataset of that shape");

    const auto storage = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_DATASET_CREATE), prepare);
    if (is_contiguous(field)) {
      require(hdf5, H5Pset_alloc_time(storage.get(), H5D_ALLOC_TIME_EARLY), prepare);
    } else {
      extents[0] = chunk_rows_;
      require(hdf5, H5Pset_chunk(storage.get(), rank, extents.data()),
              "store chunks of that size; take a smaller --chunk-rows");
      set_filters(hdf5, storage.get(), field);
    }
    require(hdf5, H5Pset_fill_time(storage.get(), H5D_FILL_TIME_NEVER), prepare);

    const auto link = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_LINK_CREATE), prepare);
    require(hdf5, H5Pset_create_intermediate_group(link.get(), 1), prepare);
    auto type = type_of(hdf5, field.type);
    auto dataset = required<hdf5_dataset_id>(
        hdf5,
        H5Dcreate2(file_.get(), field.name.c_str(), type.get(), space.get(), link.get(),
                   storage.get(), hdf5_dataset_access(hdf5).get()),
        "create a dataset of that name");
    columns_.push_back({std::move(type), std::move(dataset), is_packed_here(field)});
  }

  void set_filters(const hdf5_session& hdf5, hid_t storage, const feedline::field& field) const {
    if (layout_.filter == compression::none) return;
    if (feedline::size_bytes(field.type) > 1)
      require(hdf5, H5Pset_shuffle(storage), "shuffle bytes");
    const unsigned level = layout_.level;
    if (layout_.filter == compression::deflate)
      require(hdf5, H5Pset_deflate(storage, level), "compress with deflate");
    if (layout_.filter == compression::lz4)
      require(hdf5, H5Pset_filter(storage, lz4_filter, H5Z_FLAG_MANDATORY, 0, nullptr),
              "compress with lz4");
    if (layout_.filter == compression::zstd)
      require(hdf5, H5Pset_filter(storage, zstd_filter, H5Z_FLAG_MANDATORY, 1, &level),
              "compress with zstd");
  }

  fs::path path_;
  content what_;
  hdf5_layout layout_;
  std::uint64_t chunk_rows_;
  hdf5_file_id file_;
  std::vector<column> columns_;
  std::optional<durable_file> on_disk_;  ///< the same file
  std::uint64_t reserved_ = 0;           ///< so many of its bytes have room
  bool is_writing_ = false;              ///< still, at the end: a write failed
};

}  // namespace

void leave_hdf5_as_it_is_at_exit() {
  H5dont_atexit();
}

std::unique_ptr<output> make_hdf5_output(const fs::path& path, const content& what,
                                         const hdf5_layout& layout) {
  return std::make_unique<hdf5_output>(path, what, layout);
}

}  // namespace convert
