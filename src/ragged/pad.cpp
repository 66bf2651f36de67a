#include <feedline/error.hpp>
#include <feedline/ragged/pad.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/label_type.hpp"
#include "detail/half.hpp"
#include "detail/known_value.hpp"
#include "detail/sample_range.hpp"
#include "ragged/padding.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

using bytes = std::vector<std::byte>;

template <class T>
bytes bytes_of(T value) {
  bytes all(sizeof value);
  std::memcpy(all.data(), &value, sizeof value);
  return all;
}

/// The number in a whole type, if it is one of its values.
std::optional<bytes> as_element(std::int64_t number, element_type type) {
  if (type == element_type::boolean) {
    if (number != 0 && number != 1) return std::nullopt;
    return bytes_of(static_cast<std::uint8_t>(number));
  }
  return with_integer(type, [number](auto zero) -> std::optional<bytes> {
    if (!std::in_range<decltype(zero)>(number)) return std::nullopt;
    return bytes_of(static_cast<decltype(zero)>(number));
  });
}

/// The number in any type, if that can hold one so large and, of whole types, has it.
std::optional<bytes> as_element(double number, element_type type) {
  if (type == element_type::f64) return bytes_of(number);
  if (is_whole(type)) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (!(number >= -limit && number < limit) || number != std::trunc(number)) return std::nullopt;
    return as_element(static_cast<std::int64_t>(number), type);
  }
  const bool is_finite = std::isfinite(number);
  if (is_finite && std::abs(number) > double{std::numeric_limits<float>::max()})
    return std::nullopt;
  const auto single = static_cast<float>(number);
  if (type == element_type::f32) return bytes_of(single);
  const std::uint16_t half = type == element_type::f16 ? to_f16(single) : to_bf16(single);
  const float back = type == element_type::f16 ? from_f16(half) : from_bf16(half);
  if (is_finite && !std::isfinite(back)) return std::nullopt;
  return bytes_of(half);
}

/// The bytes to repeat; whether they suit the element is for the caller to see.
struct to_pattern {
  const field& element;

  std::optional<bytes> operator()(std::int64_t number) const {
    return is_whole(element.type) ? as_element(number, element.type)
                                  : as_element(static_cast<double>(number), element.type);
  }
  std::optional<bytes> operator()(double number) const { return as_element(number, element.type); }
  std::optional<bytes> operator()(const bytes& given) const {
    if (given.size() != size_bytes(element.type) && given.size() != sample_bytes(element))
      return std::nullopt;
    return given;
  }
};

struct to_text {
  std::string operator()(const bytes& given) const {
    return "of " + std::to_string(given.size()) + " bytes";
  }
  template <class Number>
  std::string operator()(Number number) const {
    std::ostringstream text;
    text << number;
    return text.str();
  }
};

}  // namespace

padding::padding(std::string_view who, const field& element, const padding_value& value) {
  auto pattern = std::visit(to_pattern{element}, value);
  if (!pattern)
    throw usage_error{std::string{who} + ": the padding value " + std::visit(to_text{}, value) +
                      " is not a value of field " + to_string(element)};
  pattern_ = std::move(*pattern);
  // A single byte is enough if all bytes are equal: then memory is set instead of copied.
  if (std::ranges::count(pattern_, pattern_[0]) == std::ssize(pattern_)) pattern_.resize(1);
}

void padding::fill(std::span<std::byte> room) const noexcept {
  if (room.empty()) return;
  if (pattern_.size() == 1)
    std::memset(room.data(), std::to_integer<int>(pattern_[0]), room.size());
  else
    repeat_element(pattern_, room);
}

field field_of(const field& element, std::uint64_t count) {
  field several = element;
  several.shape.insert(several.shape.begin(), count);
  return several;
}

std::uint64_t checked_length(const std::string& who, std::uint64_t length) {
  if (length == 0)
    throw usage_error{who +
                      ": no sample has an element, so pad_options::length must give the length"};
  if (length > std::uint64_t{std::numeric_limits<std::int32_t>::max()})
    throw usage_error{who + ": a length of " + std::to_string(length) +
                      " is more than an int32 can count; ask for fewer elements, and "
                      "pad_longer::truncate"};
  return length;
}

std::string too_long(std::uint64_t count, std::uint64_t length) {
  return "has " + std::to_string(count) + " elements, more than the " + std::to_string(length) +
         " of pad_options::length: raise it, or ask for pad_longer::truncate";
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

class padded_dataset final : public dataset {
 public:
  padded_dataset(ragged_dataset_ptr of, field element, std::uint64_t length,
                 detail::padding padding)
      : of_{std::move(of)},
        element_{std::move(element)},
        length_{length},
        element_bytes_{sample_bytes(element_)},
        row_bytes_{detail::checked_row_bytes("pad", padded_dataset::fields())[0]},
        padding_{std::move(padding)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override {
    return {detail::field_of(element_, length_),
            {element_.name + "_length", element_type::i32, {}}};
  }
  read_concurrency concurrency() const override { return of_->concurrency(); }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

 private:
  void do_read(const read_request& request) const override {
    detail::require_in_range(request.samples, size());
    std::vector<element_run> runs;
    runs.reserve(request.samples.size());  // one allocation a run
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::uint64_t own = std::min(of_->length(request.samples[i]), length_);
      const auto row = request.out[0].subspan(i * row_bytes_, row_bytes_);
      if (own != 0) runs.push_back({request.samples[i], 0, row.first(own * element_bytes_)});
      padding_.fill(row.subspan(own * element_bytes_));
      const auto told = static_cast<std::int32_t>(own);
      std::memcpy(request.out[1].data() + i * sizeof told, &told, sizeof told);
    }
    of_->read(runs);
  }

  ragged_dataset_ptr of_;
  field element_;
  std::uint64_t length_;
  std::size_t element_bytes_;
  std::size_t row_bytes_;
  detail::padding padding_;
};

/// @throws dataset_error naming the first sample that has more than `most` elements.
std::uint64_t longest_of(const ragged_dataset& of, const std::string& name, std::uint64_t most) {
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < of.size(); ++i) {
    const std::uint64_t own = of.length(sample_index{i});
    if (own > most)
      throw dataset_error{{.path = {}, .field = name, .sample = i}, detail::too_long(own, most)};
    longest = std::max(longest, own);
  }
  return longest;
}

}  // namespace

dataset_ptr pad(ragged_dataset_ptr of, const pad_options& options) {
  if (!of) throw usage_error{"pad: the dataset is null"};
  detail::require_known("pad_options::longer", options.longer, {"error", "truncate"});
  field element = of->element();
  const std::uint64_t length = detail::checked_length(
      "pad", options.length != 0 ? options.length : longest_of(*of, element.name, UINT64_MAX));
  detail::padding padding{"pad", element, options.value};
  if (options.longer == pad_longer::error) (void)longest_of(*of, element.name, length);
  return std::make_shared<const padded_dataset>(std::move(of), std::move(element), length,
                                                std::move(padding));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
