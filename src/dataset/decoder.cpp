#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/error.hpp>

#include "dataset/label_type.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

class raw_decoder final : public decoder {
 public:
  explicit raw_decoder(field spec) : spec_{std::move(spec)} {}

  field describe(std::span<const std::byte>) const override { return spec_; }

  void decode(std::span<const std::byte> stored, const field& as, std::span<std::byte> out,
              const sample_context&) const override {
    if (stored.size() != out.size())
      throw dataset_error{{},
                          "has " + std::to_string(stored.size()) + " bytes, but " + to_string(as) +
                              " takes " + std::to_string(out.size())};
    std::memcpy(out.data(), stored.data(), out.size());
  }

 private:
  field spec_;
};

std::string_view trimmed(std::span<const std::byte> stored) {
  constexpr std::string_view white = " \t\r\n";
  std::string_view text{reinterpret_cast<const char*>(stored.data()), stored.size()};
  text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
  return text.substr(0, text.find_last_not_of(white) + 1);  // npos + 1 is 0
}

template <class Integer>
void decode_integer(std::span<const std::byte> stored, std::span<std::byte> out) {
  const std::string_view text = trimmed(stored);
  Integer value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::size_t shown = 20;
  const bool is_large = fault == std::errc::result_out_of_range;
  if (fault != std::errc{} || end != text.data() + text.size())
    throw dataset_error{
        {},
        (is_large ? "the number '" : "'") + std::string{text.substr(0, shown)} +
            (is_large ? "' does not fit in " : "' is not a decimal integer of type ") +
            std::string{to_string(element_type_of<Integer>())}};
  std::memcpy(out.data(), &value, sizeof value);
}

class decimal_decoder final : public decoder {
 public:
  explicit decimal_decoder(element_type type) : type_{type} {
    static_cast<void>(detail::largest_label(type));
  }

  field describe(std::span<const std::byte>) const override { return {{}, type_, {}}; }

  void decode(std::span<const std::byte> stored, const field&, std::span<std::byte> out,
              const sample_context&) const override {
    detail::with_integer(type_, [&](auto zero) { decode_integer<decltype(zero)>(stored, out); });
  }

 private:
  element_type type_;
};

}  // namespace

void record_output::put(std::size_t field, std::span<const std::byte> value) {
  if (!wants(field)) return;
  const described_field& as = fields()[field];
  const std::size_t bytes = sample_bytes(as.spec);
  if (as.is_ragged ? value.size() % bytes != 0 : value.size() != bytes)
    throw dataset_error{{.path = {}, .field = as.spec.name},
                        "has " + std::to_string(value.size()) + " bytes, but " +
                            to_string(as.spec) + " takes " + std::to_string(bytes) +
                            (as.is_ragged ? " for each element" : "")};
  const auto to = as.is_ragged ? ragged(field, value.size() / bytes) : fixed(field);
  std::copy_n(value.begin(), to.size(), to.begin());
}

decoder_ptr decode_raw(element_type type, std::vector<std::uint64_t> shape) {
  field spec{{}, type, std::move(shape)};
  static_cast<void>(sample_bytes(spec));
  return std::make_shared<const raw_decoder>(std::move(spec));
}

decoder_ptr decode_decimal(element_type type) {
  return std::make_shared<const decimal_decoder>(type);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
