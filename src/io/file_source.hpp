#pragma once

#include "io/byte_source.hpp"

namespace feedline::detail {

/// A file's bytes, from the first on. Owns the file descriptor.
class file_source final : public byte_source {
 public:
  /// @throws dataset_error if the file cannot be opened or is a directory.
  explicit file_source(file_field name);
  ~file_source() override;

  std::size_t read(std::span<std::byte> into) override;

  /// Nothing for what is no regular file, such as a pipe.
  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  file_field name_;
  int descriptor_ = -1;
  std::optional<std::uint64_t> size_;
  std::uint64_t offset_ = 0;
};

}  // namespace feedline::detail
