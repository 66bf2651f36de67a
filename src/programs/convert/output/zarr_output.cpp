// Over 250 lines: one class, an output that is written in order.

// Samples as arrays of a Zarr store: a folder for each field, in chunks of whole samples, one
// object a chunk, as zarr-python writes them by default.

#include <feedline/error.hpp>
#include <feedline/formats/zarr.hpp>

#include "detail/threads.hpp"
#include "programs/convert/output/compress.hpp"
#include "programs/convert/output/output.hpp"
#include "programs/convert/output/zarr_chunk.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// Chunks take between this and half of it, if their rows are to be chosen.
constexpr std::size_t chosen_chunk_bytes = std::size_t{2} << 20;
/// The input's chunks are kept up to this size.
constexpr std::size_t max_kept_bytes = std::size_t{256} << 20;

struct zarr_type_names {
  const char* v3;
  const char* v2;  ///< without the byte order; null: it has none
};

/// In the order of the types' values.
constexpr std::array<zarr_type_names, 13> zarr_names{{{"uint8", "u1"},
                                                      {"int8", "i1"},
                                                      {"uint16", "u2"},
                                                      {"int16", "i2"},
                                                      {"uint32", "u4"},
                                                      {"int32", "i4"},
                                                      {"uint64", "u8"},
                                                      {"int64", "i8"},
                                                      {"float16", "f2"},
                                                      {"bfloat16", nullptr},
                                                      {"float32", "f4"},
                                                      {"float64", "f8"},
                                                      {"bool", "b1"}}};

const zarr_type_names& zarr_names_of(const feedline::field& field) {
  return zarr_names[static_cast<std::size_t>(field.type)];
}

std::uint64_t zarr_chunk_rows(const content& what, const hdf5_layout& layout) {
  std::size_t largest = 1;
  for (const feedline::field& field : what.fields)
    largest = std::max(largest, feedline::sample_bytes(field));
  std::uint64_t rows = layout.chunk_rows;
  if (rows == 0 && what.chunk_rows > 1 && what.chunk_rows <= max_kept_bytes / largest)
    rows = what.chunk_rows;
  if (rows == 0) rows = std::bit_floor(std::max<std::uint64_t>(1, chosen_chunk_bytes / largest));
  return std::min(rows, what.samples);
}

std::string json_list(std::uint64_t first, const std::vector<std::uint64_t>& others) {
  std::string text = '[' + std::to_string(first);
  for (const std::uint64_t extent : others) text += ", " + std::to_string(extent);
  return text + ']';
}

class zarr_output final : public output {
 public:
  zarr_output(fs::path folder, const content& what, const job& job)
      : folder_{std::move(folder)},
        what_{what},
        layout_{job.layout},
        is_v3_{job.to == format::zarr},
        chunk_rows_{zarr_chunk_rows(what, job.layout)} {
    if (!can_compress(layout_.filter))
      throw feedline::usage_error{
          "--compression: this feedline-convert was built without that library; take deflate or "
          "none"};
    if (layout_.contiguous)
      throw feedline::usage_error{"--contiguous: a Zarr store has chunks; leave it out"};
    for (const feedline::field& field : what_.fields) {
      if (!is_path(field.name))
        throw feedline::usage_error{"field '" + field.name +
                                    "' cannot name an array of a Zarr store: rename it with "
                                    "NAME=PATH"};
      for (const feedline::field& other : what_.fields)
        if (other.name.starts_with(field.name + '/'))
          throw feedline::usage_error{"field '" + field.name + "' is an array, and cannot be the " +
                                      "group of '" + other.name + "': rename one with NAME=PATH"};
      if (!is_v3_ && zarr_names_of(field).v2 == nullptr)
        throw feedline::usage_error{"field " + feedline::to_string(field) +
                                    " cannot be written in version 2 of Zarr, which has no such "
                                    "type; take --to zarr"};
    }
  }

  std::uint64_t unit() const noexcept override { return chunk_rows_; }

  void open(durable_file::mode how) override {
    if (how == durable_file::mode::open) return;
    fs::create_directory(folder_);
    put_group({}, what_.carried.whole);
    std::set<std::string> groups;
    for (std::size_t f = 0; f < what_.fields.size(); ++f) {
      const feedline::field& field = what_.fields[f];
      for (std::size_t at = field.name.find('/'); at != std::string::npos;
           at = field.name.find('/', at + 1))
        if (const std::string group = field.name.substr(0, at); groups.insert(group).second) {
          fs::create_directory(folder_ / group);
          const auto found = what_.carried.groups.find(group);
          put_group(group, found == what_.carried.groups.end() ? attributes{} : found->second);
        }
      const fs::path array = folder_ / field.name;
      fs::create_directory(array);
      const attributes own =
          f < what_.carried.fields.size() ? what_.carried.fields[f] : attributes{};
      put(array / (is_v3_ ? "zarr.json" : ".zarray"),
          is_v3_ ? v3_of(field, own) : v2_of(field, own));
      if (!is_v3_) put(array / ".zattrs", zarr_attributes_json(own, field, false));
      if (is_v3_) fs::create_directory(array / "c");
    }
  }

  void write(std::uint64_t first, std::uint64_t /*count*/,
             std::span<const std::span<const std::byte>> columns) override {
    for (std::size_t f = 0; f < columns.size(); ++f) {
      const feedline::field& field = what_.fields[f];
      const std::size_t chunk_bytes = chunk_rows_ * feedline::sample_bytes(field);
      const std::span<const std::byte> rows = columns[f];
      const std::size_t chunks = (rows.size() + chunk_bytes - 1) / chunk_bytes;
      for (std::size_t i = 0; i < chunks; ++i)
        unsynced_.push_back(path_of(field, first / chunk_rows_ + i));
      feedline::detail::parallel_for(chunks, [&](std::size_t i) {
        const auto left = rows.subspan(i * chunk_bytes);
        std::vector<std::byte> plain(chunk_bytes);  // zeros, the fill value, follow the last row
        std::copy_n(left.begin(), std::min(chunk_bytes, left.size()), plain.begin());
        const fs::path path = path_of(field, first / chunk_rows_ + i);
        if (is_v3_ && !field.shape.empty()) fs::create_directories(path.parent_path());
        put(path, compress_zarr_chunk(plain, layout_, is_v3_));
      });
    }
  }

