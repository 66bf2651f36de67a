#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/printable.hpp"
#include "formats/array_files/container.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#ifdef FEEDLINE_HAS_JSON
#include <nlohmann/json.hpp>
#endif

namespace feedline::detail {
#ifdef FEEDLINE_HAS_JSON
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little endian");

constexpr std::uint64_t length_bytes = 8;

std::optional<element_type> type_of_word(std::string_view word) {
  using enum element_type;
  constexpr std::array<std::pair<std::string_view, element_type>, 13> words{{{"BOOL", boolean},
                                                                             {"U8", u8},
                                                                             {"I8", i8},
                                                                             {"U16", u16},
                                                                             {"I16", i16},
                                                                             {"U32", u32},
                                                                             {"I32", i32},
                                                                             {"U64", u64},
                                                                             {"I64", i64},
                                                                             {"F16", f16},
                                                                             {"BF16", bf16},
                                                                             {"F32", f32},
                                                                             {"F64", f64}}};
  const auto* const found =
      std::ranges::find(words, word, &std::pair<std::string_view, element_type>::first);
  if (found == words.end()) return std::nullopt;
  return found->second;
}

/// A number of the header.
std::uint64_t whole_of(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) throw dataset_error{{}, "a size is no whole number"};
  return value.get<std::uint64_t>();
}

class safetensors_file final : public array_container {
 public:
  explicit safetensors_file(byte_file_ptr file) : file_{std::move(file)} {
    std::array<std::byte, length_bytes> length{};
    file_->read(0, length);
    const std::uint64_t bytes = little_endian(length);
    if (bytes > file_->size() - length_bytes)
      throw fault({}, "the header is cut short; get the file again");
    data_ = length_bytes + bytes;
    std::string text(static_cast<std::size_t>(bytes), '\0');
    file_->read(length_bytes, std::as_writable_bytes(std::span{text}));
    try {
      std::set<std::string> names;
      const auto check = [&](int depth, nlohmann::json::parse_event_t event,
                             const nlohmann::json& parsed) {
        if (depth > 8) throw dataset_error{{}, "the header is nested more than 8 deep"};
        if (depth == 1 && event == nlohmann::json::parse_event_t::key &&
            !names.insert(parsed.get<std::string>()).second)
          throw dataset_error{
              {}, "two tensors have the name '" + printable(parsed.get<std::string>()) + "'"};
        return true;
      };
      const nlohmann::json header = nlohmann::json::parse(text, check);
      if (!header.is_object()) throw dataset_error{{}, "the header is no object"};
      for (const auto& [name, value] : header.items())
        if (name != "__metadata__") add(name, value);
    } catch (const nlohmann::json::exception& error) {
      throw fault({}, "the header is not as it should be: " + printable(error.what()));
    } catch (const dataset_error& error) {
      if (!error.path().empty()) throw;
      throw fault({}, error.message() + "; write the file again");
    }
  }

  const std::vector<array_in_file>& arrays() const noexcept override { return arrays_; }

  void read(std::size_t array, std::span<std::byte> out) override {
    file_->read(begins_[array], out);
  }

 private:
  [[nodiscard]] dataset_error fault(const std::string& tensor, const std::string& why) const {
    return {{.path = file_->name(), .field = tensor}, why};
  }

  void add(const std::string& name, const nlohmann::json& value) {
    array_in_file made{.name = name};
    const auto word = value.at("dtype").get<std::string>();
    const auto type = type_of_word(word);
    if (!type)
      made.refusal = "is of the type " + printable(word) + ", which no field has; save it as F16";
    made.type = type.value_or(element_type::u8);
    std::uint64_t bytes = size_bytes(made.type);
    bool fits = true;
    for (const nlohmann::json& extent : value.at("shape")) {
      made.shape.push_back(whole_of(extent));
      fits = !__builtin_mul_overflow(bytes, made.shape.back(), &bytes) && fits;
    }
    const auto& offsets = value.at("data_offsets");
    if (offsets.size() != 2) throw fault(name, "has no two offsets; write the file again");
    const std::uint64_t begin = whole_of(offsets[0]);
    const std::uint64_t end = whole_of(offsets[1]);
    if (!fits || begin > end || end > file_->size() - data_ || (type && end - begin != bytes))
      throw fault(name,
                  "its bytes are not in the file, or not as many as its shape has; get the "
                  "file again");
    begins_.push_back(data_ + begin);
    arrays_.push_back(std::move(made));
  }

  byte_file_ptr file_;
  std::uint64_t data_ = 0;  ///< where the tensors begin
  std::vector<array_in_file> arrays_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace

std::unique_ptr<array_container> open_safetensors(const byte_file_ptr& file) {
  return std::make_unique<safetensors_file>(file);
}
#else
std::unique_ptr<array_container> open_safetensors(const byte_file_ptr& file) {
  throw dataset_error{{.path = file->name(), .field = {}},
                      "is a safetensors file, and this feedline was built without nlohmann-json; "
                      "install nlohmann-json3-dev, and build feedline again"};
}
#endif

}  // namespace feedline::detail
