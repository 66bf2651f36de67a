#pragma once

#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Values that are parts of files, file after file. A format derives from it and says where each
/// value is.
class located_values : public coded_values {
 public:
  std::uint64_t size() const final { return ends_.empty() ? 0 : ends_.back(); }
  std::uint64_t stored_bytes(std::uint64_t sample) const override;
  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override;
  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const final;

  bool wants_prefetch() const noexcept final;
  bool hints_ranges() const noexcept final { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept final;

 protected:
  /// Location of a value: a file, and its bytes there.
  struct place {
    std::size_t number;
    const byte_file& file;
    byte_range bytes;
  };

  /// @param ends Number of values in all files up to each.
  located_values(std::vector<byte_file_ptr> files, std::vector<std::uint64_t> ends);

  [[nodiscard]] place find(std::uint64_t sample) const noexcept;

 private:
  /// The bytes to read for a value. @param number Its index within the file.
  [[nodiscard]] virtual byte_range range_of(std::size_t file,
                                            std::uint64_t number) const noexcept = 0;
  /// The value within the bytes that were read. @throws dataset_error without a location
  [[nodiscard]] virtual std::span<const std::byte> value_in(std::span<const std::byte> read) const {
    return read;
  }

  std::vector<byte_file_ptr> files_;
  std::vector<std::uint64_t> ends_;
};

/// A file, and the bytes of each value in it.
struct values_in_file {
  byte_file_ptr file;
  std::vector<byte_range> values;  ///< within the file
};

/// The values of several files, file after file: records of a format that has its own framing.
[[nodiscard]] coded_values_ptr make_file_values(std::vector<values_in_file> files);

}  // namespace feedline::detail
