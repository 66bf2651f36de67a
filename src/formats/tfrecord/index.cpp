#include "formats/tfrecord/index.hpp"

#include "detail/byte_order.hpp"
#include "formats/crc32c.hpp"

#include <algorithm>
#include <string>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;

dataset_error fault_at(const byte_file& file, std::uint64_t byte, const std::string& message) {
  return {{.path = file.name(), .field = {}, .sample = {}, .offset = byte}, message};
}

/// The heads of records. Reads ahead as long as records are small, so that a file of many is read
/// in few pieces.
class head_reader {
 public:
  explicit head_reader(const byte_file& file) : file_{file} {}

  /// @param at At least 12 bytes before the file's end.
  byte_span head(std::uint64_t at) {
    if (at < begin_ || at + tfrecord_head_bytes > begin_ + window_.size()) {
      const bool is_far = begin_ != 0 && at > begin_ + 8 * window_.size();
      const std::size_t wanted = is_far ? tfrecord_head_bytes : piece_bytes;
      window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, file_.size() - at)));
      file_.read(at, window_);
      begin_ = at;
    }
    return byte_span{window_}.subspan(static_cast<std::size_t>(at - begin_), tfrecord_head_bytes);
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{64} << 10;

  const byte_file& file_;
  std::vector<std::byte> window_;
  std::uint64_t begin_ = 0;
};

/// The error for a file that does not begin like TFRecord.
std::string wrong_beginning(byte_span head) {
  const auto begins_with = [head](unsigned first, unsigned second) {
    return head[0] == std::byte(first) && head[1] == std::byte(second);
  };
  if (begins_with(0x1f, 0x8b))
    return "is compressed by gzip, so that its records cannot be read in any order; decompress it "
           "(gunzip), or write it again without compression";
  if (begins_with(0x78, 0x9c) || begins_with(0x78, 0x01) || begins_with(0x78, 0xda))
    return "is no TFRecord file, or one compressed by zlib, whose records cannot be read in any "
           "order; write it again without compression";
  return "is no TFRecord file: the checksum of the first record's length is wrong";
}

}  // namespace

bool is_tfrecord_head(byte_span head) noexcept {
  return head.size() >= tfrecord_head_bytes &&
         masked_crc32c(head.first(8)) == little_endian(head.subspan(8, 4));
}

std::vector<std::uint64_t> index_tfrecord(const byte_file& file) {
  constexpr std::size_t least_bytes = tfrecord_head_bytes + tfrecord_crc_bytes;
  std::vector<std::uint64_t> ends;
  head_reader heads{file};
  for (std::uint64_t at = 0; at < file.size(); at = ends.back()) {
    const std::uint64_t left = file.size() - at;
    if (left < least_bytes)
      throw fault_at(file, at,
                     "the file is cut short: " + std::to_string(left) +
                         " bytes are left, and a record takes 16 at least; get the file "
                         "again");
    const byte_span head = heads.head(at);
    if (!is_tfrecord_head(head))
      throw fault_at(file, at,
                     at == 0 ? wrong_beginning(head)
                             : "the checksum of a record's length is wrong: the file is damaged "
                               "from here on; get it again");
    const std::uint64_t bytes = little_endian(head.first(8));
    if (bytes > left - least_bytes)
      throw fault_at(file, at,
                     "the file is cut short: a record of " + std::to_string(bytes) +
                         " bytes begins " + std::to_string(left) +
                         " bytes before the end; get the file again");
    ends.push_back(at + least_bytes + bytes);
  }
  return ends;
}

}  // namespace feedline::detail
