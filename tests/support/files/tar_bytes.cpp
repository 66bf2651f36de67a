#include "support/files/tar_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace feedline::test {
namespace {

constexpr std::size_t block_bytes = 512;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

void put(std::byte* to, std::string_view text, std::size_t most) {
  std::memcpy(to, text.data(), std::min(text.size(), most));
}

std::string octal(std::uint64_t value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

void set_tar_checksum(std::vector<std::byte>& archive, std::size_t at) {
  std::fill_n(archive.begin() + static_cast<std::ptrdiff_t>(at + 148), 8, std::byte{' '});
  unsigned sum = 0;
  for (std::size_t i = at; i < at + block_bytes; ++i) sum += std::to_integer<unsigned>(archive[i]);
  const std::string text = octal(sum, 6);
  put(archive.data() + at + 148, text, 6);
  archive[at + 154] = std::byte{0};
}

tar_bytes& tar_bytes::add_header(std::string_view name, std::uint64_t size, const header& says) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + block_bytes);
  std::byte* block = bytes_.data() + at;
  put(block, name, 100);
  put(block + 100, "0000644", 8);
  put(block + 108, "0000000", 8);
  put(block + 116, "0000000", 8);
  put(block + 124, says.size.empty() ? octal(size, 11) : says.size, 12);
  put(block + 136, "00000000000", 12);
  block[156] = static_cast<std::byte>(says.type);
  put(block + 157, says.link, 100);
  using namespace std::string_view_literals;
  if (!says.is_old)
    put(block + 257,
        says.is_gnu ? "ustar  \0"sv
                    : "ustar\0"
                      "00"sv,
        8);
  put(block + 345, says.prefix, 155);
  set_tar_checksum(bytes_, at);
  return *this;
}

tar_bytes& tar_bytes::add(std::string_view name, std::span<const std::byte> content,
                          const header& says) {
  add_header(name, content.size(), says);
  bytes_.insert(bytes_.end(), content.begin(), content.end());
  bytes_.resize((bytes_.size() + block_bytes - 1) / block_bytes * block_bytes);
  return *this;
}

tar_bytes& tar_bytes::add(std::string_view name, std::span<const std::byte> content) {
  return add(name, content, header{});
}

tar_bytes& tar_bytes::add(std::string_view name, std::string_view content) {
  return add(name, bytes_of(content));
}

tar_bytes& tar_bytes::add_pax(const std::vector<std::string>& records, char type) {
  std::string text;
  for (const std::string& record : records) {
    std::size_t length = record.size() + 3;  // a digit, a blank, and the line's end
    while (std::to_string(length).size() + record.size() + 2 != length) ++length;
    text += std::to_string(length) + " " + record + "\n";
  }
  return add("PaxHeaders/x", bytes_of(text), {.type = type});
}

tar_bytes& tar_bytes::add_long_name(std::string_view name, char type) {
  const std::string with_end = std::string{name} + '\0';
  return add("././@LongLink", bytes_of(with_end), {.type = type, .is_gnu = true});
}

tar_bytes::byte_vector tar_bytes::ended() const {
  byte_vector whole = bytes_;
  whole.resize(whole.size() + 2 * block_bytes);
  return whole;
}

}  // namespace feedline::test
