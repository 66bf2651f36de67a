#include "hdf5/format/array_elements.hpp"

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace feedline::detail {
namespace {

constexpr unsigned mask_bytes = 4;

std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  if (a > std::numeric_limits<std::uint64_t>::max() - b) return std::nullopt;
  return a + b;
}

[[noreturn]] void fail_to_count() {
  throw hdf5_metadata_error{"a chunk index of more elements than can be counted"};
}

}  // namespace

hdf5_chunk read_hdf5_chunk_place(const hdf5_metadata& metadata, hdf5_cursor& cursor,
                                 unsigned size_bytes, std::uint32_t unfiltered_bytes) {
  hdf5_chunk chunk{.bytes = unfiltered_bytes};
  const auto address = metadata.address(cursor);
  if (size_bytes > 0) {
    const std::uint64_t bytes = cursor.number(size_bytes);
    if (bytes > std::numeric_limits<std::uint32_t>::max() && address)
      cursor.fail("a chunk of 4 GiB or more");
    chunk.bytes = static_cast<std::uint32_t>(bytes);
    chunk.filter_mask = cursor.u32();
  }
  if (!address) return {};
  chunk.address = metadata.in_file(*address);
  return chunk;
}

hdf5_array_elements::hdf5_array_elements(const hdf5_metadata& metadata,
                                         const hdf5_chunk_layout& layout, hdf5_chunk_map& map)
    : metadata_{metadata}, layout_{layout}, map_{map} {
  const std::size_t rank = layout.rank();
  for (std::size_t d = 0; d < rank; ++d) {
    if (layout.max_extents[d] != hdf5_chunk_layout::unlimited) continue;
    if (!order_.empty()) throw hdf5_metadata_error{"an array for several unlimited dimensions"};
    order_.push_back(d);
  }
  for (std::size_t d = 0; d < rank; ++d)
    if (layout.max_extents[d] != hdf5_chunk_layout::unlimited) order_.push_back(d);

  std::vector<std::uint64_t> in_map(rank, 1);
  for (std::size_t d = rank - 1; d-- > 0;) in_map[d] = in_map[d + 1] * map.grid()[d + 1];

  std::optional<std::uint64_t> stride = 1;
  std::optional<std::uint64_t> last = 0;
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t d = order_[i];
    if (!stride) fail_to_count();
    strides_.insert(strides_.begin(), *stride);
    map_strides_.insert(map_strides_.begin(), in_map[d]);
    const auto reach = checked_multiply(*stride, map.grid()[d] - 1);
    last = reach ? checked_add(*last, *reach) : std::nullopt;
    if (!last) fail_to_count();
    // The slowest dimension's own length has no part in where elements are.
    if (i > 0)
      stride = checked_multiply(*stride, divide_up(layout.max_extents[d], layout.chunk_extents[d]));
  }
  const auto needed = checked_add(*last, 1);
  if (!needed) fail_to_count();
  needed_ = *needed;
  is_map_order_ = strides_ == map_strides_ && order_.front() == 0;
}

std::optional<std::uint64_t> hdf5_array_elements::chunk_of(std::uint64_t element) const noexcept {
  if (element >= needed_) return std::nullopt;
  if (is_map_order_) return element;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::uint64_t place = element / strides_[i];
    element -= place * strides_[i];
    if (place >= map_.grid()[order_[i]]) return std::nullopt;
    number += place * map_strides_[i];
  }
  return number;
}

std::uint64_t hdf5_array_elements::element_of(std::uint64_t number) const noexcept {
  if (is_map_order_) return number;
  std::uint64_t element = 0;
  for (std::size_t i = 0; i < order_.size(); ++i)
    element += number / map_strides_[i] % map_.grid()[order_[i]] * strides_[i];
  return element;
}

void hdf5_array_elements::set_format(const hdf5_cursor& header, unsigned client,
                                     unsigned element_bytes) {
  const unsigned address_bytes = metadata_.offset_bytes();
  if (client > 1) header.fail("an array that indexes no chunks");
  if ((client == 1) != layout_.has_filters)
    header.fail("an index of filtered chunks for a dataset without filters, or the reverse");
  element_bytes_ = element_bytes;
  size_bytes_ = 0;
  if (client == 1 && element_bytes > address_bytes + mask_bytes)
    size_bytes_ = element_bytes - address_bytes - mask_bytes;
  if (size_bytes_ > 8 || (size_bytes_ > 0) != layout_.has_filters ||
      (client == 0 && element_bytes != address_bytes))
    header.fail("array elements of " + std::to_string(element_bytes) + " bytes");
}

void hdf5_array_elements::take(hdf5_cursor& cursor, std::uint64_t first, std::uint64_t count) {
  if (first >= needed_) return;
  const std::uint64_t end = first + std::min(count, needed_ - first);
  for (std::uint64_t element = first; element < end; ++element) {
    const auto place = read_hdf5_chunk_place(metadata_, cursor, size_bytes_, layout_.chunk_bytes);
    if (const auto number = chunk_of(element)) map_[*number] = place;
  }
}

}  // namespace feedline::detail
