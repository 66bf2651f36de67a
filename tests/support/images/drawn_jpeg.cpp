#include "support/images/drawn_jpeg.hpp"

#include "support/images/jpeg_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <set>

namespace feedline::test {
namespace {

/// The largest coefficient and difference of a baseline file.
constexpr int largest = 1023;
constexpr int largest_difference = 2047;

class drawn_numbers {
 public:
  explicit drawn_numbers(std::span<const std::uint8_t> input) : input_{input} {
    for (int i = 0; i < 4; ++i) state_ = state_ << 8U | next_byte().value_or(0);
    state_ += 0x9E3779B97F4A7C15;
  }

  /// At least 0, and less than `end`, which is 65536 at most.
  std::uint32_t below(std::uint32_t end) {
    std::uint32_t number = 0;
    const auto low = next_byte();
    const auto high = end > 256 ? next_byte() : std::optional<std::uint8_t>{0};
    number = low && high ? *high * 256U + *low : next_number();
    return number % end;
  }
  bool one_of(std::uint32_t count) { return below(count) == 0; }
  /// From -most to most.
  int up_to(int most) {
    return static_cast<int>(below(2U * static_cast<std::uint32_t>(most) + 1)) - most;
  }
  int sign() { return one_of(2) ? -1 : 1; }

 private:
  std::optional<std::uint8_t> next_byte() {
    if (input_.empty()) return {};
    const std::uint8_t byte = input_.front();
    input_ = input_.subspan(1);
    return byte;
  }
  /// A number of 16 bits.
  std::uint32_t next_number() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 48U);
  }

  std::span<const std::uint8_t> input_;
  std::uint64_t state_ = 0;
};

/// The row and the column of each coefficient, in the order of scans.
std::array<std::array<int, 2>, 64> zigzag() {
  std::array<std::array<int, 2>, 64> places{};
  std::size_t k = 0;
  for (int sum = 0; sum < 15; ++sum)
    for (int i = std::max(0, sum - 7); i <= std::min(sum, 7); ++i)
      places.at(k++) = sum % 2 == 0 ? std::array{sum - i, i} : std::array{i, sum - i};
  return places;
}

class drawing {
 public:
  explicit drawing(std::span<const std::uint8_t> input) : numbers_{input} {}

  byte_vector draw(const drawn_extents& extents) {
    const bool is_grey = extents.components == 0 ? numbers_.one_of(6) : extents.components == 1;
    parts_.components.resize(is_grey ? 1 : 3);
    if (!is_grey) {
      parts_.luma_across = static_cast<std::uint8_t>(1 + numbers_.below(2));
      parts_.luma_down = static_cast<std::uint8_t>(1 + numbers_.below(2));
    }
    parts_.height = extents.height != 0 ? extents.height : draw_side();
    parts_.width = extents.width != 0 ? extents.width : draw_side();
    parts_.has_jfif_marker = !numbers_.one_of(4);
    if (numbers_.one_of(3))
      parts_.restart_interval = static_cast<std::uint16_t>(1 + numbers_.below(7));
    for (jpeg_parts::component& each : parts_.components)
      each = {static_cast<std::uint8_t>(numbers_.below(4)),
              static_cast<std::uint8_t>(numbers_.below(2)),
              static_cast<std::uint8_t>(numbers_.below(2))};
    for (auto& factors : parts_.quantization) draw_factors(factors);
    draw_blocks();
    draw_codes();
    return write_jpeg(parts_);
  }

 private:
  std::uint16_t draw_side() {
    const std::uint32_t most = numbers_.one_of(8) ? 90 : 34;
    return static_cast<std::uint16_t>(1 + numbers_.below(most));
  }
  void draw_factors(std::array<std::uint8_t, 64>& factors) {
    const std::uint32_t kind = numbers_.below(6);
    const std::uint32_t one = 1 + numbers_.below(255);
    for (std::size_t k = 0; k < factors.size(); ++k) {
      const std::array<std::uint32_t, 6> choices{
          1,
          255,
          one,
          1U << k % 8,
          std::min<std::uint32_t>(255, 1 + 4 * static_cast<std::uint32_t>(k)),
          0};
      factors.at(k) =
          static_cast<std::uint8_t>(kind == 5 ? 1 + numbers_.below(255) : choices.at(kind));
    }
  }

  void draw_blocks() {
    const std::uint32_t only =
        numbers_.below(2 * kinds);  // kind of all blocks, if it is a valid kind
    parts_.blocks.resize(std::size_t{parts_.mcus()} * parts_.blocks_of_mcu());
    for (jpeg_parts::block& block : parts_.blocks) {
      block[0] = static_cast<std::int16_t>(draw_difference());
      draw_others(only < kinds ? only : numbers_.below(kinds), block);
    }
  }
  int draw_difference() {
    switch (numbers_.below(5)) {
      case 0:
        return 0;
      case 1:
        return numbers_.up_to(8);
      case 2:
        return numbers_.up_to(largest_difference);
      default:
        return numbers_.sign() * largest_difference;
    }
  }

