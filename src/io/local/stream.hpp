#pragma once

#include "io/byte_source.hpp"
#include "io/local/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace feedline::detail {

/// A file's bytes, from the first on.
class local_stream final : public byte_source {
 public:
  /// @throws dataset_error if the file cannot be opened or is a directory.
  explicit local_stream(file_field name);

  std::size_t read(std::span<std::byte> into) override;

  /// Nothing if it is not a regular file, such as a pipe.
  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  file_field name_;
  descriptor file_;
  std::optional<std::uint64_t> size_;
  std::uint64_t offset_ = 0;
};

}  // namespace feedline::detail
