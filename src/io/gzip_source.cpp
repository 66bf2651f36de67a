#include "io/gzip_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace feedline::detail {
namespace {

z_stream* open_stream() {
  constexpr int largest_window_in_gzip_framing = 15 + 16;  // zlib.h, inflateInit2
  auto stream = std::make_unique<z_stream>();
  if (inflateInit2(stream.get(), largest_window_in_gzip_framing) != Z_OK) throw std::bad_alloc{};
  return stream.release();
}

void close_stream(z_stream* stream) {
  inflateEnd(stream);
  delete stream;
}

}  // namespace

gzip_source::gzip_source(byte_source& compressed, std::span<const std::byte> head,
                         const file_field& name)
    : compressed_{compressed}, name_{name}, stream_{open_stream(), close_stream} {
  std::ranges::copy(head, input_.begin());  // none of a file that begins here
  input_end_ = head.size();
  stream_->next_in = reinterpret_cast<Bytef*>(input_.data());
  stream_->avail_in = static_cast<uInt>(head.size());
}

/// Whether compressed bytes are left; refills the buffer if it is used up.
bool gzip_source::has_input() {
  z_stream& stream = *stream_;
  if (stream.avail_in == 0) {
    const std::size_t got = compressed_.read(input_);
    stream.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream.avail_in = static_cast<uInt>(got);
    input_end_ += got;
  }
  return stream.avail_in != 0;
}

std::uint64_t gzip_source::offset() const noexcept {
  return input_end_ - stream_->avail_in;
}

/// Call at the end of a member. @return Whether another one follows.
bool gzip_source::begin_next_member() {
  if (!has_input()) return false;
  z_stream& stream = *stream_;
  if (*stream.next_in != 0x1f)
    throw name_.error(offset(),
                      "the gzip stream ends here, but the file continues with something else; "
                      "cut the file here, or get it again");
  inflateReset(&stream);
  return true;
}

std::size_t gzip_source::read(std::span<std::byte> into) {
  z_stream& stream = *stream_;
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
      throw name_.error(offset(),
                        "the gzip stream ends early; the file is cut short, get it again");
    } else if (result != Z_OK) {
      throw name_.error(offset(), std::string{"the gzip stream is damaged: "} +
                                      (stream.msg != nullptr ? stream.msg : zError(result)) +
                                      "; get the file again");
    }
  }
  return count;
}

}  // namespace feedline::detail
