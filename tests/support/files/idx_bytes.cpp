#include "support/files/idx_bytes.hpp"

#include <zlib.h>

#include <stdexcept>

namespace feedline::test {

byte_vector bytes_of(std::initializer_list<unsigned> values) {
  byte_vector bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

byte_vector idx_header_bytes(unsigned type_code, std::initializer_list<std::uint32_t> extents) {
  byte_vector bytes = bytes_of({0, 0, type_code, static_cast<unsigned>(extents.size())});
  for (const std::uint32_t extent : extents)
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::byte>(extent >> shift));
  return bytes;
}

byte_vector idx_file_bytes(unsigned type_code, std::initializer_list<std::uint32_t> extents,
                           std::size_t payload_bytes) {
  byte_vector bytes = idx_header_bytes(type_code, extents);
  for (std::size_t i = 0; i < payload_bytes; ++i) bytes.push_back(static_cast<std::byte>(i % 251));
  return bytes;
}

byte_vector gzip_bytes(std::span<const std::byte> plain) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error{"deflateInit2"};
  byte_vector packed(deflateBound(&stream, plain.size()));
  byte_vector input(plain.begin(), plain.end());
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error{"deflate"};
  return packed;
}

byte_vector joined(byte_vector first, std::span<const std::byte> second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace feedline::test
