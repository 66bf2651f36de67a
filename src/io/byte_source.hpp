#pragma once

#include <feedline/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace feedline::detail {

/// The file and the field that an error of a reader names, besides the byte.
struct file_field {
  std::string path;
  std::string field;
  std::string note = {};  ///< ends every message

  [[nodiscard]] dataset_error error(std::uint64_t offset, const std::string& message) const {
    return {{.path = path, .field = field, .sample = {}, .offset = offset}, message + note};
  }
};

/// Bytes that come one after the other: a file's, a gzip stream's, a test's. One thread.
class byte_source {
 public:
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;

  /// Fills `into` as far as the bytes last.
  /// @return How many came: fewer than asked for only at the end.
  /// @throws dataset_error if the bytes are unavailable.
  virtual std::size_t read(std::span<std::byte> into) = 0;

  /// How many bytes there are in all, where that is known beforehand.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const = 0;
};

/// Bytes that lie in memory, which the caller keeps.
class memory_source final : public byte_source {
 public:
  explicit memory_source(std::span<const std::byte> bytes) : rest_{bytes}, size_{bytes.size()} {}

  std::size_t read(std::span<std::byte> into) override {
    const std::size_t count = std::min(into.size(), rest_.size());
    if (count != 0) std::memcpy(into.data(), rest_.data(), count);
    rest_ = rest_.subspan(count);
    return count;
  }

  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  std::span<const std::byte> rest_;
  std::uint64_t size_;
};

}  // namespace feedline::detail
