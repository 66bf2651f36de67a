#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/sample_range.hpp"
#include "rows/gather.hpp"

#include <cassert>

namespace feedline {
namespace {

class memory_dataset final : public dataset {
 public:
  memory_dataset(std::vector<memory_field> columns, std::vector<std::size_t> row_bytes)
      : columns_{std::move(columns)},
        row_bytes_{std::move(row_bytes)},
        samples_{columns_.front().bytes.size() / row_bytes_.front()} {}

  std::uint64_t size() const override { return samples_; }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const memory_field& column : columns_) fields.push_back(column.spec);
    return fields;
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<memory_field> columns;
    for (const std::size_t place : places) columns.push_back(columns_[place]);
    return make_memory_dataset(std::move(columns));
  }

  std::vector<std::span<const std::byte>> rows() const override {
    std::vector<std::span<const std::byte>> rows;
    for (const memory_field& column : columns_) rows.push_back(column.bytes);
    return rows;
  }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    detail::require_in_range(samples, samples_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      assert(out[i].size() == samples.size() * row_bytes_[i]);
      detail::gather_rows(columns_[i].bytes.data(), row_bytes_[i], samples, out[i].data());
    }
  }

 private:
  std::vector<memory_field> columns_;
  std::vector<std::size_t> row_bytes_;
  std::uint64_t samples_;
};

}  // namespace

dataset_ptr make_memory_dataset(std::vector<memory_field> columns) {
  std::vector<field> specs;
  for (const memory_field& column : columns) specs.push_back(column.spec);
  std::vector<std::size_t> row_bytes = detail::checked_row_bytes("memory dataset", specs);

  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t bytes = columns[i].bytes.size();
    if (bytes % row_bytes[i] != 0)
      throw usage_error{"memory dataset: field " + to_string(specs[i]) + " takes " +
                        std::to_string(row_bytes[i]) + " bytes a sample, but its " +
                        std::to_string(bytes) + " bytes are no whole number of samples"};
    const std::size_t samples = bytes / row_bytes[i];
    const std::size_t first = columns[0].bytes.size() / row_bytes[0];
    if (samples != first)
      throw dataset_error{{.path = {}, .field = specs[i].name},
                          "holds " + std::to_string(samples) + " samples, but field '" +
                              specs[0].name + "' holds " + std::to_string(first) +
                              "; all fields of a dataset hold the same number"};
  }
  return std::make_shared<const memory_dataset>(std::move(columns), std::move(row_bytes));
}

}  // namespace feedline
