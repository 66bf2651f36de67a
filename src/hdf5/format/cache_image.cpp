#include "hdf5/format/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::string_view header_signature = "OHDR";
constexpr std::string_view continuation_signature = "OCHK";
constexpr unsigned checksum_bytes = 4;

constexpr unsigned continuation_message = 0x10;
constexpr unsigned cache_image_message = 0x18;

/// Position of messages for which a header has no room.
struct continuation {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// Reads an object header's messages. (HDF5 File Format Specification 3.0, IV.A)
class reader {
 public:
  explicit reader(hdf5_metadata& metadata) : metadata_{metadata} {}

  bool finds_cache_image(std::uint64_t header) {
    const auto first = metadata_.block(header, header_signature.size() + 2);
    is_version_2_ = first.cursor().u8() == 'O';
    is_version_2_ ? begin_version_2(header) : begin_version_1(header);
    // The list grows during the loop. Blocks that refer to each other end the loop, because the
    // number of bytes to be read is limited.
    // NOLINTNEXTLINE(modernize-loop-convert): its iterators would not outlive that
    for (std::size_t i = 0; i < continuations_.size(); ++i) follow(continuations_[i]);
    return found_;
  }

 private:
  void begin_version_1(std::uint64_t header) {
    constexpr unsigned front_bytes = 16;
    const auto front = metadata_.block(header, front_bytes);
    auto cursor = front.cursor();
    cursor.require_version(1);
    cursor.skip(7);  // reserved, number of messages, links to the object
    prefix_bytes_ = 8;
    take_messages(metadata_.block(header + front_bytes, cursor.u32()).cursor());
  }

  void begin_version_2(std::uint64_t header) {
    constexpr unsigned max_front_bytes = 4 + 1 + 1 + 16 + 4 + 8;
    const std::uint64_t left = metadata_.file_bytes() - metadata_.in_file(header);
    const auto front = metadata_.block(header, left < max_front_bytes ? left : max_front_bytes);
    auto cursor = front.cursor();
    cursor.require_signature(header_signature);
    cursor.require_version(2);
    const unsigned flags = cursor.u8();
    if ((flags & 0x20U) != 0) cursor.skip(16);  // times
    if ((flags & 0x10U) != 0) cursor.skip(4);   // how attributes are stored
    const std::uint64_t bytes = cursor.number(1U << (flags & 0x03U));
    prefix_bytes_ = (flags & 0x04U) != 0 ? 6 : 4;  // with or without their order of creation
    take_messages(metadata_.block(header + (cursor.offset() - front.offset), bytes).cursor());
  }

  void follow(continuation next) {
    const auto block = metadata_.block(next.address, next.bytes);
    auto cursor = block.cursor();
    if (is_version_2_) {
      cursor.require_signature(continuation_signature);
      if (cursor.remaining() < checksum_bytes) cursor.fail("no room for a checksum");
      const auto offset = cursor.offset();
      cursor = {cursor.take(cursor.remaining() - checksum_bytes), offset};
    }
    take_messages(cursor);
  }

  /// Reads the messages of a block. Less than a message's prefix may be left at its end.
  void take_messages(hdf5_cursor cursor) {
    while (cursor.remaining() >= prefix_bytes_) {
      const unsigned type = is_version_2_ ? cursor.u8() : cursor.u16();
      const unsigned bytes = cursor.u16();
      cursor.skip(prefix_bytes_ - (is_version_2_ ? 3 : 4));  // flags, order
      const auto offset = cursor.offset();
      hdf5_cursor message{cursor.take(bytes), offset};
      if (type == cache_image_message) found_ = true;
      if (type != continuation_message) continue;
      const auto address = message.address(metadata_.offset_bytes());
      const std::uint64_t length = message.number(metadata_.length_bytes());
      if (!address) message.fail("a header continues at an undefined address");
      continuations_.push_back({*address, length});
    }
  }

  hdf5_metadata& metadata_;
  bool is_version_2_ = false;  ///< version of the header
  unsigned prefix_bytes_ = 0;  ///< bytes of each message's prefix
  bool found_ = false;
  std::vector<continuation> continuations_ = {};
};

}  // namespace

bool has_cache_image(hdf5_metadata& metadata) {
  const auto& extension = metadata.superblock().extension;
  return extension && reader{metadata}.finds_cache_image(*extension);
}

}  // namespace feedline::detail
