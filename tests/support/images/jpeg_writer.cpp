#include "support/images/jpeg_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>

namespace feedline::test {
namespace {

constexpr std::uint32_t longest_code = 16;

/// A Huffman table: its codes by symbol, and how its file defines it.
struct huffman_table {
  std::array<std::uint32_t, 256> codes{};
  std::array<std::uint32_t, 256> lengths{};         ///< 0: no code
  std::array<std::uint8_t, longest_code> counts{};  ///< number of codes by length, from 1 on
  std::vector<std::uint8_t> symbols;
};

/// Splits leaves until there is one more than there are symbols: the code of ones alone is no
/// symbol's.
huffman_table build(const jpeg_parts::code& from) {
  huffman_table table{.symbols = from.symbols};
  std::vector<std::uint32_t> leaves{0};  // depths
  for (std::size_t i = 0; i < from.symbols.size(); ++i) {
    std::size_t leaf = (i < from.splits.size() ? from.splits[i] : 0) % leaves.size();
    while (leaves[leaf] == longest_code) leaf = (leaf + 1) % leaves.size();
    leaves.push_back(++leaves[leaf]);
  }
  std::ranges::sort(leaves);
  leaves.pop_back();
  std::uint32_t code = 0;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i, ++code) {
    code <<= leaves[i] - length;
    length = leaves[i];
    table.codes[from.symbols[i]] = code;
    table.lengths[from.symbols[i]] = length;
    ++table.counts[length - 1];
  }
  return table;
}

class stream_writer {
 public:
  explicit stream_writer(const jpeg_parts& parts) : parts_{parts} {
    std::ranges::transform(parts.codes, tables_.begin(), build);
  }

  byte_vector write() {
    put({0xFF, 0xD8});
    if (parts_.has_jfif_marker)
      put({0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0});
    for (std::uint8_t i = 0; i < parts_.quantization.size(); ++i) {
      put({0xFF, 0xDB, 0, 67, i});
      put(parts_.quantization[i]);
    }
    put({0xFF, 0xC0, 0, 8U + 3U * count(), 8});
    put_two(parts_.height);
    put_two(parts_.width);
    put({count()});
    for (std::uint8_t i = 0; i < count(); ++i)
      put({i + 1U, i == 0 ? 16U * parts_.luma_across + parts_.luma_down : 0x11U,
           parts_.components[i].quantization});
    for (std::uint32_t i = 0; i < tables_.size(); ++i) {
      if (tables_[i].symbols.empty()) continue;
      put({0xFF, 0xC4});
      put_two(static_cast<std::uint32_t>(19 + tables_[i].symbols.size()));
      put({i / 2 * 16 + i % 2});
      put(tables_[i].counts);
      put(tables_[i].symbols);
    }
    if (parts_.restart_interval != 0) {
      put({0xFF, 0xDD, 0, 4});
      put_two(parts_.restart_interval);
    }
    put({0xFF, 0xDA, 0, 6U + 2U * count(), count()});
    for (std::uint8_t i = 0; i < count(); ++i)
      put({i + 1U, parts_.components[i].dc * 16U + parts_.components[i].ac});
    put({0, 63, 0});
    scan();
    put({0xFF, 0xD9});
    return std::move(file_);
  }

 private:
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(parts_.components.size());
  }
  void put(std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values) file_.push_back(std::byte(value));
  }
  template <class Values>
  void put(const Values& values) {
    for (const std::uint8_t value : values) file_.push_back(std::byte{value});
  }
  void put_two(std::uint32_t value) { put({value >> 8U, value & 255U}); }

  void scan() {
    for (std::uint32_t number = 0; number < parts_.blocks.size(); ++number) {
      const std::uint32_t mcu = number / parts_.blocks_of_mcu();
      const std::uint32_t unit = number % parts_.blocks_of_mcu();
      if (parts_.restart_interval != 0 && mcu != 0 && unit == 0 &&
          mcu % parts_.restart_interval == 0) {
        flush();
        put({0xFF, 0xD0 + (mcu / parts_.restart_interval - 1) % 8});
      }
      const jpeg_parts::component& component = parts_.components[parts_.component_of(unit)];
      block(parts_.blocks[number], tables_[component.dc], tables_[2 + component.ac]);
    }
    flush();
  }
  void block(const jpeg_parts::block& values, const huffman_table& dc, const huffman_table& ac) {
    symbol(dc, 0, values[0]);
    std::uint32_t zeros = 0;
    for (std::size_t k = 1; k < values.size(); ++k) {
      if (values[k] == 0) {
        ++zeros;
        continue;
      }
      for (; zeros > 15; zeros -= 16) symbol(ac, 15, 0);
      symbol(ac, zeros, values[k]);
      zeros = 0;
    }
    if (zeros != 0) symbol(ac, 0, 0);
  }
  void symbol(const huffman_table& table, std::uint32_t zeros, int value) {
    const std::uint32_t size = jpeg_size(value);
    const std::uint32_t symbol = zeros * 16 + size;
    if (table.lengths[symbol] == 0) throw std::logic_error{"a JPEG's symbol has no code"};
    bits(table.codes[symbol], table.lengths[symbol]);
    const int all_ones = (1 << size) - 1;
    bits(static_cast<std::uint32_t>(value < 0 ? value + all_ones : value), size);
  }
  void bits(std::uint32_t value, std::uint32_t count) {
    for (; count > 0; --count) {
      byte_ = byte_ << 1U | (value >> (count - 1) & 1U);
      if (++filled_ < 8) continue;
      put({byte_});
      if (byte_ == 0xFF) put({0});
      byte_ = filled_ = 0;
    }
  }
  void flush() {
    while (filled_ != 0) bits(1, 1);
  }

  const jpeg_parts& parts_;
  std::array<huffman_table, 4> tables_;
  byte_vector file_;
  std::uint32_t byte_ = 0;
  std::uint32_t filled_ = 0;  ///< bits of the byte
};

}  // namespace

std::uint32_t jpeg_parts::mcus() const {
  const std::uint32_t down = (height + 8U * luma_down - 1) / (8U * luma_down);
  const std::uint32_t across = (width + 8U * luma_across - 1) / (8U * luma_across);
  return down * across;
}

std::uint32_t jpeg_size(int value) {
  std::uint32_t size = 0;
  for (int rest = std::abs(value); rest != 0; rest /= 2) ++size;
  return size;
}

byte_vector write_jpeg(const jpeg_parts& parts) {
  return stream_writer{parts}.write();
}

}  // namespace feedline::test
