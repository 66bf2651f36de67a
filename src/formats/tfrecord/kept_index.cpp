#include "detail/byte_order.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/crc32c.hpp"
#include "formats/tfrecord/index.hpp"

#include <system_error>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;
namespace fs = std::filesystem;

constexpr std::string_view kept_index_magic = "FLTFIDX1";

void put(std::vector<std::byte>& to, std::uint64_t number, unsigned bytes = 8) {
  for (unsigned i = 0; i < bytes; ++i) to.push_back(std::byte(number >> 8 * i & 0xff));
}

void put(std::vector<std::byte>& to, std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// All that an index must agree with, before its numbers.
std::vector<std::byte> identity(const byte_file& of) {
  std::vector<std::byte> bytes;
  put(bytes, kept_index_magic);
  put(bytes, of.size());
  const std::string version = of.version();
  put(bytes, of.name().size());
  put(bytes, of.name());
  put(bytes, version.size());
  put(bytes, version);
  return bytes;
}

fs::path place_of(const byte_file& of, const std::string& folder) {
  const std::uint32_t crc = crc32c(std::as_bytes(std::span{of.name()}));
  return fs::path{folder} /
         (fs::path{of.name()}.filename().string() + '-' + to_hex(std::uint64_t{crc}) + ".index");
}

std::vector<std::byte> content_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::vector<std::byte> bytes;
  put(bytes, text);
  return bytes;
}

/// A reader finds the old file or the new one, never a part.
bool replace(const fs::path& path, byte_span bytes) {
  const fs::path part = path.string() + '.' + std::to_string(::getpid()) + ".part";
  {
    std::ofstream file{part, std::ios::binary | std::ios::trunc};
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) return false;
  }
  std::error_code failed;
  fs::rename(part, path, failed);
  if (failed) fs::remove(part, failed);
  return !failed;
}

}  // namespace

std::vector<std::byte> stored_tfrecord_index(const byte_file& of,
                                             std::span<const std::uint64_t> ends) {
  std::vector<std::byte> bytes = identity(of);
  for (const std::uint64_t end : ends) put(bytes, end);
  put(bytes, crc32c(bytes), 4);
  return bytes;
}

std::vector<std::uint64_t> read_tfrecord_index(byte_span stored, const byte_file& of) {
  const std::vector<std::byte> expected = identity(of);
  if (stored.size() < expected.size() + 4 || (stored.size() - expected.size() - 4) % 8 != 0)
    return {};
  const byte_span counted = stored.first(stored.size() - 4);
  if (crc32c(counted) != little_endian(stored.last(4)) ||
      !std::equal(expected.begin(), expected.end(), stored.begin()))
    return {};
  std::vector<std::uint64_t> ends;
  std::uint64_t last = 0;
  for (byte_span left = counted.subspan(expected.size()); !left.empty(); left = left.subspan(8)) {
    const std::uint64_t end = little_endian(left.first(8));
    if (end > of.size() || end < last + tfrecord_head_bytes + tfrecord_crc_bytes) return {};
    ends.push_back(last = end);
  }
  return last == of.size() ? ends : std::vector<std::uint64_t>{};
}

std::vector<std::uint64_t> kept_tfrecord_index(const byte_file& of, const std::string& folder) {
  const fs::path place = place_of(of, folder);
  std::vector<std::uint64_t> ends = read_tfrecord_index(content_of(place), of);
  if (!ends.empty()) return ends;
  ends = index_tfrecord(of);
  if (!ends.empty() && !replace(place, stored_tfrecord_index(of, ends)))
    log()->warn(
        "open_tfrecord: the index {} cannot be written; check that its folder exists and "
        "can be written to. The index is kept in memory only",
        printable(place.string()));
  return ends;
}

}  // namespace feedline::detail
