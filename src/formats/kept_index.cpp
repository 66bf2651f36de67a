#include "formats/kept_index.hpp"

#include "detail/byte_order.hpp"
#include "detail/checksums/crc32c.hpp"
#include "detail/checksums/sha256.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/replace_file.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;
namespace fs = std::filesystem;

constexpr std::size_t crc_bytes = 4;

void put(std::vector<std::byte>& to, std::uint64_t number, unsigned bytes = 8) {
  for (unsigned i = 0; i < bytes; ++i) to.push_back(std::byte(number >> 8 * i & 0xff));
}

void put(std::vector<std::byte>& to, std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// All that an index must agree with, before its numbers. An address may hold a secret, so only a
/// hash of it is written.
std::vector<std::byte> identity(const byte_file& of, std::string_view kind) {
  std::vector<std::byte> bytes;
  put(bytes, kind);
  put(bytes, of.size());
  const std::string version = of.version();
  sha256 name;
  const std::string stable = of.stable_name();
  name.add(std::as_bytes(std::span{stable}));
  for (const unsigned char byte : name.digest()) bytes.push_back(std::byte{byte});
  put(bytes, version.size());
  put(bytes, version);
  return bytes;
}

/// The index's name begins with the file's, cut so that file systems take it.
fs::path place_of(const byte_file& of, std::string_view kind, const std::string& folder) {
  constexpr std::size_t longest = 128;
  std::vector<std::byte> which;
  put(which, of.stable_name());
  put(which, kind);
  const std::string name = fs::path{path_without_secrets(of.name())}.filename().string();
  return fs::path{folder} /
         (name.substr(0, longest) + '-' + to_hex(std::uint64_t{crc32c(which)}) + ".index");
}

std::vector<std::byte> content_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::vector<std::byte> bytes;
  put(bytes, text);
  return bytes;
}

}  // namespace

std::vector<std::byte> stored_index(const byte_file& of, std::string_view kind,
                                    std::span<const std::uint64_t> numbers) {
  std::vector<std::byte> bytes = identity(of, kind);
  bytes.reserve(bytes.size() + 8 * numbers.size() + crc_bytes);
  for (const std::uint64_t number : numbers) put(bytes, number);
  put(bytes, crc32c(bytes), crc_bytes);
  return bytes;
}

std::optional<std::vector<std::uint64_t>> read_stored_index(byte_span stored, const byte_file& of,
                                                            std::string_view kind) {
  const std::vector<std::byte> expected = identity(of, kind);
  const std::size_t others = expected.size() + crc_bytes;
  if (stored.size() < others || (stored.size() - others) % 8 != 0) return std::nullopt;
  const byte_span counted = stored.first(stored.size() - crc_bytes);
  if (crc32c(counted) != little_endian(stored.last(crc_bytes)) ||
      !std::equal(expected.begin(), expected.end(), stored.begin()))
    return std::nullopt;
  std::vector<std::uint64_t> numbers;
  numbers.reserve((stored.size() - others) / 8);
  for (byte_span left = counted.subspan(expected.size()); !left.empty(); left = left.subspan(8))
    numbers.push_back(little_endian(left.first(8)));
  return numbers;
}

std::optional<std::vector<std::uint64_t>> find_kept_index(const byte_file& of,
                                                          std::string_view kind,
                                                          const std::string& folder) {
  if (!of.has_version()) return std::nullopt;
  return read_stored_index(content_of(place_of(of, kind, folder)), of, kind);
}

void keep_index(const byte_file& of, std::string_view kind, const std::string& folder,
                std::span<const std::uint64_t> numbers, std::string_view who) {
  if (!of.has_version()) {
    log()->warn(
        "{}: no index of {} is kept: its server tells neither an ETag nor a date, so that a change "
        "of the file could not be seen",
        who, printable(of.name()));
    return;
  }
  const std::string place = place_of(of, kind, folder).string();
  const std::vector<std::byte> stored = stored_index(of, kind, numbers);
  try {
    replace_file(place, [&](std::ostream& out) {
      out.write(reinterpret_cast<const char*>(stored.data()),
                static_cast<std::streamsize>(stored.size()));
    });
  } catch (const std::exception& failure) {
    log()->warn(
        "{}: the index {} cannot be written; check that its folder exists and can be written to. "
        "The index is kept in memory only ({})",
        who, printable(place), printable(failure.what()));
  }
}

}  // namespace feedline::detail
