#include "remote/answer/object_checksum.hpp"

#include "detail/checksums/crc32c.hpp"
#include "detail/printable.hpp"
#include "remote/answer/judge_answer.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace feedline::detail {
namespace {

struct named_kind {
  object_checksum::kind what;
  std::string_view header, name;
  std::size_t bytes;
};
constexpr std::array kinds{
    named_kind{object_checksum::kind::crc32c, "crc32c", "CRC-32C", 4},
    named_kind{object_checksum::kind::crc32, "crc32", "CRC-32", 4},
    named_kind{object_checksum::kind::crc64nvme, "crc64nvme", "CRC-64/NVME", 8},
    named_kind{object_checksum::kind::sha256, "sha256", "SHA-256", 32},
};

const named_kind& row_of(object_checksum::kind what) noexcept {
  return kinds.at(static_cast<std::size_t>(what));
}

/// tables[k][b]: the effect of a byte b after k further bytes of zeros.
constexpr auto crc64_tables = [] {
  std::array<std::array<std::uint64_t, 256>, 8> made{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1) * 0x9a6c9329ac4bc9b5U;
    made[0][byte] = crc;
  }
  for (std::size_t k = 1; k < made.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      made[k][byte] = made[k - 1][byte] >> 8 ^ made[0][made[k - 1][byte] & 0xff];
  return made;
}();

/// CRC-64/NVME, eight bytes a step. @param before The result for the bytes before these.
std::uint64_t crc64nvme(std::span<const std::byte> bytes, std::uint64_t before) noexcept {
  std::uint64_t crc = ~before;
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little)
    for (; bytes.size() - at >= 8; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      word ^= crc;
      crc = 0;
      for (std::size_t k = 0; k < 8; ++k) crc ^= crc64_tables[7 - k][word >> 8 * k & 0xff];
    }
  for (; at < bytes.size(); ++at)
    crc = crc >> 8 ^ crc64_tables[0][(crc ^ std::to_integer<std::uint64_t>(bytes[at])) & 0xff];
  return ~crc;
}

std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t there = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < there ? bytes[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= there ? digits[group >> (18 - 6 * i) & 0x3f] : '=';
  }
  return text;
}

}  // namespace

void object_checksum::add(std::string_view name, std::string_view value) {
  if (name == "type") {
    is_composite = is_composite || value == "COMPOSITE";
    return;
  }
  const auto* const found = std::ranges::find(kinds, name, &named_kind::header);
  if (found == kinds.end()) return;
  // A composite one ends in the number of parts. An older store tells no type.
  if (value.find('-') != std::string_view::npos) is_composite = true;
  const bool has_form = value.size() == (found->bytes + 2) / 3 * 4;
  if (!has_form || found->what >= what) return;
  what = found->what;
  text = value;
}

std::optional<running_checksum> running_checksum::of(const object_checksum& told) {
  if (told.what == object_checksum::kind::none || told.is_composite) return std::nullopt;
  return running_checksum{told.what};
}

void running_checksum::add(std::span<const std::byte> bytes) noexcept {
  switch (what_) {
    case object_checksum::kind::crc32c:
      crc_ = crc32c(bytes, static_cast<std::uint32_t>(crc_));
      break;
    case object_checksum::kind::crc32:
      crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
      break;
    case object_checksum::kind::crc64nvme:
      crc_ = crc64nvme(bytes, crc_);
      break;
    case object_checksum::kind::sha256:
      sha_.add(bytes);
      break;
    case object_checksum::kind::none:
      break;
  }
}

std::string running_checksum::text() const {
  if (what_ == object_checksum::kind::sha256) return base64(sha_.digest());
  std::vector<unsigned char> bytes(row_of(what_).bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(crc_ >> 8 * (bytes.size() - 1 - i) & 0xff);
  return base64(bytes);
}

answer_verdict running_checksum::judge(const object_checksum& told) const {
  const std::string found = text();
  if (found == told.text) return {};
  return {remote_fault::wrong_checksum, "the object's bytes have the " +
                                            std::string{row_of(what_).name} + " " + found +
                                            ", and the store tells " + printable(told.text) +
                                            ": they were changed on their way or in the store"};
}

}  // namespace feedline::detail
