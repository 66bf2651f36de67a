#pragma once

#include "io/byte_file.hpp"
#include "io/byte_source.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

/// A stretch of a file, from its first byte on. One thread.
class range_source final : public byte_source {
 public:
  /// @param begin, bytes Within the file.
  range_source(byte_file_ptr file, std::uint64_t begin, std::uint64_t bytes)
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
  byte_file_ptr file_;
  std::uint64_t begin_;
  std::uint64_t bytes_;
  std::uint64_t done_ = 0;
};

}  // namespace feedline::detail
