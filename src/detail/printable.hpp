#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace feedline::detail {

/// How many bytes the first character of a text takes in UTF-8. 0 if there is none, or if it
/// affects how text is shown: a control character, a line's end, a change of direction.
[[nodiscard]] inline std::size_t printable_bytes(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = at(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  unsigned code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0U) != 0x80) return 0;
    code = code << 6U | (at(i) & 0x3FU);
  }
  const auto within = [code](unsigned least, unsigned most) {
    return code >= least && code <= most;
  };
  constexpr std::array<unsigned, 5> least_of{0, 0, 0x80, 0x800, 0x10000};
  const bool is_character = code >= least_of[bytes] && code <= 0x10FFFF && !within(0xD800, 0xDFFF);
  const bool does_something = within(0x80, 0x9F) || within(0x200E, 0x200F) ||
                              within(0x2028, 0x202E) || within(0x2066, 0x2069);
  return is_character && !does_something ? bytes : 0;
}

/// The part of an address after "://", without its secrets: what stands before '@' in
/// "user:password@host/x", and the query, which may be a signature. They become "...".
[[nodiscard]] inline std::string hide_secrets(std::string_view address) {
  const std::string_view before_query = address.substr(0, address.find('?'));
  const std::size_t user = before_query.substr(0, before_query.find_first_of("/#")).rfind('@');
  std::string shown = user == std::string_view::npos ? "" : "...";
  shown += before_query.substr(user == std::string_view::npos ? 0 : user);
  if (before_query.size() < address.size()) shown += "?...";
  return shown;
}

/// A path, or an address without its secrets. It may have spaces and quotes.
[[nodiscard]] inline std::string path_without_secrets(std::string_view path) {
  const std::size_t at = path.find("://");
  if (at == std::string_view::npos) return std::string{path};
  return std::string{path.substr(0, at + 3)} + hide_secrets(path.substr(at + 3));
}

/// A text without the secrets of the addresses in it. One ends at a space or a quote.
[[nodiscard]] inline std::string without_secrets(std::string_view text) {
  std::string shown;
  for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://")) {
    shown += text.substr(0, at + 3);
    text.remove_prefix(at + 3);
    const std::string_view address = text.substr(0, text.find_first_of(" '\"<>"));
    shown += hide_secrets(address);
    if (address.find('?') != std::string_view::npos)  // the end of a sentence is not the address's
      shown += address.substr(address.find_last_not_of(":;,)") + 1);
    text.remove_prefix(address.size());
  }
  return shown += text;
}

/// A text that may hold names out of files, to be shown: whatever would command a terminal, or
/// feign a line of a log, becomes an escape ("\n", "\x1b"), and so do bytes that are not UTF-8.
/// Addresses in it lose their secrets.
[[nodiscard]] inline std::string printable(std::string_view from) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::string without = without_secrets(from);
  std::string_view text = without;
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t bytes = printable_bytes(text); bytes != 0) {
      shown += text.substr(0, bytes);
      text.remove_prefix(bytes);
      continue;
    }
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    if (byte == '\n')
      shown += "\\n";
    else if (byte == '\t')
      shown += "\\t";
    else
      shown.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  }
  return shown;
}

}  // namespace feedline::detail
