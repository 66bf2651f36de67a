#include "remote/cache/block_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#ifdef FEEDLINE_HAS_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

namespace feedline::detail::block_file {
namespace {

constexpr std::array<char, 8> magic{'f', 'e', 'e', 'd', 'b', 'l', 'k', '1'};
constexpr std::size_t max_text = std::size_t{1} << 20;

/// The last bytes of the file.
struct trailer {
  std::uint64_t bytes = 0;
  std::uint32_t text = 0;  ///< length of the text in bytes
  std::uint32_t sum = 0;   ///< checksum of the page checksums, the text and the two numbers above
  std::array<char, 8> magic = {};
};
static_assert(sizeof(trailer) == 24);

std::uint32_t sum_of(const void* data, std::size_t bytes, std::uint32_t so_far = 0) noexcept {
#ifdef FEEDLINE_HAS_LIBDEFLATE
  return libdeflate_crc32(so_far, data, bytes);
#else
  return static_cast<std::uint32_t>(crc32_z(so_far, static_cast<const Bytef*>(data), bytes));
#endif
}

std::size_t pages_of(std::uint64_t bytes) noexcept {
  return static_cast<std::size_t>((bytes + page_bytes - 1) / page_bytes);
}

int write_all(int descriptor, const void* data, std::size_t bytes) noexcept {
  const auto* at = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t wrote = ::write(descriptor, at, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote == 0 ? EIO : errno;
    at += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
  return 0;
}

bool read_all(int descriptor, std::uint64_t offset, void* data, std::size_t bytes) noexcept {
  auto* at = static_cast<char*>(data);
  while (bytes != 0) {
    const ssize_t got = pread(descriptor, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::uint32_t sum_of_tail(std::span<const std::uint32_t> sums, std::string_view text,
                          const trailer& last) noexcept {
  std::uint32_t sum = sum_of(sums.data(), sums.size_bytes());
  sum = sum_of(text.data(), text.size(), sum);
  sum = sum_of(&last.bytes, sizeof last.bytes, sum);
  return sum_of(&last.text, sizeof last.text, sum);
}

}  // namespace

std::uint64_t file_bytes(std::uint64_t bytes, std::size_t text) noexcept {
  return bytes + pages_of(bytes) * sizeof(std::uint32_t) + text + sizeof(trailer);
}

int write(int descriptor, std::span<const std::byte> bytes, const std::string& text) {
  if (text.size() > max_text) return ENAMETOOLONG;
  std::vector<std::uint32_t> sums;
  for (std::size_t at = 0; at < bytes.size(); at += page_bytes)
    sums.push_back(sum_of(bytes.data() + at, std::min<std::size_t>(page_bytes, bytes.size() - at)));
  trailer last{.bytes = bytes.size(),
               .text = static_cast<std::uint32_t>(text.size()),
               .sum = 0,
               .magic = magic};
  last.sum = sum_of_tail(sums, text, last);
  int fault = write_all(descriptor, bytes.data(), bytes.size());
  if (fault == 0) fault = write_all(descriptor, sums.data(), sums.size() * sizeof(std::uint32_t));
  if (fault == 0) fault = write_all(descriptor, text.data(), text.size());
  if (fault == 0) fault = write_all(descriptor, &last, sizeof last);
  return fault;
}

outcome read(int descriptor, std::uint64_t bytes, const std::string& text, std::uint64_t offset,
             std::span<std::byte> out) {
  thread_local std::vector<std::uint32_t> sums;
  thread_local std::string found;
  thread_local std::vector<std::byte> pages;  // kept to avoid allocation
  const off_t end = lseek(descriptor, 0, SEEK_END);
  trailer last;
  if (end < static_cast<off_t>(bytes + sizeof last) ||
      !read_all(descriptor, static_cast<std::uint64_t>(end) - sizeof last, &last, sizeof last))
    return outcome::damaged;
  if (last.magic != magic || last.bytes != bytes || last.text > max_text ||
      static_cast<std::uint64_t>(end) != file_bytes(bytes, last.text))
    return outcome::damaged;
  sums.resize(pages_of(bytes));
  found.resize(last.text);
  const std::uint64_t tail = bytes + sums.size() * sizeof(std::uint32_t);
  if (!read_all(descriptor, bytes, sums.data(), sums.size() * sizeof(std::uint32_t)) ||
      !read_all(descriptor, tail, found.data(), found.size()) ||
      sum_of_tail(sums, found, last) != last.sum)
    return outcome::damaged;
  if (found != text) return outcome::other;
  const std::uint64_t first = offset / page_bytes;
  const std::uint64_t end_page = pages_of(offset + out.size());
  const std::uint64_t begin = first * page_bytes;
  const std::uint64_t size = std::min(end_page * page_bytes, bytes) - begin;
  pages.resize(static_cast<std::size_t>(size));
  if (!read_all(descriptor, begin, pages.data(), pages.size())) return outcome::damaged;
  for (std::uint64_t page = first; page < end_page; ++page) {
    const std::uint64_t at = (page - first) * page_bytes;
    const auto length = static_cast<std::size_t>(std::min(page_bytes, size - at));
    if (sum_of(pages.data() + at, length) != sums[static_cast<std::size_t>(page)])
      return outcome::damaged;
  }
  std::memcpy(out.data(), pages.data() + (offset - begin), out.size());
  return outcome::read;
}

}  // namespace feedline::detail::block_file
