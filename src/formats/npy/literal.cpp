#include "formats/npy/header.hpp"

#include <algorithm>
#include <set>

namespace feedline::detail {
namespace {

/// NumPy's limit.
constexpr std::size_t max_dimensions = 64;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Goes through the text once, from left to right.
class literal_reader {
 public:
  literal_reader(std::string_view text, std::uint64_t offset, const file_field& name)
      : text_{text}, offset_{offset}, name_{name} {}

  npy_literal read() {
    expect('{', "at its beginning");
    while (!accept('}')) {
      read_entry();
      if (accept('}')) break;
      expect(',', "after a value");
    }
    skip_space();
    if (at_ != text_.size()) throw damaged("something follows its closing brace");
    for (const char* key : {"descr", "fortran_order", "shape"})
      if (keys_.count(key) == 0) throw damaged("it has no '" + std::string{key} + "'");
    return found_;
  }

 private:
  void read_entry() {
    skip_space();
    const std::size_t begin = at_;
    const std::string key = read_string();
    expect(':', "after a key");
    skip_space();
    if (!keys_.insert(key).second) {
      at_ = begin;
      throw damaged("it has a key twice");
    }
    if (key == "descr") {
      found_.descr_offset = offset_ + at_;
      found_.descr = read_descr();
    } else if (key == "fortran_order") {
      found_.fortran_order = read_bool();
    } else if (key == "shape") {
      found_.shape_offset = offset_ + at_;
      found_.shape = read_shape();
    } else {
      at_ = begin;
      throw damaged("it has the key '" + key + "', which is not descr, fortran_order or shape");
    }
  }

  std::string read_descr() {
    if (peek() == '[' || peek() == '(')
      throw npy_not_a_field{
          name_.error(found_.descr_offset,
                      "the elements are records of several values, which have no element_type; "
                      "save each of their fields as an array of its own")};
    return read_string();
  }

  bool read_bool() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    throw damaged("fortran_order is neither True nor False");
  }

  std::vector<std::uint64_t> read_shape() {
    if (!accept('(')) throw damaged("shape is not a tuple");
    std::vector<std::uint64_t> shape;
    bool is_tuple = true;  // "(3)" is a number in brackets
    while (!accept(')')) {
      if (!is_tuple) throw damaged("the lengths in shape are not separated by commas");
      if (shape.size() == max_dimensions)
        throw damaged("shape has more than " + std::to_string(max_dimensions) + " dimensions");
      shape.push_back(read_length());
      is_tuple = accept(',');
    }
    if (shape.size() == 1 && !is_tuple) throw damaged("shape is not a tuple");
    return shape;
  }

  std::uint64_t read_length() {
    skip_space();
    if (!is_digit(peek())) throw damaged("a length in shape is not a whole number of at least 0");
    if (peek() == '0' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))
      throw damaged("a length in shape begins with 0");
    std::uint64_t length = 0;
    for (; is_digit(peek()); ++at_)
      if (__builtin_mul_overflow(length, std::uint64_t{10}, &length) ||
          __builtin_add_overflow(length, static_cast<std::uint64_t>(peek() - '0'), &length))
        throw damaged("a length in shape does not fit in 64 bits");
    if (peek() == 'L') ++at_;
    return length;
  }

  std::string read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') throw damaged("a key or type is not a string in quotes");
    const std::size_t begin = at_ + 1;
    for (at_ = begin; peek() != quote; ++at_)
      if (peek() < ' ' || peek() > '~' || peek() == '\\')
        throw damaged("a string does not end, or has characters that no key or type has");
    return std::string{text_.substr(begin, at_++ - begin)};
  }

  /// The next character; NUL, which nothing expects, at the end.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r\f", at_), text_.size()); }

  bool accept(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c, const std::string& where) {
    if (!accept(c)) throw damaged("there is no '" + std::string{c} + "' " + where);
  }

  dataset_error damaged(const std::string& what) const {
    return name_.error(offset_ + at_, "the header is no dictionary as NumPy writes it: " + what +
                                          "; the file is damaged, get it again");
  }

  std::string_view text_;
  std::uint64_t offset_;
  const file_field& name_;
  std::size_t at_ = 0;
  npy_literal found_;
  std::set<std::string> keys_;
};

}  // namespace

npy_literal parse_npy_literal(std::string_view text, std::uint64_t offset, const file_field& name) {
  return literal_reader{text, offset, name}.read();
}

}  // namespace feedline::detail
