#include "dataset/file_dataset.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

class file_dataset final : public dataset {
 public:
  explicit file_dataset(std::vector<file_rows_field> fields) : fields_{std::move(fields)} {
    for (const file_rows_field& one : fields_) {
      const random_file_ptr& file = one.rows.file();
      if (std::ranges::find(files_, file) == files_.end()) files_.push_back(file);
    }
  }

  std::uint64_t size() const override { return fields_.front().rows.size(); }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const file_rows_field& one : fields_) fields.push_back(one.spec);
    return fields;
  }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      assert(out[i].size() == samples.size() * fields_[i].rows.place().row_bytes);
      fields_[i].rows.read(samples, out[i].data());
    }
    for (const random_file_ptr& file : files_) file->require_unchanged();
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<file_rows_field> fields;
    for (const std::size_t place : places) fields.push_back(fields_[place]);
    return make_file_dataset(std::move(fields));
  }

  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(files_, &random_file::is_cold);
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const file_rows_field& one : fields_)
      if (one.rows.file()->is_cold()) one.rows.prefetch(samples);
  }

 private:
  std::vector<file_rows_field> fields_;
  std::vector<random_file_ptr> files_;  ///< each once
};

}  // namespace

dataset_ptr make_file_dataset(std::vector<file_rows_field> fields) {
  std::vector<field> specs;
  for (const file_rows_field& one : fields) specs.push_back(one.spec);
  const std::vector<std::size_t> row_bytes = checked_row_bytes("file dataset", specs);

  for (std::size_t i = 0; i < fields.size(); ++i) {
    const file_rows& rows = fields[i].rows;
    if (rows.place().row_bytes != row_bytes[i])
      throw usage_error{"file dataset: field " + to_string(specs[i]) + " takes " +
                        std::to_string(row_bytes[i]) + " bytes a sample, but its rows have " +
                        std::to_string(rows.place().row_bytes)};
    if (rows.size() != fields[0].rows.size())
      throw dataset_error{{.path = rows.file()->path(), .field = specs[i].name},
                          "holds " + std::to_string(rows.size()) + " samples, but field '" +
                              specs[0].name + "' holds " + std::to_string(fields[0].rows.size()) +
                              "; all fields of a dataset hold the same number"};
  }
  return std::make_shared<const file_dataset>(std::move(fields));
}

}  // namespace feedline::detail
