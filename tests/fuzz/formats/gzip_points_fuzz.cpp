/// Fuzz target of gzip files that are read from points: any bytes are a content or an error, and a
/// content is the same from its points as from the beginning.
///
/// The first byte is a kind. 1 to 9: the rest is compressed by this level, in members of 64 k + 1
/// bytes, where k is the second byte. Others: the rest is a file.

#include <feedline/error.hpp>

#include "io/gzip_points.hpp"
#include "support/files/memory_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

using namespace feedline;

namespace {

using byte_span = std::span<const std::byte>;

void append_member(std::vector<std::byte>& file, byte_span content, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    std::abort();
  const std::size_t begin = file.size();
  file.resize(begin + deflateBound(&stream, static_cast<uLong>(content.size())));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(file.data() + begin);
  stream.avail_out = static_cast<uInt>(file.size() - begin);
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  file.resize(begin + stream.total_out);
  deflateEnd(&stream);
}

std::vector<std::byte> content_of(byte_span packed, std::uint64_t span) {
  const auto file = test::memory_file(packed);
  const detail::gzip_points found = detail::find_gzip_points(*file, span);
  std::vector<std::byte> content(static_cast<std::size_t>(found.raw_bytes));
  detail::gzip_part_reader reader;
  for (std::size_t i = found.points.size(); i-- > 0;) {
    const detail::byte_range range = found.raw_range(i);
    reader.read(*file, found, i,
                std::span{content}.subspan(static_cast<std::size_t>(range.begin),
                                           static_cast<std::size_t>(range.end - range.begin)));
  }
  return content;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const byte_span input = std::as_bytes(std::span{data, size});
  if (size < 2) return 0;
  const byte_span content = input.subspan(2);
  if (data[0] >= 1 && data[0] <= 9) {
    std::vector<std::byte> file;
    const std::size_t piece = 64 * std::size_t{data[1]} + 1;
    for (std::size_t at = 0; at == 0 || at < content.size(); at += piece)
      append_member(file, content.subspan(at, std::min(piece, content.size() - at)), data[0]);
    if (!std::ranges::equal(content_of(file, 100), content)) std::abort();
    return 0;
  }
  try {
    const std::vector<std::byte> read = content_of(input.subspan(1), 1000);
    if (read != content_of(input.subspan(1), std::uint64_t{1} << 30)) std::abort();
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
