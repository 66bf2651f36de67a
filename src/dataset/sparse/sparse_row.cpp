#include "dataset/sparse/sparse_row.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

namespace feedline::detail {
namespace {

template <class Value, class Column>
std::size_t add_values(const std::byte* values, const std::byte* columns, std::size_t count,
                       std::uint64_t row_columns, std::byte* row) {
  for (std::size_t i = 0; i < count; ++i) {
    Column stored;
    std::memcpy(&stored, columns + i * sizeof stored, sizeof stored);
    const std::uint64_t column = stored;
    if (column >= row_columns) return i;
    Value sum;
    Value value;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    std::memcpy(&sum, row + column * sizeof sum, sizeof sum);
    if constexpr (std::is_integral_v<Value>)
      sum = static_cast<Value>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(value));
    else
      sum += value;
    std::memcpy(row + column * sizeof sum, &sum, sizeof sum);
  }
  return count;
}

template <class Value>
add_to_row adds_columns(std::uint32_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return add_values<Value, std::uint8_t>;
    case 2:
      return add_values<Value, std::uint16_t>;
    case 4:
      return add_values<Value, std::uint32_t>;
    default:
      return add_values<Value, std::uint64_t>;
  }
}

/// The numbers of a run, wherever they are.
class run_numbers {
 public:
  /// @return Null: they are missing, or beyond the block.
  const std::byte* of(const window_box& box, std::span<const std::byte> block,
                      const std::function<const std::byte*(const window_box&)>& bytes_of) {
    if (box.place == window_box::in_block) {
      const std::size_t bytes = std::size_t{box.units} * box.unit;
      return box.from > block.size() || bytes > block.size() - box.from ? nullptr
                                                                        : block.data() + box.from;
    }
    if (box.place != window_box::no_chunk) return bytes_of(box);
    repeated_.resize(std::size_t{box.units} * box.unit);
    for (std::size_t at = 0; at < repeated_.size(); at += box.unit)
      std::memcpy(repeated_.data() + at, box.fill, box.unit);
    return repeated_.data();
  }

 private:
  std::vector<std::byte> repeated_ = {};
};

}  // namespace

add_to_row adds(const sparse_types& types) noexcept {
  switch (types.values) {
    case element_type::u8:
    case element_type::i8:
      return adds_columns<std::uint8_t>(types.column_bytes);
    case element_type::u16:
    case element_type::i16:
      return adds_columns<std::uint16_t>(types.column_bytes);
    case element_type::u32:
    case element_type::i32:
      return adds_columns<std::uint32_t>(types.column_bytes);
    case element_type::u64:
    case element_type::i64:
      return adds_columns<std::uint64_t>(types.column_bytes);
    case element_type::f32:
      return adds_columns<float>(types.column_bytes);
    case element_type::f64:
      return adds_columns<double>(types.column_bytes);
    default:
      return nullptr;
  }
}

bool make_dense(const sparse_types& types, std::span<const std::byte> block,
                const std::function<const std::byte*(const window_box&)>& bytes_of,
                std::span<std::byte> row) {
  const add_to_row add = adds(types);
  const std::size_t value_bytes = size_bytes(types.values);
  window_block head;
  if (add == nullptr || block.size() < sizeof head) return false;
  std::memcpy(&head, block.data(), sizeof head);
  if (head.boxes % 2 != 0 || (block.size() - sizeof head) / sizeof(window_box) < head.boxes)
    return false;
  std::ranges::fill(row, std::byte{0});
  run_numbers first;
  run_numbers second;
  for (std::uint32_t i = 0; i < head.boxes; i += 2) {
    window_box run[2];
    std::memcpy(run, block.data() + sizeof head + i * sizeof(window_box), sizeof run);
    if (run[0].units != run[1].units || run[0].unit != value_bytes ||
        run[1].unit != types.column_bytes)
      return false;
    const std::byte* const values = first.of(run[0], block, bytes_of);
    const std::byte* const columns = second.of(run[1], block, bytes_of);
    if (values == nullptr || columns == nullptr ||
        add(values, columns, run[0].units, row.size() / value_bytes, row.data()) != run[0].units)
      return false;
  }
  return true;
}

}  // namespace feedline::detail
