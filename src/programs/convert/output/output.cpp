#include "programs/convert/output/output.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/records.hpp>

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// NumPy's code for a type: '<f4'.
std::string code_of(const feedline::field& field) {
  constexpr std::string_view kinds = "uiuiuiuif?ffb";  // in the order of the types' values
  const char kind = kinds[static_cast<std::size_t>(field.type)];
  if (kind == '?')
    throw feedline::usage_error{"field " + feedline::to_string(field) +
                                " cannot be written as .npy: NumPy has no such type; take --to "
                                "hdf5 or --to records"};
  const std::size_t bytes = feedline::size_bytes(field.type);
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  return (bytes == 1 ? '|' : order) + (kind + std::to_string(bytes));
}

/// NumPy's format, version 1.0: magic, version, header's length, header; the data at a
/// multiple of 64.
std::string header_of(const feedline::field& field, std::uint64_t samples) {
  std::string shape = std::to_string(samples) + ',';
  for (const std::uint64_t extent : field.shape) shape += ' ' + std::to_string(extent) + ',';
  if (!field.shape.empty()) shape.pop_back();
  std::string header =
      "{'descr': '" + code_of(field) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t before = 10;
  header.resize((before + header.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  header += '\n';
  if (header.size() > 0xffff)
    throw feedline::usage_error{"field " + feedline::to_string(field) +
                                " has too many dimensions for .npy"};
  std::string all{"\x93NUMPY\x01\x00", 8};
  all += static_cast<char>(header.size() & 0xff);
  all += static_cast<char>(header.size() >> 8);
  return all + header;
}

class npy_output final : public output {
 public:
  npy_output(fs::path folder, const content& what) : folder_{std::move(folder)}, what_{what} {
    for (const feedline::field& field : what_.fields) {
      if (field.name.empty() || field.name.find('/') != std::string::npos || field.name[0] == '.')
        throw feedline::usage_error{"field '" + field.name +
                                    "' cannot name a .npy file: rename it with NAME=PATH"};
      headers_.push_back(header_of(field, what_.samples));
    }
  }

  void open(durable_file::mode how) override {
    const bool is_new = how == durable_file::mode::create;
    if (is_new) fs::create_directory(folder_);
    for (const feedline::field& field : what_.fields) files_.emplace_back(path_of(field), how);
    if (!is_new) return;
    for (std::size_t f = 0; f < files_.size(); ++f) {
      files_[f].take(headers_[f].size() + what_.samples * sample_bytes(what_.fields[f]));
      files_[f].write(0, std::as_bytes(std::span{headers_[f]}));
    }
    sync_folder(folder_);
  }

  void write(std::uint64_t first, std::uint64_t /*count*/,
             std::span<const std::span<const std::byte>> columns) override {
    for (std::size_t f = 0; f < files_.size(); ++f)
      files_[f].write(headers_[f].size() + first * sample_bytes(what_.fields[f]), columns[f]);
  }

  void sync() override {
    for (const durable_file& file : files_) file.sync();
  }

  void close() override { files_.clear(); }

  feedline::dataset_ptr read_back() const override {
    std::vector<feedline::npy_field> fields;
    for (const feedline::field& field : what_.fields)
      fields.push_back({path_of(field), field.name});
    return feedline::open_npy(fields);
  }

 private:
  fs::path path_of(const feedline::field& field) const { return folder_ / (field.name + ".npy"); }

  fs::path folder_;
  content what_;
  std::vector<std::string> headers_;
  std::vector<durable_file> files_;
};

class record_output final : public output {
 public:
  record_output(fs::path path, const content& what) : path_{std::move(path)}, what_{what} {
    for (const feedline::field& field : what_.fields) {
      row_bytes_.push_back(feedline::sample_bytes(field));
      record_bytes_ += row_bytes_.back();
    }
  }

  void open(durable_file::mode how) override {
    file_.emplace(path_, how);
    if (how == durable_file::mode::create) file_->take(what_.samples * record_bytes_);
  }

  void write(std::uint64_t first, std::uint64_t count,
             std::span<const std::span<const std::byte>> columns) override {
    records_.resize(count * record_bytes_);
    std::size_t in_record = 0;
    for (std::size_t f = 0; f < columns.size(); ++f) {
      for (std::uint64_t i = 0; i < count; ++i)
        std::memcpy(records_.data() + i * record_bytes_ + in_record,
                    columns[f].data() + i * row_bytes_[f], row_bytes_[f]);
      in_record += row_bytes_[f];
    }
    file_->write(first * record_bytes_, records_);
  }

  void sync() override { file_->sync(); }
  void close() override { file_.reset(); }

  feedline::dataset_ptr read_back() const override {
    std::vector<feedline::record_field> fields;
    for (const feedline::field& field : what_.fields)
      fields.push_back({.name = field.name, .type = field.type, .shape = field.shape});
    return feedline::open_records({path_}, fields, {.byte_order = std::endian::native});
  }

 private:
  fs::path path_;
  content what_;
  std::vector<std::size_t> row_bytes_;
  std::size_t record_bytes_ = 0;
  std::optional<durable_file> file_;
  std::vector<std::byte> records_;
};

}  // namespace

std::unique_ptr<output> make_output(const fs::path& path, const content& what, const job& job) {
  if (job.to == format::hdf5) return make_hdf5_output(path, what, job.layout);
  if (job.to == format::zarr || job.to == format::zarr2) return make_zarr_output(path, what, job);
  if (job.to == format::npy) return std::make_unique<npy_output>(path, what);
  return std::make_unique<record_output>(path, what);
}

#ifndef FEEDLINE_HAS_HDF5
void leave_hdf5_as_it_is_at_exit() {}

std::unique_ptr<output> make_hdf5_output(const fs::path& path, const content&, const hdf5_layout&) {
  throw feedline::usage_error{path.string() +
                              ": this feedline-convert was built without HDF5: install libhdf5-dev "
                              "and build it again, or take --to npy or --to records"};
}
#endif

}  // namespace convert
