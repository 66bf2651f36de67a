#pragma once

#include <feedline/dataset/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace feedline::detail {

/// The kind of a value; for a list, the kind of its elements.
enum class value_kind : std::uint8_t { none, boolean, whole, real, text };

/// A whole number is an int64 if that holds it.
using table_number = std::variant<std::int64_t, std::uint64_t, double>;

/// The value of a column in a record. Its memory is used again for the next value.
struct table_value {
  value_kind kind = value_kind::none;  ///< none: null, missing, or an empty list
  bool is_list = false;
  std::vector<std::uint64_t> shape = {};     ///< a list's extents
  std::string_view trouble = {};             ///< why it cannot be a field: "is a list of objects"
  std::vector<table_number> numbers = {};    ///< all of a list; not of texts
  std::vector<std::string_view> texts = {};  ///< CSV: also of numbers

  [[nodiscard]] std::size_t count() const noexcept {
    return kind == value_kind::text ? texts.size() : numbers.size();
  }
};

/// "a number", "a text".
[[nodiscard]] std::string_view words_of(value_kind kind);
[[nodiscard]] std::string words_of(const table_number& number);

/// Whether a double holds the number exactly: it rounds large whole numbers.
[[nodiscard]] bool is_exact_as_double(const table_number& number) noexcept;

/// Writes a number as an element of this type.
/// @return The reason if it does not fit: "is 300, which uint8 cannot hold"; empty: it is written.
[[nodiscard]] std::string write_number(const table_number& number, element_type type,
                                       std::byte* out);

/// Whether all bytes are characters of UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Refusal of a text of other bytes, and what to do.
inline constexpr std::string_view not_utf8 =
    "is no UTF-8; convert the file (for Latin-1: iconv -f LATIN1 -t UTF-8)";

/// Takes records of a kind of table apart. Threads: any number at once.
class table_parser {
 public:
  /// Is given each value. @param column Index into the columns that were found.
  using sink = std::function<void(std::size_t column, const table_value& value)>;

  table_parser() = default;
  table_parser(const table_parser&) = delete;
  table_parser& operator=(const table_parser&) = delete;
  virtual ~table_parser() = default;

  /// @param wanted For each column, whether its values are given; others are only checked.
  /// @throws dataset_error that says where in the line, without the file.
  virtual void parse(std::span<const std::byte> stored, const std::vector<bool>& wanted,
                     const sink& use) const = 0;
  /// The position of a column for messages, besides its name: "column 3"; empty: the name suffices.
  [[nodiscard]] virtual std::string place_of(std::size_t column) const {
    (void)column;
    return {};
  }
};

using table_parser_ptr = std::shared_ptr<const table_parser>;

}  // namespace feedline::detail
