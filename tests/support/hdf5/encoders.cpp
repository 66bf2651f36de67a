#include "support/hdf5/encoders.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#ifdef FEEDLINE_HAS_LZ4
#include <lz4.h>
#endif
#ifdef FEEDLINE_HAS_ZSTD
#include <zstd.h>
#endif
#ifdef FEEDLINE_HAS_BLOSC
#include <blosc.h>
#endif
#ifdef FEEDLINE_HAS_LIBAEC
#include <libaec.h>
#endif

namespace feedline::test {

namespace {

void require(bool is_so, const char* what) {
  if (!is_so) throw std::logic_error{std::string{"encoding for a test: "} + what};
}

void append(bytes& to, bytes_view more) {
  to.insert(to.end(), more.begin(), more.end());
}

void append_big_endian(bytes& to, std::uint64_t value, unsigned size) {
  for (unsigned i = size; i-- > 0;) to.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
}

bytes lz4_block([[maybe_unused]] bytes_view raw) {
#ifdef FEEDLINE_HAS_LZ4
  bytes packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  const int size = LZ4_compress_default(
      reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(packed.data()),
      static_cast<int>(raw.size()), static_cast<int>(packed.size()));
  require(size > 0, "lz4");
  packed.resize(static_cast<std::size_t>(size));
  return packed;
#else
  throw std::logic_error{"there is no liblz4"};
#endif
}

/// Plane by plane, bit by bit, as in bitshuffle's documentation.
bytes bit_planes(bytes_view raw, std::size_t element) {
  const std::size_t count = raw.size() / element;
  bytes planes(raw.size());
  for (std::size_t bit = 0; bit < 8 * element; ++bit)
    for (std::size_t i = 0; i < count; ++i) {
      const auto is_set = (raw[i * element + bit / 8] >> (bit % 8)) & std::byte{1};
      planes[bit * (count / 8) + i / 8] |= is_set << (i % 8);
    }
  return planes;
}

}  // namespace

bytes deflated(bytes_view raw, int level) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  bytes packed(size);
  require(compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                    reinterpret_cast<const Bytef*>(raw.data()), static_cast<uLong>(raw.size()),
                    level) == Z_OK,
          "zlib");
  packed.resize(size);
  return packed;
}

bytes shuffled(bytes_view raw, std::size_t element) {
  const std::size_t count = raw.size() / element;
  bytes planes(raw.begin(), raw.end());
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t plane = 0; plane < element; ++plane)
      planes[plane * count + i] = raw[i * element + plane];
  return planes;
}

bytes with_fletcher32(bytes_view raw) {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (std::size_t i = 0; i < raw.size(); i += 2) {
    const auto low = i + 1 < raw.size() ? std::to_integer<std::uint32_t>(raw[i + 1]) : 0;
    first += (std::to_integer<std::uint32_t>(raw[i]) << 8) | low;
    first = (first & 0xffff) + (first >> 16);
    second += first;
    second = (second & 0xffff) + (second >> 16);
  }
  bytes with{raw.begin(), raw.end()};
  const std::uint32_t sum = (second << 16) | first;
  for (unsigned i = 0; i < 4; ++i) with.push_back(static_cast<std::byte>((sum >> (8 * i)) & 0xff));
  return with;
}

bytes lzf_packed(bytes_view raw) {
  constexpr std::size_t farthest = 1 << 13;
  constexpr std::size_t longest = 264;
  bytes packed;
  std::size_t plain_from = 0;
  const auto flush = [&](std::size_t to) {
    for (; plain_from < to; plain_from += std::min<std::size_t>(32, to - plain_from)) {
      const auto plain = raw.subspan(plain_from, std::min<std::size_t>(32, to - plain_from));
      packed.push_back(static_cast<std::byte>(plain.size() - 1));
      append(packed, plain);
    }
  };
  std::vector<std::size_t> last_seen(1 << 16, raw.size());  // indexed by the next two bytes
  for (std::size_t at = 0; at + 2 < raw.size();) {
    const std::size_t key =
        std::to_integer<std::size_t>(raw[at]) << 8 | std::to_integer<std::size_t>(raw[at + 1]);
    const std::size_t before = last_seen[key];
    last_seen[key] = at;
    if (before == raw.size() || at - before > farthest || raw[before + 2] != raw[at + 2]) {
      ++at;
      continue;
    }
    std::size_t length = 3;
    while (length < longest && at + length < raw.size() && raw[before + length] == raw[at + length])
      ++length;
    flush(at);
    const std::size_t distance = at - before - 1;
    const std::size_t code = std::min<std::size_t>(length - 2, 7);
    packed.push_back(static_cast<std::byte>(code << 5 | distance >> 8));
    if (code == 7) packed.push_back(static_cast<std::byte>(length - 2 - 7));
    packed.push_back(static_cast<std::byte>(distance & 0xff));
    at += length;
    plain_from = at;
  }
  flush(raw.size());
  return packed;
}

