#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/ragged/pad.hpp>

#include "ragged/padding.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::python {

/// How a ragged field of samples fills the rows of a batch.
struct ragged_column {
  std::string name;
  std::vector<std::uint64_t> lengths;  ///< elements of each sample
  std::uint64_t capacity = 0;          ///< elements of a row
  padding_value value = std::int64_t{0};
};

/// Samples with several fields, ragged and fixed ones, one in a row (padded) or as many as all
/// ragged fields have room for (packed). A sample is made once for all its fields.
///
/// Padded: a ragged field becomes NAME and NAME_length, as by `pad`; fixed fields stay as they are.
/// Packed: a ragged field becomes NAME, NAME_count and NAME_offsets, as by `pack`; a fixed one has
/// [max_samples, …], with zeros after the row's last sample.
class ragged_rows final : public dataset {
 public:
  struct options {
    bool packs = false;
    std::uint64_t max_samples = 0;  ///< packed: limit for a row; 0: the number in the fullest
    bool truncates = false;         ///< padded: a longer sample loses its last elements
  };

  /// @param padded Its fields: NAME and NAME_length (i32) of each ragged field, padded to the
  /// longest sample; and fixed ones.
  /// @throws usage_error, and dataset_error about a sample that is longer than a row.
  ragged_rows(dataset_ptr padded, std::vector<ragged_column> columns, const options& wanted);

  std::uint64_t size() const override { return wanted_.packs ? starts_.size() : samples_; }
  std::vector<field> fields() const override;
  read_concurrency concurrency() const override { return padded_->concurrency(); }
  unsigned reads_in_processes() const override { return padded_->reads_in_processes(); }

 private:
  /// A field of `padded_`, without the lengths.
  struct part {
    field spec;             ///< a ragged field's element
    std::size_t at = 0;     ///< its index in the fields of `padded_`
    std::size_t bytes = 0;  ///< size of `spec`
    std::optional<std::size_t> column;
  };
  /// A sample, and its position in the rows that are read.
  struct placed {
    sample_index sample;
    std::size_t row = 0;
    std::uint64_t place = 0;            ///< index in the row
    std::vector<std::uint64_t> begins;  ///< for each column: elements of the row before it
  };

  void add_parts();
  void deal();
  [[nodiscard]] std::uint64_t length(std::size_t column, std::uint64_t sample) const;
  [[nodiscard]] std::vector<placed> placed_in(std::span<const sample_index> rows) const;
  void do_read(const read_request& request) const override;
  void write_ends(const read_request& request, std::span<const placed> all) const;
  void read_piece(std::span<const placed> piece, const read_request& request) const;
  void write(const placed& sample, std::span<const std::vector<std::byte>> rows, std::size_t number,
             const read_request& request) const;

  dataset_ptr padded_;
  std::vector<ragged_column> columns_;
  options wanted_;
  std::uint64_t samples_ = 0;
  std::vector<std::size_t> row_bytes_;  ///< size of each field of `padded_`
  std::vector<part> parts_;
  std::vector<detail::padding> paddings_;  ///< for each column
  std::uint64_t max_samples_ = 1;
  std::vector<std::uint64_t> starts_;  ///< packed: the sample with which each row begins
};

}  // namespace feedline::python
