#pragma once

#include "io/byte_source.hpp"

#include <array>
#include <memory>

struct z_stream_s;  // zlib's

namespace feedline::detail {

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
