#include <feedline/formats/records.hpp>

#include "programs/convert/output/output.hpp"
#include "programs/convert/work/durable_file.hpp"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

class record_output final : public output {
 public:
  record_output(fs::path path, const content& what) : path_{std::move(path)}, what_{what} {
    for (const feedline::field& field : what_.fields) {
      row_bytes_.push_back(feedline::sample_bytes(field));
      record_bytes_ += row_bytes_.back();
    }
  }

  void create() override {
    file_.emplace(path_, durable_file::mode::create);
    file_->reserve(what_.samples * record_bytes_);
  }

  void resume() override { file_.emplace(path_, durable_file::mode::open); }

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

std::unique_ptr<output> make_record_output(const fs::path& path, const content& what) {
  return std::make_unique<record_output>(path, what);
}

}  // namespace convert