  /// Files and folders written since the last call.
  void sync() override {
    feedline::detail::parallel_for(unsynced_.size(), [&](std::size_t i) {
      durable_file{unsynced_[i], durable_file::mode::open}.sync();
    });
    std::set<fs::path> folders;
    for (const fs::path& file : unsynced_)
      for (fs::path each = file.parent_path(); folders.insert(each).second && each != folder_;)
        each = each.parent_path();
    for (const fs::path& each : folders) sync_folder(each);
    unsynced_.clear();
  }

  void close() override { sync(); }

  feedline::dataset_ptr read_back() const override {
    std::vector<feedline::zarr_field> fields;
    for (const feedline::field& field : what_.fields) fields.push_back({field.name, field.name});
    return feedline::open_zarr(folder_.string(), std::move(fields));
  }

 private:
  /// Whether a name is a path of groups and an array, as Zarr allows.
  static bool is_path(const std::string& name) {
    if (name.find_first_of("\\\"\n") != std::string::npos) return false;
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = name.find('/', begin);
      const std::string part = name.substr(begin, end - begin);
      if (part.empty() || part[0] == '.' || part.starts_with("__") || part == "zarr.json")
        return false;
    }
    return true;
  }

  static void put(const fs::path& path, std::span<const std::byte> bytes) {
    durable_file{path, durable_file::mode::create}.write(0, bytes);
  }
  void put(const fs::path& path, const std::string& text) {
    put(path, std::as_bytes(std::span{text}));
    unsynced_.push_back(path);
  }

  void put_group(const std::string& path, const attributes& of) {
    const std::string json = zarr_attributes_json(of, {}, is_v3_);
    const fs::path folder = path.empty() ? folder_ : folder_ / path;
    put(folder / (is_v3_ ? "zarr.json" : ".zgroup"),
        is_v3_ ? R"({"attributes": )" + json + R"(, "zarr_format": 3, "node_type": "group"})"
               : R"({"zarr_format": 2})");
    if (!is_v3_ && json != "{}") put(folder / ".zattrs", json);
  }

  /// "FIELD/c/3/0/0", or "FIELD/3.0.0".
  [[nodiscard]] fs::path path_of(const feedline::field& field, std::uint64_t chunk) const {
    std::string key = (is_v3_ ? "c/" : "") + std::to_string(chunk);
    for (std::size_t d = 0; d < field.shape.size(); ++d) key += is_v3_ ? "/0" : ".0";
    return folder_ / field.name / key;
  }

  [[nodiscard]] std::string v3_of(const feedline::field& field, const attributes& own) const {
    const std::string fill = zarr_fill_json(own, field);
    const std::string names = zarr_dimensions_json(own, field);
    const char* const endian = std::endian::native == std::endian::little ? "little" : "big";
    const std::string bytes =
        feedline::size_bytes(field.type) == 1
            ? R"({"name": "bytes"})"
            : fmt::format(R"({{"name": "bytes", "configuration": {{"endian": "{}"}}}})", endian);
    return fmt::format(
        R"({{"shape": {}, "data_type": "{}", "chunk_grid": {{"name": "regular", "configuration": )"
        R"({{"chunk_shape": {}}}}}, "chunk_key_encoding": {{"name": "default", "configuration": )"
        R"({{"separator": "/"}}}}, "fill_value": {}, "codecs": [{}{}], "attributes": {}, )"
        R"({}"zarr_format": 3, "node_type": "array", "storage_transformers": []}})",
        json_list(what_.samples, field.shape), zarr_names_of(field).v3,
        json_list(chunk_rows_, field.shape), fill.empty() ? fill_of(field) : fill, bytes,
        zarr_codec_json(layout_, true), zarr_attributes_json(own, field, true),
        names.empty() ? names : R"("dimension_names": )" + names + ", ");
  }

  [[nodiscard]] std::string v2_of(const feedline::field& field, const attributes& own) const {
    const std::string fill = zarr_fill_json(own, field);
    const char order = feedline::size_bytes(field.type) == 1        ? '|'
                       : std::endian::native == std::endian::little ? '<'
                                                                    : '>';
    return fmt::format(
        R"({{"shape": {}, "chunks": {}, "dtype": "{}{}", "fill_value": {}, "order": "C", )"
        R"("filters": null, "dimension_separator": ".", "compressor": {}, "zarr_format": 2}})",
        json_list(what_.samples, field.shape), json_list(chunk_rows_, field.shape), order,
        zarr_names_of(field).v2, fill.empty() ? "null" : fill, zarr_codec_json(layout_, false));
  }

  static const char* fill_of(const feedline::field& field) {
    if (field.type == feedline::element_type::boolean) return "false";
    return field.type < feedline::element_type::f16 ? "0" : "0.0";
  }

  fs::path folder_;
  content what_;
  hdf5_layout layout_;
  bool is_v3_;
  std::uint64_t chunk_rows_;
  std::vector<fs::path> unsynced_ = {};  ///< files that may not be on the disk yet
};

}  // namespace

std::unique_ptr<output> make_zarr_output(const fs::path& path, const content& what,
                                         const job& job) {
  return std::make_unique<zarr_output>(path, what, job);
}

}  // namespace convert
