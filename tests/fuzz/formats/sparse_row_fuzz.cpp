/// Fuzz target of sparse rows that become dense: the first four bytes tell the types and how many
/// columns there are, the others are a block. Any block is a row or none; numbers in a chunk and in
/// the block give the same; and the row holds all values.

#include "dataset/sparse/sparse_row.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

using namespace feedline;

namespace {

using byte_vector = std::vector<std::byte>;

constexpr std::uint32_t max_units = 1U << 12U;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "sparse_row_fuzz: does not hold: %s\n", what);
  std::abort();
}

/// Sum of unsigned integers of a size, modulo 2^64.
std::uint64_t sum_of(std::span<const std::byte> numbers, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + bytes <= numbers.size(); at += bytes) {
    std::uint64_t one = 0;
    std::memcpy(&one, numbers.data() + at, bytes);
    sum += one;
  }
  return sum;
}

/// Calls `f(box, number)` for each box that is in the block whole, and stores it again.
template <class Function>
void each_box(byte_vector& block, Function f) {
  window_block head;
  if (block.size() < sizeof head) return;
  std::memcpy(&head, block.data(), sizeof head);
  const std::size_t boxes = (block.size() - sizeof head) / sizeof(window_box);
  for (std::uint32_t i = 0; i < head.boxes && i < boxes; ++i) {
    std::byte* const at = block.data() + sizeof head + i * sizeof(window_box);
    window_box box;
    std::memcpy(&box, at, sizeof box);
    f(box, i);
    std::memcpy(at, &box, sizeof box);
  }
}

bool is_in(const byte_vector& block, const window_box& box) {
  return box.from <= block.size() && std::size_t{box.units} * box.unit <= block.size() - box.from;
}

/// Sum of all values, modulo 2^64.
std::uint64_t sum_of_values(byte_vector block) {
  const byte_vector whole = block;
  std::uint64_t sum = 0;
  each_box(block, [&](const window_box& box, std::uint32_t number) {
    if (number % 2 != 0 || box.unit == 0 || box.unit > 8) return;
    const std::size_t bytes = std::size_t{box.units} * box.unit;
    if (box.place == window_box::no_chunk)
      sum += box.units * sum_of(std::span{box.fill}.first(box.unit), box.unit);
    else if (box.place == window_box::in_block && is_in(whole, box))
      sum += sum_of(std::span{whole}.subspan(box.from, bytes), box.unit);
  });
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t header_bytes = 4;
  constexpr std::array types{element_type::u8,  element_type::i16, element_type::u32,
                             element_type::i64, element_type::f32, element_type::f64};
  if (size < header_bytes) return 0;
  const sparse_types of{.values = types[data[0] % types.size()],
                        .column_bytes = 1U << (data[1] % 4U)};
  const std::size_t columns = data[2] + std::size_t{256} * (data[3] % 4U);
  const auto given = std::as_bytes(std::span{data, size}.subspan(header_bytes));

  byte_vector block{given.begin(), given.end()};
  each_box(block, [](window_box& box, std::uint32_t /*number*/) {
    if (box.place == window_box::no_chunk) box.units %= max_units;  // they take memory
  });
  std::uint64_t sum = sum_of_values(block);
  byte_vector row(columns * size_bytes(of.values));
  const auto no_chunk = [](const window_box&) { return static_cast<const std::byte*>(nullptr); };
  const bool is_made = detail::make_dense(of, block, no_chunk, row);

  byte_vector of_chunk = block;
  each_box(of_chunk, [&](window_box& box, std::uint32_t /*number*/) {
    if (box.place == window_box::in_block && is_in(block, box)) box.place = 0;
  });
  byte_vector same(row.size(), std::byte{0xAA});
  const auto in_chunk = [&](const window_box& box) -> const std::byte* {
    return box.place == 0 && is_in(block, box) ? block.data() + box.from : nullptr;
  };
  const bool is_made_again = detail::make_dense(of, of_chunk, in_chunk, same);
  if (!is_made) return 0;
  require(is_made_again && same == row, "chunks give the row that the block gives");
  if (of.values == element_type::f32 || of.values == element_type::f64) return 0;
  std::uint64_t made = sum_of(row, size_bytes(of.values));
  if (const std::size_t bits = 8 * size_bytes(of.values); bits < 64) {
    made &= (std::uint64_t{1} << bits) - 1;
    sum &= (std::uint64_t{1} << bits) - 1;
  }
  require(made == sum, "the row's sum is that of the values");
  return 0;
}
