#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>

#include "programs/convert/output/output.hpp"
#include "programs/convert/work/durable_file.hpp"

#include <bit>
#include <string>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// NumPy's code for a type: '<f4'.
std::string code_of(const feedline::field& field) {
  using enum feedline::element_type;
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  const auto wide = [&](const char* code) { return order + std::string{code}; };
  switch (field.type) {
    case u8:
      return "|u1";
    case i8:
      return "|i1";
    case boolean:
      return "|b1";
    case u16:
      return wide("u2");
    case i16:
      return wide("i2");
    case u32:
      return wide("u4");
    case i32:
      return wide("i4");
    case u64:
      return wide("u8");
    case i64:
      return wide("i8");
    case f16:
      return wide("f2");
    case f32:
      return wide("f4");
    case f64:
      return wide("f8");
    case bf16:
      break;
  }
  throw feedline::usage_error{"field " + feedline::to_string(field) +
                              " cannot be written as .npy: NumPy has no such type; take --to hdf5 "
                              "or --to records"};
}

/// NumPy's format, version 1.0: magic, version, header's length, header; the data at a multiple of 64.
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
      row_bytes_.push_back(feedline::sample_bytes(field));
    }
  }

  void create() override {
    fs::create_directory(folder_);
    open(durable_file::mode::create);
    for (std::size_t f = 0; f < files_.size(); ++f) {
      files_[f].reserve(headers_[f].size() + what_.samples * row_bytes_[f]);
      files_[f].write(0, std::as_bytes(std::span{headers_[f]}));
    }
    sync_folder(folder_);
  }

  void resume() override { open(durable_file::mode::open); }

  void write(std::uint64_t first, std::uint64_t /*count*/,
             std::span<const std::span<const std::byte>> columns) override {
    for (std::size_t f = 0; f < files_.size(); ++f)
      files_[f].write(headers_[f].size() + first * row_bytes_[f], columns[f]);
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

  void open(durable_file::mode how) {
    for (const feedline::field& field : what_.fields) files_.emplace_back(path_of(field), how);
  }

  fs::path folder_;
  content what_;
  std::vector<std::string> headers_;
  std::vector<std::size_t> row_bytes_;
  std::vector<durable_file> files_;
};

}  // namespace

std::unique_ptr<output> make_npy_output(const fs::path& path, const content& what) {
  return std::make_unique<npy_output>(path, what);
}

}  // namespace convert
