#pragma once

#include "io/byte_source.hpp"
#include "io/descriptor.hpp"
#include "io/random_file.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

/// A file's bytes, from the first on.
class file_source final : public byte_source {
 public:
  /// @throws dataset_error if the file cannot be opened or is a directory.
  explicit file_source(file_field name);

  std::size_t read(std::span<std::byte> into) override;

  /// Nothing for what is no regular file, such as a pipe.
  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  file_field name_;
  descriptor file_;
  std::optional<std::uint64_t> size_;
  std::uint64_t offset_ = 0;
};

/// A stretch of a file, from its first byte on. One thread.
class random_file_source final : public byte_source {
 public:
  /// @param begin, bytes Within the file.
  random_file_source(random_file_ptr file, std::uint64_t begin, std::uint64_t bytes)
      : file_{std::move(file)}, begin_{begin}, bytes_{bytes} {}

  std::size_t read(std::span<std::byte> into) override {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), bytes_ - done_));
    if (count != 0) file_->read(begin_ + done_, into.first(count));
    done_ += count;
    return count;
  }

  std::optional<std::uint64_t> size() const override { return bytes_; }

 private:
  random_file_ptr file_;
  std::uint64_t begin_;
  std::uint64_t bytes_;
  std::uint64_t done_ = 0;
};

}  // namespace feedline::detail
