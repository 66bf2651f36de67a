#pragma once

#include "support/files/npy_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// TFRecord files and the protocol buffers in them, written bit by bit.

namespace feedline::test {

/// CRC-32C, one bit after the other.
[[nodiscard]] inline std::uint32_t slow_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  for (const std::byte each : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const std::uint32_t low = (crc ^ std::to_integer<std::uint32_t>(each) >> bit) & 1;
      crc = crc >> 1 ^ low * 0x82f63b78U;
    }
  return ~crc;
}

[[nodiscard]] inline byte_vector joined(const std::vector<byte_vector>& parts) {
  byte_vector all;
  for (const byte_vector& each : parts) all.insert(all.end(), each.begin(), each.end());
  return all;
}

[[nodiscard]] inline byte_vector bytes_in(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

/// Bytes of TFRecord and of protocol buffers.
namespace tfrecord {

[[nodiscard]] inline byte_vector masked_crc(std::span<const std::byte> bytes) {
  const std::uint32_t crc = slow_crc32c(bytes);
  return memory_of<std::uint32_t>({(crc >> 15 | crc << 17) + 0xa282ead8U});
}

/// A record in its frame.
[[nodiscard]] inline byte_vector framed(const byte_vector& record) {
  const byte_vector length = memory_of<std::uint64_t>({record.size()});
  return joined({length, masked_crc(length), record, masked_crc(record)});
}

[[nodiscard]] inline byte_vector varint(std::uint64_t value) {
  byte_vector bytes;
  for (; value >= 128; value >>= 7) bytes.push_back(std::byte(value | 128));
  bytes.push_back(std::byte(value));
  return bytes;
}

/// A field of wire type 2: a message, a string, packed numbers.
[[nodiscard]] inline byte_vector field_of(unsigned number, const byte_vector& content) {
  return joined({varint(number << 3 | 2), varint(content.size()), content});
}

[[nodiscard]] inline byte_vector int64_feature(const std::vector<std::int64_t>& values,
                                               bool is_packed = true) {
  byte_vector list;
  for (const std::int64_t value : values) {
    const byte_vector one = varint(static_cast<std::uint64_t>(value));
    list = joined({list, is_packed ? byte_vector{} : varint(1 << 3), one});
  }
  if (is_packed && !values.empty()) list = field_of(1, list);
  return field_of(3, list);
}

[[nodiscard]] inline byte_vector float_feature(const std::vector<float>& values,
                                               bool is_packed = true) {
  byte_vector list;
  for (const float value : values)
    list =
        joined({list, is_packed ? byte_vector{} : varint(1 << 3 | 5), memory_of<float>({value})});
  if (is_packed && !values.empty()) list = field_of(1, list);
  return field_of(2, list);
}

[[nodiscard]] inline byte_vector bytes_feature(const std::vector<byte_vector>& values) {
  byte_vector list;
  for (const byte_vector& value : values) list = joined({list, field_of(1, value)});
  return field_of(1, list);
}

struct named {
  std::string name;
  byte_vector feature;
};

/// A map<string, message>, as a field of the message around it.
[[nodiscard]] inline byte_vector map_of(unsigned number, const std::vector<named>& entries) {
  byte_vector map;
  for (const named& each : entries)
    map = joined(
        {map, field_of(1, joined({field_of(1, bytes_in(each.name)), field_of(2, each.feature)}))});
  return field_of(number, map);
}

[[nodiscard]] inline byte_vector example(const std::vector<named>& features) {
  return map_of(1, features);
}

[[nodiscard]] inline byte_vector feature_list(const std::vector<byte_vector>& steps) {
  byte_vector list;
  for (const byte_vector& each : steps) list = joined({list, field_of(1, each)});
  return list;
}

}  // namespace tfrecord
}  // namespace feedline::test
