// Samples as datasets of an HDF5 file: in chunks of whole samples, compressed, as shuffled reading
// likes it.
//
// A conversion that is cut short leaves a file that can be continued: the library writes the file's
// metadata only when it is flushed, at a checkpoint, and appends data. The data is still compared
// with the checkpoint's checksums before the conversion continues.

#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "programs/convert/output/chunk_packer.hpp"
#ifdef FEEDLINE_HAS_JSON
#include "programs/convert/output/hdf5_attributes.hpp"
#endif
#include "programs/convert/output/hdf5_column.hpp"
#include "programs/convert/output/output.hpp"

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

/// Access properties of a file being written: its metadata is written only when it is flushed.
hdf5_properties_id hdf5_file_access(const hdf5_session& hdf5) {
  constexpr auto prepare = "prepare a file";
  auto access = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_FILE_ACCESS), prepare);
  require(hdf5, H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), prepare);
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  require(hdf5, H5Pget_mdc_config(access.get(), &config), prepare);
  config.evictions_enabled = false;  // nothing is written between two flushes but data
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  require(hdf5, H5Pset_mdc_config(access.get(), &config), prepare);
  return access;
}

class hdf5_output final : public output {
 public:
  hdf5_output(fs::path path, const content& what, const hdf5_layout& layout)
      : path_{std::move(path)},
        what_{what},
        layout_{layout},
        chunk_rows_{chunk_rows_of(what, layout)} {
    require_filter(layout_);
  }

  // After a failed write the library could not close the file, and would damage what was flushed
  // before: it is left open, which leave_hdf5_as_it_is_at_exit makes last.
  ~hdf5_output() override {
    const hdf5_session hdf5{path_};
    if (is_writing_) {
      for (hdf5_column& each : columns_) (void)each.dataset.release();
      (void)file_.release();
    }
    columns_.clear();
    file_ = {};
  }

  std::uint64_t unit() const noexcept override { return layout_.contiguous ? 1 : chunk_rows_; }

  void open(durable_file::mode how) override {
    const hdf5_session hdf5{path_};
    const hdf5_properties_id access = hdf5_file_access(hdf5);
    if (how == durable_file::mode::create)
      file_ = required<hdf5_file_id>(
          hdf5, H5Fcreate(path_.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()),
          "create the file; check its folder and permissions");
    else
      file_ = required<hdf5_file_id>(hdf5, H5Fopen(path_.c_str(), H5F_ACC_RDWR, access.get()),
                                     "open the unfinished file");
    on_disk_.emplace(path_, durable_file::mode::open);
    for (const feedline::field& field : what_.fields)
      columns_.push_back(
          open_column(hdf5, file_.get(), how, field, what_.samples, layout_, chunk_rows_));
    if (how == durable_file::mode::create) write_attributes(hdf5);
    reserve(hdf5, 0, 0);
  }

  void write(std::uint64_t first, std::uint64_t count,
             std::span<const std::span<const std::byte>> columns) override {
    is_writing_ = true;
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      if (columns_[f].is_packed_here) {
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
    on_disk_->resize(fs::file_size(path_));
    on_disk_->sync();
    on_disk_.reset();
  }

  feedline::dataset_ptr read_back() const override {
    std::vector<feedline::hdf5_field> fields;
    for (const feedline::field& field : what_.fields) fields.push_back({field.name, field.name});
    return feedline::open_hdf5(path_, std::move(fields),
                               {.conventions = feedline::value_conventions::ignore});
  }

 private:
  void write_attributes([[maybe_unused]] const hdf5_session& hdf5) {
#ifdef FEEDLINE_HAS_JSON
    const carried_attributes& carried = what_.carried;
    for (std::size_t f = 0; f < carried.fields.size(); ++f)
      write_hdf5_attributes(hdf5, columns_[f].dataset.get(), carried.fields[f], &what_.fields[f],
                            columns_[f].type.get());
    const auto write_group = [&](const std::string& path, const attributes& of) {
      const auto group = required<feedline::detail::hdf5_object_id>(
          hdf5, H5Oopen(file_.get(), path.c_str(), H5P_DEFAULT), "open a group");
      write_hdf5_attributes(hdf5, group.get(), of, nullptr, H5I_INVALID_HID);
    };
    write_group("/", carried.whole);
    for (const auto& [path, of] : carried.groups) write_group(path, of);
#endif
  }

  void flush() {
    const hdf5_session hdf5{path_};
    is_writing_ = true;
    require(hdf5, H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "write the file out");
    is_writing_ = false;
  }

  /// Reserves disk space for the next writes, so that the library never meets a full disk: for
  /// everything that the file has allocated, and for these bytes after it.
  void reserve(const hdf5_session& hdf5, std::uint64_t bytes, std::uint64_t chunks) {
    constexpr std::uint64_t index_bytes = 256;  // upper limit for a chunk
    constexpr std::uint64_t header_bytes = 64 << 10;
    hsize_t end = 0;
    require(hdf5, H5Fget_filesize(file_.get(), &end), "tell the size of the file");
    end += bytes + chunks * index_bytes + header_bytes;
    if (end <= reserved_) return;
    on_disk_->reserve(reserved_, end - reserved_);
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
    if (!columns_[f].is_contiguous) {
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

  /// @param first First row of a chunk.
  void write_packed(std::size_t f, std::uint64_t first, std::span<const std::byte> rows) {
    const feedline::field& field = what_.fields[f];
    const auto chunks = pack_chunks(rows, chunk_rows_ * feedline::sample_bytes(field),
                                    feedline::size_bytes(field.type), layout_);
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

  fs::path path_;
  content what_;
  hdf5_layout layout_;
  std::uint64_t chunk_rows_;
  hdf5_file_id file_;
  std::vector<hdf5_column> columns_;
  std::optional<durable_file> on_disk_;  ///< the same file
  std::uint64_t reserved_ = 0;           ///< this many of its bytes have room
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
