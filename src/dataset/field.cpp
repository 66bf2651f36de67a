#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>

#include "dataset/known_type.hpp"
#include "detail/arithmetic.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"

#include <array>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

std::string_view to_string(element_type type) noexcept {
  constexpr std::array<std::string_view, 13> names{
      "uint8", "int8",    "uint16",   "int16",   "uint32",  "int32", "uint64",
      "int64", "float16", "bfloat16", "float32", "float64", "bool"};  // in the order of the values
  const auto place = static_cast<std::size_t>(type);
  return place < names.size() ? names[place] : "unknown";
}

std::size_t sample_bytes(const field& field) {
  std::size_t bytes = size_bytes(field.type);
  if (bytes == 0)
    detail::require_known_type("field '" + field.name + "': element type", field.type);
  for (const auto extent : field.shape) {
    const auto product = detail::checked_multiply<std::size_t>(bytes, extent);
    if (!product)
      throw usage_error{"field " + to_string(field) + ": a sample's bytes do not fit in 64 bits"};
    bytes = *product;
  }
  if (bytes == 0)
    throw usage_error{"field " + to_string(field) +
                      ": a dimension is 0, so a sample would hold nothing"};
  return bytes;
}

std::string to_string(const field& field) {
  std::string text = detail::printable(field.name) + ": " + std::string{to_string(field.type)};
  text += '[';
  for (std::size_t i = 0; i < field.shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(field.shape[i]);
  }
  text += ']';
  if (!field.tie) return text;
  text += " of " + detail::printable(field.tie->image);
  if (field.tie->flip) text += ", flip " + detail::text_of(*field.tie->flip);
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
