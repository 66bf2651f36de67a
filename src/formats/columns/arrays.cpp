#include "formats/columns/arrays.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/printable.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {

std::span<const std::byte> take_head(std::span<const std::byte>& from, std::size_t bytes) {
  if (bytes > from.size()) throw dataset_error{{}, "the head of the array is cut short"};
  return std::exchange(from, from.subspan(bytes)).first(bytes);
}

void require_rank(std::uint64_t rank) {
  if (rank > max_array_rank)
    throw dataset_error{
        {}, "the array has " + std::to_string(rank) + " dimensions, and 32 are the most"};
}

std::uint64_t count_elements_of(std::span<const std::uint64_t> shape) noexcept {
  std::uint64_t count = 1;
  for (const std::uint64_t each : shape)
    if (__builtin_mul_overflow(count, each, &count)) return ~std::uint64_t{0};
  return count;
}

void require_all_elements(const stored_array& of) {
  const std::uint64_t count = count_elements_of(of.shape);
  if (count > of.elements.size() || count * size_bytes(of.type) != of.elements.size())
    throw dataset_error{{},
                        "the array is damaged: its shape has " + std::to_string(count) +
                            " elements, and " + std::to_string(of.elements.size()) +
                            " bytes follow; get the file again"};
}

stored_array read_pil_array(const stored_column&, std::span<const std::byte> value) {
  using mode_channels = std::pair<std::string_view, std::uint64_t>;
  constexpr auto modes = std::to_array<mode_channels>({{"L", 1},
                                                       {"P", 1},
                                                       {"RGB", 3},
                                                       {"RGBA", 4},
                                                       {"CMYK", 4},
                                                       {"YCbCr", 3},
                                                       {"HSV", 3},
                                                       {"LAB", 3}});
  const auto number = [&] { return little_endian(take_head(value, 4)); };
  const std::uint64_t width = number();
  const std::uint64_t height = number();
  const auto letters = take_head(value, static_cast<std::size_t>(number()));
  const std::string_view mode{reinterpret_cast<const char*>(letters.data()), letters.size()};
  const auto* const found = std::ranges::find(modes, mode, &mode_channels::first);
  if (found == modes.end())
    throw dataset_error{{},
                        "the image is of Pillow's mode '" + printable(mode.substr(0, 20)) +
                            "', and feedline reads L, P, RGB, RGBA, CMYK, YCbCr, HSV and LAB"};
  stored_array image{.type = element_type::u8, .shape = {height, width}, .elements = value};
  if (found->second != 1) image.shape.push_back(found->second);
  return image;
}

}  // namespace feedline::detail
