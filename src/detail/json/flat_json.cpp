#include "detail/json/flat_json.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace feedline::detail {
namespace {

class reader {
 public:
  explicit reader(std::string_view text) : text_{text} {}

  [[noreturn]] void refuse(const std::string& wanted) const {
    if (at_ >= text_.size()) {
      throw json_error{"it ends after " + std::to_string(text_.size()) + " bytes, where " + wanted +
                       " is missing"};
    }
    throw json_error{"at byte " + std::to_string(at_) + " there should be " + wanted};
  }

  /// The next byte that is no space; 0 at the end.
  char peek() {
    while (at_ < text_.size() &&
           std::string_view{" \t\r\n"}.find(text_[at_]) != std::string_view::npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char wanted, const std::string& called) {
    if (!accept(wanted)) refuse(called);
  }
  void expect_end() {
    (void)peek();
    if (at_ < text_.size()) refuse("the end");
  }

  flat_json_value value() {
    const char first = peek();
    if (first == '"') return string();
    if (first >= '0' && first <= '9') return number();
    if (!accept('[')) refuse("a whole number, a string or an array of strings");
    std::vector<std::string> all;
    if (accept(']')) return all;
    do all.push_back(string());
    while (accept(','));
    expect(']', "',' or ']'");
    return all;
  }

  std::string string() {
    expect('"', "a string");
    std::string value;
    for (;;) {
      if (at_ >= text_.size()) refuse("the end of a string");
      const char next = text_[at_];
      if (static_cast<unsigned char>(next) < 0x20) refuse("no control character");
      ++at_;
      if (next == '"') return value;
      if (next != '\\') {
        value += next;
      } else {
        escaped(value);
      }
    }
  }

 private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, fault] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (fault != std::errc{} || (*begin == '0' && end - begin > 1))
      refuse("a whole number of at most 64 bits");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  void escaped(std::string& value) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const char letter = at_ < text_.size() ? text_[at_] : '\0';
    if (letter == 'u') {
      ++at_;
      return append_utf8(value, code_point());
    }
    const std::size_t which = letters.find(letter);
    if (which == std::string_view::npos) refuse("one of \"\\/bfnrtu after '\\'");
    ++at_;
    value += meanings[which];
  }

  std::uint32_t code_point() {
    const std::uint32_t first = four_digits();
    if (first < 0xD800 || first > 0xDFFF) return first;
    // Two of them make one character (RFC 8259, section 7).
    if (first <= 0xDBFF && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const std::uint32_t second = four_digits();
      if (second >= 0xDC00 && second <= 0xDFFF)
        return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }
    refuse("both halves of a character");
  }

  std::uint32_t four_digits() {
    std::uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() < 4) at_ = text_.size();
    if (fault != std::errc{} || end != digits.data() + 4) refuse("four hexadecimal digits");
    at_ += 4;
    return value;
  }

  static void append_utf8(std::string& value, std::uint32_t code) {
    const auto add = [&](std::uint32_t byte) { value += static_cast<char>(byte); };
    const auto add_six_bits = [&](unsigned shift) { add(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
      add(0xC0 | (code >> 6));
    } else if (code < 0x10000) {
      add(0xE0 | (code >> 12));
      add_six_bits(6);
    } else {
      add(0xF0 | (code >> 18));
      add_six_bits(12);
      add_six_bits(6);
    }
    add_six_bits(0);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void read_flat_json(
    std::string_view text,
    const std::function<void(const std::string& name, flat_json_value value)>& member) {
  reader from{text};
  from.expect('{', "'{'");
  if (!from.accept('}')) {
    do {
      (void)from.peek();
      const std::string name = from.string();
      from.expect(':', "':'");
      member(name, from.value());
    } while (from.accept(','));
    from.expect('}', "',' or '}'");
  }
  from.expect_end();
}

std::string json_string(std::string_view text) {
  std::string quoted{'"'};
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20) {
      std::array<char, 8> code{};
      (void)std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(letter));
      quoted += code.data();
      continue;
    }
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

}  // namespace feedline::detail
