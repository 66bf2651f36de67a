#include "dataset/rows_dataset.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/encoded_fields.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

class rows_dataset final : public dataset {
 public:
  explicit rows_dataset(std::vector<rows_field> fields) : fields_{std::move(fields)} {
    for (const rows_field& one : fields_) {
      const byte_file_ptr& file = one.rows->extent().file;
      if (file && std::ranges::find(files_, file) == files_.end()) files_.push_back(file);
    }
  }

  std::uint64_t size() const override { return fields_.front().rows->size(); }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const rows_field& one : fields_) fields.push_back(one.spec);
    return fields;
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<rows_field> fields;
    for (const std::size_t place : places) fields.push_back(fields_[place]);
    return std::make_shared<const rows_dataset>(std::move(fields));
  }

  std::vector<std::span<const std::byte>> rows() const override {
    std::vector<std::span<const std::byte>> rows;
    for (const rows_field& one : fields_) {
      const auto bytes = one.rows->in_memory();
      if (!bytes) return {};
      rows.push_back(*bytes);
    }
    return rows;
  }

  /// Chunks of the field whose chunks are the most work.
  chunking chunks() const override {
    chunking most;
    std::size_t max_bytes = 0;
    for (const rows_field& one : fields_) {
      const row_extent& all = one.rows->extent();
      if (all.rows_per_chunk <= 1 || all.row_bytes <= max_bytes) continue;
      max_bytes = all.row_bytes;
      most = {.samples = all.rows_per_chunk,
              .bytes = static_cast<std::size_t>(all.rows_per_chunk) * all.row_bytes,
              .kept = all.chunks_kept};
    }
    return most;
  }

  std::shared_ptr<const encoded_blocks> encoded() const override {
    return make_encoded_fields(fields_);
  }

  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(fields_, [](const rows_field& one) { return one.rows->is_cold(); });
  }

  bool hints_ranges() const noexcept override { return true; }

  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const rows_field& one : fields_)
      if (one.rows->is_cold()) one.rows->prefetch(samples);
  }

 private:
  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      assert(request.out[i].size() == request.samples.size() * fields_[i].rows->row_bytes());
      fields_[i].rows->read(request.samples, request.out[i].data());
    }
    for (const byte_file_ptr& file : files_) file->require_unchanged();
  }

  std::vector<rows_field> fields_;
  std::vector<byte_file_ptr> files_ = {};  ///< each once
};

}  // namespace

dataset_ptr make_rows_dataset(std::string_view who, std::vector<rows_field> fields) {
  std::vector<field> specs;
  for (const rows_field& one : fields) specs.push_back(one.spec);
  const std::vector<std::size_t> row_bytes = checked_row_bytes(who, specs);

  for (std::size_t i = 0; i < fields.size(); ++i) {
    const row_extent& all = fields[i].rows->extent();
    if (all.row_bytes != row_bytes[i])
      throw usage_error{std::string{who} + ": field " + to_string(specs[i]) + " takes " +
                        std::to_string(row_bytes[i]) + " bytes a sample, but its rows have " +
                        std::to_string(all.row_bytes)};
    if (all.rows != fields[0].rows->size())
      throw dataset_error{{.path = all.file ? all.file->name() : "", .field = specs[i].name},
                          "holds " + std::to_string(all.rows) + " samples, but field '" +
                              specs[0].name + "' holds " + std::to_string(fields[0].rows->size()) +
                              "; all fields of a dataset hold the same number"};
  }
  return std::make_shared<const rows_dataset>(std::move(fields));
}

rows_field rows_in_memory(memory_field column) {
  const std::size_t row_bytes = sample_bytes(column.spec);
  const std::size_t bytes = column.bytes.size();
  if (bytes % row_bytes != 0)
    throw usage_error{"memory dataset: field " + to_string(column.spec) + " takes " +
                      std::to_string(row_bytes) + " bytes a sample, but its " +
                      std::to_string(bytes) + " bytes are not a whole number of samples"};
  return {std::move(column.spec), std::make_shared<const memory_rows>(
                                      row_extent{.rows = bytes / row_bytes, .row_bytes = row_bytes},
                                      column.bytes, std::move(column.owner))};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr make_memory_dataset(std::vector<memory_field> columns) {
  std::vector<detail::rows_field> fields;
  for (memory_field& column : columns) fields.push_back(detail::rows_in_memory(std::move(column)));
  return detail::make_rows_dataset("memory dataset", std::move(fields));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
