#include <feedline/dataset/element_type.hpp>

namespace feedline {

std::string_view to_string(element_type type) noexcept {
  switch (type) {
    case element_type::u8:
      return "uint8";
    case element_type::i8:
      return "int8";
    case element_type::u16:
      return "uint16";
    case element_type::i16:
      return "int16";
    case element_type::u32:
      return "uint32";
    case element_type::i32:
      return "int32";
    case element_type::u64:
      return "uint64";
    case element_type::i64:
      return "int64";
    case element_type::f16:
      return "float16";
    case element_type::bf16:
      return "bfloat16";
    case element_type::f32:
      return "float32";
    case element_type::f64:
      return "float64";
    case element_type::boolean:
      return "bool";
  }
  return "unknown";
}

}  // namespace feedline