  static constexpr std::uint32_t kinds = 10;
  /// Draws all coefficients of a block but the first.
  void draw_others(std::uint32_t kind, jpeg_parts::block& block) {
    static const auto places = zigzag();
    const int x = static_cast<int>(numbers_.below(8));
    const int y = static_cast<int>(numbers_.below(8));
    const int sign = numbers_.sign();
    for (std::size_t k = 1; k < block.size(); ++k) {
      const auto [row, column] = places.at(k);
      const auto draw = [&] {
        return numbers_.one_of(3) ? numbers_.sign() * largest : numbers_.up_to(largest);
      };
      int value = 0;
      switch (kind) {
        case 0:  // none
        case 1:
          break;
        case 2:
          value = row == 0 ? draw() : 0;
          break;
        case 3:
          value = column == 0 ? draw() : 0;
          break;
        case 4:
          value = numbers_.one_of(16) ? draw() : 0;
          break;
        case 5:
          value = draw();
          break;
        case 6:  // maximizes sample (y, x), and others as well
          value = sign * largest * (wave(row, y) * wave(column, x) < 0 ? -1 : 1);
          break;
        case 7:
          value = numbers_.up_to(3);
          break;
        case 8:  // with factors that are powers of two, too, products of 16 bits become 0
          value = numbers_.sign() * (1 << numbers_.below(10));
          break;
        default:
          value = (k % 2 == 0 ? 1 : -1) * sign * largest;
      }
      block.at(k) = static_cast<std::int16_t>(value);
    }
  }
  static double wave(int frequency, int place) {
    return std::cos((2 * place + 1) * frequency * std::numbers::pi / 16);
  }

  /// Gives codes to the symbols that blocks need, and to some others.
  void draw_codes() {
    std::array<std::set<std::uint8_t>, 4> used;
    for (std::size_t number = 0; number < parts_.blocks.size(); ++number) {
      const auto unit = static_cast<std::uint32_t>(number % parts_.blocks_of_mcu());
      const jpeg_parts::component& component = parts_.components[parts_.component_of(unit)];
      const jpeg_parts::block& block = parts_.blocks[number];
      used.at(component.dc).insert(static_cast<std::uint8_t>(jpeg_size(block[0])));
      auto& ac = used.at(2U + component.ac);
      std::uint32_t zeros = 0;
      for (std::size_t k = 1; k < block.size(); ++k) {
        if (block.at(k) == 0) {
          ++zeros;
          continue;
        }
        if (zeros > 15) ac.insert(0xF0);
        ac.insert(static_cast<std::uint8_t>(zeros % 16 * 16 + jpeg_size(block.at(k))));
        zeros = 0;
      }
      if (zeros != 0) ac.insert(0);
    }
    for (std::size_t table = 0; table < used.size(); ++table) {
      for (std::uint32_t more = numbers_.below(8); more > 0 && !used.at(table).empty(); --more)
        used.at(table).insert(static_cast<std::uint8_t>(
            table < 2 ? numbers_.below(12) : numbers_.below(16) * 16 + 1 + numbers_.below(10)));
      if (used.at(table).empty() && is_named(table)) used.at(table).insert(0);
      jpeg_parts::code& code = parts_.codes.at(table);
      code.symbols.assign(used.at(table).begin(), used.at(table).end());
      for (std::size_t i = code.symbols.size(); i > 1; --i)
        std::swap(code.symbols[i - 1], code.symbols[numbers_.below(static_cast<std::uint32_t>(i))]);
      const bool is_steep = numbers_.one_of(3);
      for (std::size_t i = 0; i < code.symbols.size(); ++i)
        code.splits.push_back(is_steep ? static_cast<std::uint32_t>(i) : numbers_.below(65536));
    }
  }
  /// Whether a component names this table: a block without coefficients but its first needs it too.
  [[nodiscard]] bool is_named(std::size_t table) const {
    return std::ranges::any_of(parts_.components, [&](const jpeg_parts::component& each) {
      return table == each.dc || table == 2U + each.ac;
    });
  }

  drawn_numbers numbers_;
  jpeg_parts parts_;
};

}  // namespace

byte_vector draw_jpeg(std::span<const std::uint8_t> input, const drawn_extents& extents) {
  return drawing{input}.draw(extents);
}

byte_vector draw_jpeg(std::uint32_t seed, const drawn_extents& extents) {
  std::array<std::uint8_t, 4> input{};
  for (std::size_t i = 0; i < input.size(); ++i)
    input.at(i) = static_cast<std::uint8_t>(seed >> 8 * (3 - i));
  return draw_jpeg(input, extents);
}

}  // namespace feedline::test
