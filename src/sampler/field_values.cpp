#include "sampler/field_values.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace feedline::detail {
namespace {

constexpr std::size_t run_bytes = std::size_t{1} << 20;

template <class From, class T>
void convert(std::span<const std::byte> bytes, T* to) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    to[i] = static_cast<T>(value);  // NOLINT(bugprone-signed-char-misuse): no character
  }
}

template <class T>
using converter = void (*)(std::span<const std::byte> bytes, T* to);

/// Null: the type is not taken.
template <class T>
converter<T> converter_from(element_type type) {
  switch (type) {
    case element_type::u8:
    case element_type::boolean:
      return convert<std::uint8_t, T>;
    case element_type::i8:
      return convert<std::int8_t, T>;
    case element_type::u16:
      return convert<std::uint16_t, T>;
    case element_type::i16:
      return convert<std::int16_t, T>;
    case element_type::u32:
      return convert<std::uint32_t, T>;
    case element_type::i32:
      return convert<std::int32_t, T>;
    case element_type::u64:
      return convert<std::uint64_t, T>;
    case element_type::i64:
      return convert<std::int64_t, T>;
    case element_type::f32:
      return std::is_same_v<T, double> ? convert<float, T> : nullptr;
    case element_type::f64:
      return std::is_same_v<T, double> ? convert<double, T> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

template <class T>
field_values<T> read_field(const char* who, const dataset_ptr& of, const std::string& field_name,
                           std::size_t max_dimensions) {
  const std::string name{who};
  if (!of) throw usage_error{name + ": the dataset is null"};
  const auto places = places_of(who, of->fields(), {field_name});
  const field spec = of->fields()[places.front()];
  const converter<T> converted = converter_from<T>(spec.type);
  if (converted == nullptr || spec.shape.size() > max_dimensions)
    throw usage_error{
        name + ": field " + to_string(spec) + " cannot be used; it must have " +
        (std::is_same_v<T, double> ? "an integer, float32 or float64" : "an integer") +
        " a sample" + (max_dimensions != 0 ? ", or one array of them" : "")};

  const dataset_ptr one = with_fields(of, places);
  const std::size_t row_bytes = sample_bytes(spec);
  const std::size_t row_values = row_bytes / size_bytes(spec.type);
  field_values<T> all{std::vector<T>(of->size() * row_values), spec.shape};
  std::vector<sample_index> samples(
      std::clamp<std::uint64_t>(run_bytes / row_bytes, 1, std::max<std::uint64_t>(1, of->size())));
  std::vector<std::byte> bytes(samples.size() * row_bytes);
  for (std::uint64_t first = 0; first < of->size(); first += samples.size()) {
    const auto run =
        std::span{samples}.first(std::min<std::uint64_t>(samples.size(), of->size() - first));
    for (std::size_t i = 0; i < run.size(); ++i) run[i] = {first + i};
    const auto rows = std::span{bytes}.first(run.size() * row_bytes);
    one->read(run, std::array{rows});
    converted(rows, all.values.data() + first * row_values);
    if constexpr (std::is_same_v<T, std::int64_t>) {
      const auto begin = all.values.begin() + static_cast<std::ptrdiff_t>(first * row_values);
      const auto end = begin + static_cast<std::ptrdiff_t>(run.size() * row_values);
      const auto large = spec.type == element_type::u64
                             ? std::find_if(begin, end, [](T value) { return value < 0; })
                             : end;
      if (large != end)
        throw usage_error{name + ": field \"" + field_name + "\" has " +
                          std::to_string(static_cast<std::uint64_t>(*large)) + " at index " +
                          std::to_string(large - all.values.begin()) +
                          "; it may have integers below 2^63"};
    }
  }
  return all;
}

template field_values<std::int64_t> read_field(const char*, const dataset_ptr&, const std::string&,
                                               std::size_t);
template field_values<double> read_field(const char*, const dataset_ptr&, const std::string&,
                                         std::size_t);

}  // namespace feedline::detail
