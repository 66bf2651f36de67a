#include "io/gzip_source.hpp"

#include <zlib.h>

#include <limits>
#include <new>

namespace feedline::detail {

struct gzip_source::inflater {
  inflater() {
    constexpr int largest_window_in_gzip_framing = 15 + 16;  // zlib.h, inflateInit2
    if (inflateInit2(&stream, largest_window_in_gzip_framing) != Z_OK) throw std::bad_alloc{};
  }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;
  ~inflater() { inflateEnd(&stream); }

  z_stream stream{};
};

gzip_source::gzip_source(byte_source& compressed, std::span<const std::byte> head,
                         const file_field& name)
    : compressed_{compressed},
      name_{name},
      inflater_{std::make_unique<inflater>()},
      input_end_{head.size()} {
  std::memcpy(input_.data(), head.data(), head.size());
  inflater_->stream.next_in = reinterpret_cast<Bytef*>(input_.data());
  inflater_->stream.avail_in = static_cast<uInt>(head.size());
}

gzip_source::~gzip_source() = default;

/// Whether compressed bytes are left; refills the buffer if it is used up.
bool gzip_source::has_input() {
  z_stream& stream = inflater_->stream;
  if (stream.avail_in == 0) {
    const std::size_t got = compressed_.read(input_);
    stream.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream.avail_in = static_cast<uInt>(got);
    input_end_ += got;
  }
  return stream.avail_in != 0;
}

std::uint64_t gzip_source::offset() const noexcept {
  return input_end_ - inflater_->stream.avail_in;
}

/// Call at the end of a member. @return Whether another one follows.
bool gzip_source::begin_next_member() {
  if (!has_input()) return false;
  z_stream& stream = inflater_->stream;
  if (*stream.next_in != 0x1f)
    throw name_.error(offset(),
                      "the gzip stream ends here, but the file goes on with something else; "
                      "cut the file here, or get it anew");
  inflateReset(&stream);
  return true;
}

std::size_t gzip_source::read(std::span<std::byte> into) {
  z_stream& stream = inflater_->stream;
  std::size_t count = 0;
  while (count < into.size() && !done_) {
    // At the end of the input, inflate may still hold output that found no room before.
    const bool more = has_input();
    const std::size_t room = into.size() - count;
    const auto piece =
        static_cast<uInt>(std::min<std::size_t>(room, std::numeric_limits<uInt>::max()));
    stream.next_out = reinterpret_cast<Bytef*>(into.data() + count);
    stream.avail_out = piece;
    const int result = inflate(&stream, Z_NO_FLUSH);
    count += piece - stream.avail_out;
    if (result == Z_STREAM_END) {
      done_ = !begin_next_member();
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc{};
    } else if (result == Z_BUF_ERROR && !more) {
      throw name_.error(offset(), "the gzip stream ends early; the file is cut short, get it anew");
    } else if (result != Z_OK) {
      throw name_.error(offset(), std::string{"the gzip stream is damaged: "} +
                                      (stream.msg != nullptr ? stream.msg : zError(result)) +
                                      "; get the file anew");
    }
  }
  return count;
}

}  // namespace feedline::detail
