#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>

#include "dataset/known_type.hpp"
#include "dataset/sized_fields.hpp"
#include "detail/arithmetic.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

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

std::vector<std::uint64_t> shape_in(const field& field, image_size size) {
  std::vector<std::uint64_t> shape = field.shape;
  if (!field.by_batch || shape.size() < 2) return shape;
  const std::size_t height = detail::height_extent(field);
  shape[height] = size.height;
  shape[height + 1] = size.width;
  return shape;
}

std::size_t sample_bytes(const field& field, const std::optional<image_size>& size) {
  if (!size || !field.by_batch) return sample_bytes(field);
  feedline::field sized = field;
  sized.shape = shape_in(field, *size);
  return sample_bytes(sized);
}

const std::vector<std::string>& class_names::get() const noexcept {
  static const std::vector<std::string> none;
  return names_ ? *names_ : none;
}

std::string to_string(const class_names& names) {
  constexpr std::size_t max_shown = 3;
  const std::vector<std::string>& all = names.get();
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3U; };
  for (const std::string& name : all) {
    for (const char each : name) add(static_cast<unsigned char>(each));
    add(0);
  }
  std::string text = std::to_string(all.size()) + (all.size() == 1 ? " class (" : " classes (");
  for (std::size_t i = 0; i < std::min(max_shown, all.size()); ++i)
    text += (i == 0 ? "" : ", ") + detail::printable(all[i]);
  if (all.size() > max_shown) text += ", ...";
  return text + "; " + detail::to_hex(hash) + ')';
}

std::string to_string(const field& field) {
  const std::size_t varying = field.by_batch ? detail::height_extent(field) : field.shape.size();
  std::string text = detail::printable(field.name) + ": " + std::string{to_string(field.type)};
  text += '[';
  for (std::size_t i = 0; i < field.shape.size(); ++i) {
    if (i != 0) text += ", ";
    if (i == varying || i == varying + 1) text += "up to ";
    text += std::to_string(field.shape[i]);
  }
  text += ']';
  if (!field.classes.empty()) text += " of " + to_string(field.classes);
  if (!field.tie) return text;
  text += " of " + detail::printable(field.tie->image);
  if (field.tie->flip) text += ", flip " + detail::text_of(*field.tie->flip);
  if (!field.tie->moves.empty()) text += ", moved by '" + field.tie->moves + '\'';
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
