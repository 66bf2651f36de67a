#pragma once

#include "io/byte_source.hpp"
#include "io/descriptor.hpp"
#include "io/random_file.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

struct z_stream_s;  // zlib's

namespace feedline::detail {

/// A file's bytes, from the first on.
class file_source final : public byte_source {
 public:
  /// @throws dataset_error if the file cannot be opened or is a directory.
  explicit file_source(file_field name);

  std::size_t read(std::span<std::byte> into) override;

  /// Nothing if it is not a regular file, such as a pipe.
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

/// Whether bytes begin as every gzip file does (RFC 1952, 2.3.1: ID1, ID2).
[[nodiscard]] constexpr bool is_gzip(std::span<const std::byte> head) noexcept {
  return head.size() >= 2 && head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b};
}

/// The content of a gzip file, decompressed on demand: all members, one after the other.
///
/// Memory is constant: a file that would grow without bound grows only as far as it is read.
/// Reading to the end, where `read` gives fewer bytes than asked for, verifies every checksum.
/// Errors give offsets in the compressed file.
class gzip_source final : public byte_source {
 public:
  /// @param compressed Outlives this; its first bytes were read already, and are `head`.
  /// @param head       At most 16 bytes.
  gzip_source(byte_source& compressed, std::span<const std::byte> head, const file_field& name);

  std::size_t read(std::span<std::byte> into) override;
  std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  bool has_input();
  bool begin_next_member();
  [[nodiscard]] std::uint64_t offset() const noexcept;

  byte_source& compressed_;
  file_field name_;
  std::unique_ptr<z_stream_s, void (*)(z_stream_s*)> stream_;
  std::array<std::byte, std::size_t{64} << 10> input_;
  std::uint64_t input_end_ = 0;  // offset in the compressed file
  bool done_ = false;
};

}  // namespace feedline::detail
