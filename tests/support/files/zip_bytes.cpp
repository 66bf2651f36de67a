#include "support/files/zip_bytes.hpp"

#include <zlib.h>

#include <cstddef>
#include <span>
#include <stdexcept>

namespace feedline::test {
namespace {

byte_vector deflated(byte_vector plain) {
  z_stream stream{};
  constexpr int raw_window = -15;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, raw_window, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::runtime_error{"deflateInit2"};
  byte_vector packed(deflateBound(&stream, plain.size()));
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error{"deflate"};
  return packed;
}

/// Numbers in little-endian order, one after the other.
class little_endian {
 public:
  little_endian& number(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      bytes_.push_back(static_cast<std::byte>(value >> 8 * i));
    return *this;
  }
  little_endian& text(const std::string& text) { return append(std::as_bytes(std::span{text})); }
  little_endian& append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  const byte_vector& bytes() const { return bytes_; }

 private:
  byte_vector bytes_;
};

}  // namespace

byte_vector zip_bytes(const std::vector<zip_entry>& entries) {
  constexpr std::uint32_t in_zip64 = 0xffffffff;
  little_endian file;
  little_endian directory;
  for (const zip_entry& entry : entries) {
    const byte_vector packed = entry.compressed ? deflated(entry.content) : entry.content;
    const auto checksum = entry.checksum.value_or(
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                                         static_cast<uInt>(entry.content.size()))));
    const std::uint64_t claimed =
        entry.claimed_bytes.value_or(static_cast<std::uint32_t>(entry.content.size()));
    const std::uint16_t method = entry.method != 0xffff
                                     ? entry.method
                                     : static_cast<std::uint16_t>(entry.compressed ? 8 : 0);
    const std::uint64_t offset = file.bytes().size();

    file.text("PK\3\4").number(entry.zip64 ? 45U : 20U, 2).number(entry.flags, 2);
    file.number(method, 2).number(0, 2).number(0x21, 2).number(checksum, 4);
    file.number(entry.zip64 ? in_zip64 : packed.size(), 4);
    file.number(entry.zip64 ? in_zip64 : claimed, 4);
    file.number(entry.name.size(), 2).number(entry.zip64 ? 20U : 0U, 2).text(entry.name);
    if (entry.zip64) file.number(1, 2).number(16, 2).number(claimed, 8).number(packed.size(), 8);
    file.append(packed);

    directory.text("PK\1\2").number(45, 2).number(entry.zip64 ? 45U : 20U, 2);
    directory.number(entry.flags, 2).number(method, 2).number(0, 2).number(0x21, 2);
    directory.number(checksum, 4).number(packed.size(), 4).number(claimed, 4);
    directory.number(entry.name.size(), 2).number(0, 2).number(0, 2).number(0, 2).number(0, 2);
    directory.number(0, 4).number(offset, 4).text(entry.name);
  }
  const std::uint64_t begin = file.bytes().size();
  const std::uint64_t bytes = directory.bytes().size();
  file.append(directory.bytes());
  file.text("PK\5\6").number(0, 4).number(entries.size(), 2).number(entries.size(), 2);
  file.number(bytes, 4).number(begin, 4).number(0, 2);
  return file.bytes();
}

}  // namespace feedline::test
