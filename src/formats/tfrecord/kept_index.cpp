#include "formats/kept_index.hpp"

#include "formats/tfrecord/index.hpp"

#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view kept_index_kind = "FLTFIDX1";

/// @return Empty: the numbers are not the ends of records that make up the file.
std::vector<std::uint64_t> checked(std::vector<std::uint64_t> ends, const byte_file& of) {
  std::uint64_t last = 0;
  for (const std::uint64_t end : ends) {
    if (end > of.size() || end < last + tfrecord_head_bytes + tfrecord_crc_bytes) return {};
    last = end;
  }
  if (last != of.size()) ends.clear();
  return ends;
}

}  // namespace

std::vector<std::byte> stored_tfrecord_index(const byte_file& of,
                                             std::span<const std::uint64_t> ends) {
  return stored_index(of, kept_index_kind, ends);
}

std::vector<std::uint64_t> read_tfrecord_index(std::span<const std::byte> stored,
                                               const byte_file& of) {
  return checked(
      read_stored_index(stored, of, kept_index_kind).value_or(std::vector<std::uint64_t>{}), of);
}

std::vector<std::uint64_t> kept_tfrecord_index(const byte_file& of, const std::string& folder) {
  std::vector<std::uint64_t> ends = checked(
      find_kept_index(of, kept_index_kind, folder).value_or(std::vector<std::uint64_t>{}), of);
  if (!ends.empty()) return ends;
  ends = index_tfrecord(of);
  if (!ends.empty()) keep_index(of, kept_index_kind, folder, ends, "open_tfrecord");
  return ends;
}

}  // namespace feedline::detail