bytes lz4_packed(bytes_view raw, std::uint32_t block) {
  bytes packed;
  append_big_endian(packed, raw.size(), 8);
  append_big_endian(packed, block, 4);
  for (std::size_t at = 0; at < raw.size(); at += block) {
    const auto plain = raw.subspan(at, std::min<std::size_t>(block, raw.size() - at));
    const bytes small = lz4_block(plain);
    const bytes_view stored = small.size() < plain.size() ? bytes_view{small} : plain;
    append_big_endian(packed, stored.size(), 4);
    append(packed, stored);
  }
  return packed;
}

bytes zstd_packed([[maybe_unused]] bytes_view raw, [[maybe_unused]] int level) {
#ifdef FEEDLINE_HAS_ZSTD
  bytes packed(ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), level);
  require(ZSTD_isError(size) == 0, "zstd");
  packed.resize(size);
  return packed;
#else
  throw std::logic_error{"there is no libzstd"};
#endif
}

bytes blosc_packed([[maybe_unused]] bytes_view raw, [[maybe_unused]] std::size_t element,
                   [[maybe_unused]] const char* compressor, [[maybe_unused]] int shuffle) {
#ifdef FEEDLINE_HAS_BLOSC
  bytes packed(raw.size() + BLOSC_MAX_OVERHEAD);
  const int size = blosc_compress_ctx(5, shuffle, element, raw.size(), raw.data(), packed.data(),
                                      packed.size(), compressor, 0, 1);
  require(size > 0, compressor);
  packed.resize(static_cast<std::size_t>(size));
  return packed;
#else
  throw std::logic_error{"there is no libblosc"};
#endif
}

bytes szip_packed([[maybe_unused]] bytes_view raw,
                  [[maybe_unused]] std::span<const unsigned> values) {
#ifdef FEEDLINE_HAS_LIBAEC
  // Works like libaec's replacement for szip: pixels of 32 and 64 bits are coded byte by byte, and
  // each scanline is filled up to whole blocks with its last pixel.
  const std::size_t bits = values[2];
  const bool is_planes = bits == 32 || bits == 64;
  const bytes pixels = is_planes ? shuffled(raw, bits / 8) : bytes{raw.begin(), raw.end()};
  const std::size_t pixel = is_planes || bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
  const std::size_t line = values[3] * pixel;
  const std::size_t blocks = (values[3] + values[1] - 1) / values[1];
  bytes lines;
  for (std::size_t at = 0; at < pixels.size(); at += line) {
    append(lines, bytes_view{pixels}.subspan(at, std::min(line, pixels.size() - at)));
    while (lines.size() % (blocks * values[1] * pixel) != 0)
      lines.push_back(lines[lines.size() - pixel]);
  }

  aec_stream stream{};
  bytes packed(4 + 2 * lines.size() + 256);
  stream.next_in = reinterpret_cast<const unsigned char*>(lines.data());
  stream.avail_in = lines.size();
  stream.next_out = reinterpret_cast<unsigned char*>(packed.data() + 4);
  stream.avail_out = packed.size() - 4;
  stream.bits_per_sample = is_planes ? 8 : static_cast<unsigned>(bits);
  stream.block_size = values[1];
  stream.rsi = static_cast<unsigned>(blocks);
  stream.flags = AEC_NOT_ENFORCE;
  if ((values[0] & 16U) != 0) stream.flags |= AEC_DATA_MSB;
  if ((values[0] & 32U) != 0) stream.flags |= AEC_DATA_PREPROCESS;
  require(aec_buffer_encode(&stream) == AEC_OK, "szip");
  for (unsigned i = 0; i < 4; ++i)
    packed[i] = static_cast<std::byte>((raw.size() >> (8 * i)) & 0xff);
  packed.resize(4 + stream.total_out);
  return packed;
#else
  throw std::logic_error{"there is no libaec"};
#endif
}

bytes bitshuffled(bytes_view raw, std::size_t element, std::size_t block,
                  bit_compression compression) {
  if (block == 0) block = std::max<std::size_t>(8192 / element / 8 * 8, 128);
  bytes packed;
  if (compression != bit_compression::none) {
    append_big_endian(packed, raw.size(), 8);
    append_big_endian(packed, block * element, 4);
  }
  const std::size_t whole = raw.size() / element / 8 * 8;
  for (std::size_t done = 0; done < whole; done += block) {
    const std::size_t count = std::min(block, whole - done);
    const bytes planes = bit_planes(raw.subspan(done * element, count * element), element);
    switch (compression) {
      case bit_compression::none:
        append(packed, planes);
        continue;
      case bit_compression::lz4:
      case bit_compression::zstd:
        break;
    }
    const bytes small =
        compression == bit_compression::lz4 ? lz4_block(planes) : zstd_packed(planes);
    append_big_endian(packed, small.size(), 4);
    append(packed, small);
  }
  append(packed, raw.subspan(whole * element));
  return packed;
}

}  // namespace feedline::test
