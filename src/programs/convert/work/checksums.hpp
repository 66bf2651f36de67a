#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convert {

/// A CRC-32 for each field, over its samples' bytes in the order of the output.
class checksums {
 public:
  explicit checksums(std::size_t fields) : values_(fields, 0) {}
  explicit checksums(std::vector<std::uint32_t> values) : values_{std::move(values)} {}

  void add(std::size_t field, std::span<const std::byte> bytes) {
    values_[field] = static_cast<std::uint32_t>(
        crc32_z(values_[field], reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  }

  [[nodiscard]] const std::vector<std::uint32_t>& values() const noexcept { return values_; }

  friend bool operator==(const checksums&, const checksums&) = default;

 private:
  std::vector<std::uint32_t> values_;
};

/// "0x0123abcd".
[[nodiscard]] std::string to_hex(std::uint32_t value);

}  // namespace convert
