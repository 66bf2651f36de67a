#include "hdf5/format/object_header.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view header_signature = "OHDR";
constexpr std::string_view continuation_signature = "OCHK";
constexpr unsigned checksum_bytes = 4;
constexpr unsigned shared_flag = 0x02;

bool is_wanted(unsigned type) {
  switch (static_cast<hdf5_message_type>(type)) {
    case hdf5_message_type::dataspace:
    case hdf5_message_type::layout:
    case hdf5_message_type::filter_pipeline:
    case hdf5_message_type::continuation:
    case hdf5_message_type::cache_image:
      return type <= 0xFF;
  }
  return false;
}

/// Where messages lie that a header has no room for.
struct continuation {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// How each message begins, which depends on the header's version.
struct message_prefix {
  unsigned version;
  bool has_creation_order = false;

  [[nodiscard]] unsigned bytes() const noexcept {
    if (version == 1) return 8;
    return has_creation_order ? 6 : 4;
  }
};

class reader {
 public:
  explicit reader(hdf5_metadata& metadata) : metadata_{metadata} {}

  std::vector<hdf5_message> read(std::uint64_t header) {
    const auto first = metadata_.block(header, header_signature.size() + 2);
    auto cursor = first.cursor();
    const bool is_version_2 = cursor.u8() == 'O';
    const auto prefix = is_version_2 ? begin_version_2(header) : begin_version_1(header);
    // Grows while it is gone through. Blocks that name each other end with the bytes to be read.
    for (std::size_t i = 0; i < continuations_.size(); ++i) follow(continuations_[i], prefix);
    return std::move(found_);
  }

 private:
  message_prefix begin_version_1(std::uint64_t header) {
    constexpr unsigned front_bytes = 16;
    const auto front = metadata_.block(header, front_bytes);
    auto cursor = front.cursor();
    cursor.require_version(1);
    cursor.skip(7);  // reserved, number of messages, links to the object
    const std::uint64_t bytes = cursor.u32();
    const message_prefix prefix{.version = 1};
    take_messages(metadata_.block(header + front_bytes, bytes).cursor(), prefix);
    return prefix;
  }

  message_prefix begin_version_2(std::uint64_t header) {
    constexpr unsigned max_front_bytes = 4 + 1 + 1 + 16 + 4 + 8;
    const std::uint64_t left = metadata_.file_bytes() - metadata_.in_file(header);
    const auto front = metadata_.block(header, left < max_front_bytes ? left : max_front_bytes);
    auto cursor = front.cursor();
    cursor.require_signature(header_signature);
    cursor.require_version(2);
    const unsigned flags = cursor.u8();
    if ((flags & 0x20U) != 0) cursor.skip(16);  // times
    if ((flags & 0x10U) != 0) cursor.skip(4);   // how attributes are kept
    const std::uint64_t bytes = cursor.number(1U << (flags & 0x03U));
    const std::uint64_t front_bytes = cursor.offset() - front.cursor().offset();
    if (bytes > metadata_.file_bytes()) cursor.fail("a header longer than the file");

    const message_prefix prefix{.version = 2, .has_creation_order = (flags & 0x04U) != 0};
    const auto all = metadata_.checked_block(header, front_bytes + bytes + checksum_bytes);
    auto messages = all.cursor();
    messages.skip(front_bytes);
    take_messages(within(messages), prefix);
    return prefix;
  }

  void follow(continuation next, message_prefix prefix) {
    if (prefix.version == 1) {
      take_messages(metadata_.block(next.address, next.bytes).cursor(), prefix);
      return;
    }
    const auto block = metadata_.checked_block(next.address, next.bytes);
    auto cursor = block.cursor();
    cursor.require_signature(continuation_signature);
    take_messages(within(cursor), prefix);
  }

  /// What is before the checksum.
  static hdf5_cursor within(hdf5_cursor cursor) {
    if (cursor.remaining() < checksum_bytes) cursor.fail("no room for a checksum");
    const auto offset = cursor.offset();
    return {cursor.take(cursor.remaining() - checksum_bytes), offset};
  }

  /// Less than a message's prefix may be left over at a block's end.
  void take_messages(hdf5_cursor cursor, message_prefix prefix) {
    while (cursor.remaining() >= prefix.bytes()) {
      const unsigned type = prefix.version == 1 ? cursor.u16() : cursor.u8();
      const unsigned bytes = cursor.u16();
      const unsigned flags = cursor.u8();
      if (prefix.version == 1) cursor.skip(3);
      if (prefix.has_creation_order) cursor.skip(2);
      const auto offset = cursor.offset();
      const auto data = cursor.take(bytes);
      if (is_wanted(type))
        keep({.type = static_cast<hdf5_message_type>(type),
              .is_shared = (flags & shared_flag) != 0,
              .offset = offset,
              .bytes = {data.begin(), data.end()}});
    }
  }

  void keep(hdf5_message message) {
    if (message.type != hdf5_message_type::continuation) {
      found_.push_back(std::move(message));
      return;
    }
    auto cursor = message.cursor();
    const auto address = metadata_.address(cursor);
    const std::uint64_t bytes = cursor.number(metadata_.length_bytes());
    if (!address) cursor.fail("a header goes on nowhere");
    continuations_.push_back({*address, bytes});
  }

  hdf5_metadata& metadata_;
  std::vector<hdf5_message> found_ = {};
  std::vector<continuation> continuations_ = {};
};

}  // namespace

std::vector<hdf5_message> read_hdf5_messages(hdf5_metadata& metadata, std::uint64_t header) {
  return reader{metadata}.read(header);
}

bool has_cache_image(hdf5_metadata& metadata) {
  if (!metadata.superblock().extension) return false;
  const auto messages = read_hdf5_messages(metadata, *metadata.superblock().extension);
  return std::any_of(messages.begin(), messages.end(), [](const hdf5_message& message) {
    return message.type == hdf5_message_type::cache_image;
  });
}

void require_no_cache_image(hdf5_metadata& metadata) {
  if (has_cache_image(metadata))
    throw hdf5_metadata_error{"the file's metadata is in a cache image"};
}

}  // namespace feedline::detail
