#include "io/gzip_points.hpp"

#include <feedline/error.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>

namespace feedline::detail {
namespace {

using stream_ptr = std::unique_ptr<z_stream, void (*)(z_stream*)>;

constexpr int gzip_framing = 15 + 16;  // zlib.h, inflateInit2: the largest window, a gzip header
constexpr int no_framing = -15;
constexpr std::size_t deflate_window_bytes = std::size_t{32} << 10;
constexpr std::size_t trailer_bytes = 8;
constexpr std::uint64_t max_between = std::uint64_t{1} << 30;

stream_ptr new_inflater() {
  auto stream = std::make_unique<z_stream>();
  if (inflateInit2(stream.get(), gzip_framing) != Z_OK) throw std::bad_alloc{};
  return {stream.release(), [](z_stream* opened) {
            inflateEnd(opened);
            delete opened;
          }};
}

dataset_error gzip_fault(const byte_file& file, std::uint64_t byte, const std::string& message) {
  return {{.path = file.name(), .field = {}, .sample = {}, .offset = byte}, message};
}

std::uint32_t crc_of(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Decompresses a file from front to back, and stops at each block of its stream.
class point_finder {
 public:
  point_finder(const byte_file& file, std::uint64_t span) : file_{file}, span_{span} {
    found_.points.emplace_back();
  }

  gzip_points find() {
    while (step()) {
    }
    found_.raw_bytes = raw_;
    return std::move(found_);
  }

 private:
  /// Offset in the file of the next byte to decompress.
  [[nodiscard]] std::uint64_t at() const noexcept { return input_end_ - stream_->avail_in; }

  bool has_input() {
    if (stream_->avail_in != 0) return true;
    const auto some =
        static_cast<std::size_t>(std::min<std::uint64_t>(input_.size(), file_.size() - input_end_));
    if (some == 0) return false;
    file_.read(input_end_, std::span{input_}.first(some));
    input_end_ += some;
    stream_->next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_->avail_in = static_cast<uInt>(some);
    return true;
  }

  /// @return Whether the file continues.
  bool step() {
    const bool more = has_input();
    stream_->next_out = reinterpret_cast<Bytef*>(output_.data());
    stream_->avail_out = static_cast<uInt>(output_.size());
    const int result = inflate(stream_.get(), Z_BLOCK);
    const std::size_t got = output_.size() - stream_->avail_out;
    found_.points.back().crc = crc_of(found_.points.back().crc, std::span{output_}.first(got));
    raw_ += got;
    if (raw_ - found_.points.back().raw > max_between)
      throw gzip_fault(file_, at(),
                       "the gzip stream has no point within 1 GiB from which it can be read; "
                       "decompress the file (gunzip)");
    if (result == Z_STREAM_END) return end_member();
    if (result == Z_MEM_ERROR) throw std::bad_alloc{};
    if (result == Z_BUF_ERROR && !more)
      throw gzip_fault(file_, at(),
                       "the gzip stream ends early; the file is cut short, get it again");
    if (result != Z_OK && result != Z_BUF_ERROR)
      throw gzip_fault(file_, at(),
                       std::string{"the gzip stream is damaged: "} +
                           (stream_->msg != nullptr ? stream_->msg : zError(result)) +
                           "; get the file again");
    constexpr int at_block_end = 128;  // zlib.h, inflate: data_type
    constexpr int in_last_block = 64;
    const int state = stream_->data_type;
    if (is_due() && (state & at_block_end) != 0 && (state & in_last_block) == 0)
      add_point(static_cast<unsigned>(state & 7));
    return true;
  }

  [[nodiscard]] bool is_due() const noexcept { return raw_ - found_.points.back().raw >= span_; }

  void add_point(unsigned bits) {
    gzip_point& made = found_.points.emplace_back();
    made.stored = at();
    made.raw = raw_;
    made.bits = bits;
    made.begins_member = false;
    made.window.resize(deflate_window_bytes);
    uInt bytes = 0;
    inflateGetDictionary(stream_.get(), reinterpret_cast<Bytef*>(made.window.data()), &bytes);
    made.window.resize(bytes);
    made.window.shrink_to_fit();
  }

  /// @return Whether another member follows.
  bool end_member() {
    if (!has_input()) return false;
    if (*stream_->next_in != 0x1f)
      throw gzip_fault(file_, at(),
                       "the gzip stream ends here, but the file continues with something else; cut "
                       "the file here, or get it again");
    inflateReset(stream_.get());
    if (!is_due()) return true;
    gzip_point& made = found_.points.emplace_back();
    made.stored = at();
    made.raw = raw_;
    return true;
  }

  const byte_file& file_;
  std::uint64_t span_;
  gzip_points found_;
  stream_ptr stream_ = new_inflater();
  std::vector<std::byte> input_ = std::vector<std::byte>(std::size_t{256} << 10);
  std::vector<std::byte> output_ = std::vector<std::byte>(std::size_t{256} << 10);
  std::uint64_t input_end_ = 0;
  std::uint64_t raw_ = 0;
};

/// Begins to decompress at a point. @param stored The file's bytes from one before the point, if
/// bits of that belong to it, else from the point.
bool begin_at(z_stream& stream, const gzip_point& from, std::span<const std::byte> stored) {
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  if (inflateReset2(&stream, from.begins_member ? gzip_framing : no_framing) != Z_OK) return false;
  if (from.bits != 0) {
    const int first = *stream.next_in++;
    --stream.avail_in;
    if (inflatePrime(&stream, static_cast<int>(from.bits), first >> (8 - from.bits)) != Z_OK)
      return false;
  }
  return from.window.empty() ||
         inflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(from.window.data()),
                              static_cast<uInt>(from.window.size())) == Z_OK;
}

/// Decompresses until the output is full. @return Whether it is.
bool fill(z_stream& stream, bool has_framing, std::span<std::byte> out) {
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  while (stream.avail_out != 0) {
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (stream.avail_out == 0) return true;
    if (result != Z_STREAM_END) return false;
    if (!has_framing) {
      if (stream.avail_in < trailer_bytes) return false;
      stream.next_in += trailer_bytes;
      stream.avail_in -= static_cast<uInt>(trailer_bytes);
    }
    has_framing = true;
    if (inflateReset2(&stream, gzip_framing) != Z_OK) return false;
  }
  return true;
}

}  // namespace

gzip_points find_gzip_points(const byte_file& file, std::uint64_t span) {
  gzip_points found = point_finder{file, span}.find();
  file.require_unchanged();
  return found;
}

gzip_part_reader::gzip_part_reader() : stream_{new_inflater()} {}

void gzip_part_reader::read(const byte_file& file, const gzip_points& of, std::size_t point,
                            std::span<std::byte> out) {
  const gzip_point& from = of.points[point];
  const std::uint64_t begin = from.stored - (from.bits != 0 ? 1 : 0);
  const std::uint64_t end =
      point + 1 == of.points.size() ? file.size() : of.points[point + 1].stored;
  stored_.resize(static_cast<std::size_t>(end - begin));
  file.read(begin, stored_);
  file.require_unchanged();
  if (!begin_at(*stream_, from, stored_) || !fill(*stream_, from.begins_member, out) ||
      crc_of(0, out) != from.crc)
    throw gzip_fault(
        file, begin,
        "the gzip stream is not the same as when the file was opened; get the file again");
}

}  // namespace feedline::detail
