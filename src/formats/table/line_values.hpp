#pragma once

#include "formats/table/gzip_text.hpp"
#include "formats/table/line_index.hpp"
#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace feedline::detail {

/// The records of text files, file after file. Errors name the line.
class line_values final : public coded_values {
 public:
  struct indexed_file {
    byte_file_ptr file;
    line_index index;
    bool has_header = false;  ///< its first record is no sample
  };

  /// @param blocks Those that the files are decompressed in. @throws dataset_error if there is no
  /// record.
  explicit line_values(std::vector<indexed_file> files, text_blocks blocks = {});

  [[nodiscard]] std::uint64_t size() const override { return ends_.back(); }
  [[nodiscard]] std::uint64_t stored_bytes(std::uint64_t sample) const override;
  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override;
  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override;
  /// Blocks need not have the same number of lines, so the samples of a chunk are their mean.
  [[nodiscard]] chunking chunks() const override;
  [[nodiscard]] bool wants_prefetch() const noexcept override;
  [[nodiscard]] bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override;

  /// "line 7 of x.csv".
  [[nodiscard]] std::string words_of(std::uint64_t sample) const;
  [[nodiscard]] const std::string& first_file() const noexcept {
    return files_.front().file->name();
  }

 private:
  struct place {
    const indexed_file& in;
    std::size_t record;  ///< in its file
    byte_range bytes;
  };

  [[nodiscard]] place find(std::uint64_t sample) const noexcept;

  std::vector<indexed_file> files_;
  std::vector<std::uint64_t> ends_;  ///< records of all files up to each
  text_blocks blocks_;
};

using line_values_ptr = std::shared_ptr<const line_values>;

}  // namespace feedline::detail
