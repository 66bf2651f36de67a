#include "hdf5/format/heap_search.hpp"

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// An object's index has 16 bits; index 0 is a collection's free space.
constexpr std::uint32_t max_objects = 1U << 16;

/// Bytes that are read at once from a file that is not in memory: the size of the library's
/// smallest collection.
constexpr std::uint64_t window_bytes = 4096;

/// Collections whose headers are requested before they are walked: as many as disks serve at once.
constexpr std::uint64_t max_hinted = 128;

constexpr std::uint64_t alignment = 8;

/// Size of a collection's header, which is also that of an object's header.
std::uint64_t header_bytes(const hdf5_metadata& metadata) {
  return round_up<std::uint64_t>(8U + metadata.length_bytes(), alignment);
}

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

}  // namespace

void hdf5_heap_search::reserve(std::uint64_t values) {
  places_.offsets.reserve(static_cast<std::size_t>(values));
  places_.lengths.reserve(static_cast<std::size_t>(values));
  indexes_.reserve(static_cast<std::size_t>(values));
}

void hdf5_heap_search::add(std::span<const std::byte> rows) {
  const unsigned offset_bytes = metadata_.offset_bytes();
  hdf5_cursor cursor{rows, 0};
  while (cursor.remaining() > 0) {
    std::uint32_t length = cursor.u32();
    std::uint64_t address = cursor.number(offset_bytes);
    std::uint32_t index = cursor.u32();
    if (address == 0 ||
        length == 0) {  // to the library, an address of 0 means that there is no value
      length = 0;
      address = 0;
      index = 0;
    } else if (index == 0 || index >= max_objects) {
      throw hdf5_heap_error{places_.offsets.size(),
                            "its address is object " + std::to_string(index) +
                                " of a global heap collection, whose objects are 1 to 65535"};
    } else {
      is_ordered_ = is_ordered_ && address >= last_address_;
      last_address_ = address;
    }
    places_.offsets.push_back(address);
    places_.lengths.push_back(length);
    indexes_.push_back(static_cast<std::uint16_t>(index));
  }
}

hdf5_value_places hdf5_heap_search::find() {
  if (!is_ordered_) order_by_address();
  const auto largest = std::max_element(indexes_.begin(), indexes_.end());
  if (largest != indexes_.end()) objects_.resize(std::size_t{*largest} + 1);
  const std::size_t values = places_.offsets.size();
  for (std::size_t i = 0; i < values;) {
    hint_ahead();
    if (places_.lengths[value_at(i)] == 0)
      ++i;
    else
      i = find_in_collection(i);
  }
  return std::move(places_);
}

void hdf5_heap_search::order_by_address() {
  order_.resize(places_.offsets.size());
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
  std::ranges::sort(order_, {}, [this](std::uint64_t i) {
    return std::pair{places_.offsets[static_cast<std::size_t>(i)], i};
  });
}

void hdf5_heap_search::hint_ahead() {
  for (; hinted_to_ < places_.offsets.size() && hinted_ < max_hinted; ++hinted_to_) {
    const std::uint64_t address = places_.offsets[value_at(hinted_to_)];
    if (address == 0 || address == hinted_address_) continue;
    metadata_.will_need(address, window_bytes);
    hinted_address_ = address;
    ++hinted_;
  }
}

/// Finds all values of one collection. @return Index after the last of them, in order.
std::size_t hdf5_heap_search::find_in_collection(std::size_t first) {
  const std::size_t value = value_at(first);
  const std::uint64_t address = places_.offsets[value];
  const std::size_t end = want(first);
  try {
    open_collection(address);
    walk(address);
  } catch (const hdf5_metadata_error& damage) {
    throw hdf5_heap_error{value, damage.what()};
  }
  for (std::size_t i = first; i < end; ++i)
    if (places_.lengths[value_at(i)] != 0) place(value_at(i), address);
  --hinted_;
  return end;
}

/// Marks the objects that values of a collection refer to. @return Index after the last value, in
/// order.
std::size_t hdf5_heap_search::want(std::size_t first) {
  ++walk_;
  const std::uint64_t address = places_.offsets[value_at(first)];
  std::size_t i = first;
  for (; i < places_.offsets.size(); ++i) {
    const std::size_t value = value_at(i);
    if (places_.lengths[value] == 0) continue;
    if (places_.offsets[value] != address) break;
    object& wanted = objects_[indexes_[value]];
    if (wanted.walk == walk_) continue;
    wanted = {.walk = walk_, .offset = 0, .bytes = 0};
    ++wanted_;
  }
  return i;
}

void hdf5_heap_search::place(std::size_t value, std::uint64_t address) {
  const object& found = objects_[indexes_[value]];
  const std::uint32_t length = places_.lengths[value];
  const auto bytes = checked_multiply<std::uint64_t>(length, element_bytes_);
  if (found.offset != 0 && bytes && *bytes <= found.bytes) [[likely]] {
    places_.offsets[value] = found.offset;
    return;
  }
  const std::string name = "object " + std::to_string(indexes_[value]) +
                           " of the global heap collection at byte " +
                           std::to_string(metadata_.in_file(address));
  if (found.offset == 0)
    throw hdf5_heap_error{value, "its address is " + name + ", which does not exist"};
  throw hdf5_heap_error{value, "it has " + std::to_string(length) + " elements of " +
                                   bytes_text(element_bytes_) + ", but " + name + " has " +
                                   bytes_text(found.bytes)};
}

/// Finds a collection's end.
void hdf5_heap_search::open_collection(std::uint64_t address) {
  hdf5_cursor cursor = at(address, header_bytes(metadata_));
  if (address < collection_end_) cursor.fail("global heap collections overlap");
  cursor.require_signature("GCOL");
  cursor.require_version(1);
  cursor.skip(3);
  const std::uint64_t bytes = cursor.number(metadata_.length_bytes());
  const std::uint64_t left = metadata_.file_bytes() - metadata_.in_file(address);
  if (bytes < header_bytes(metadata_) || bytes > left)
    cursor.fail("a global heap collection that claims " + bytes_text(bytes) +
                ", where the file has " + bytes_text(left) + " left");
  collection_end_ = address + bytes;
}

/// Walks over a collection's objects until all wanted ones were found.
void hdf5_heap_search::walk(std::uint64_t address) {
  const std::uint64_t header = header_bytes(metadata_);
  std::uint64_t next = address + header;
  while (wanted_ > 0 &&
         collection_end_ - next >= header) {  // a smaller rest is unused, and has no header
    hdf5_cursor cursor = at(next, header);
    const std::uint16_t index = cursor.u16();
    cursor.skip(6);  // reference count, and reserved bytes
    const std::uint64_t bytes = cursor.number(metadata_.length_bytes());
    const std::uint64_t left = collection_end_ - next;
    // Free space includes its own header in its size.
    const bool is_free = index == 0;
    if (is_free ? bytes < header || bytes > left : bytes > left - header)
      cursor.fail((is_free ? "free space" : "object " + std::to_string(index)) + " of " +
                  bytes_text(bytes) + ", where its global heap collection has " +
                  bytes_text(is_free ? left : left - header) + " left");
    if (!is_free && index < objects_.size())
      if (object& found = objects_[index]; found.walk == walk_ && found.offset == 0) {
        found.offset = metadata_.in_file(next + header);
        found.bytes = bytes;
        --wanted_;
      }
    next += is_free ? bytes : std::min(left, header + round_up(bytes, alignment));
  }
  wanted_ = 0;
}

/// A structure of the file, read through a window that moves forward.
hdf5_cursor hdf5_heap_search::at(std::uint64_t address, std::uint64_t bytes) {
  const bool is_there = window_ && address >= window_begin_ &&
                        address - window_begin_ <= window_->bytes().size() &&
                        bytes <= window_->bytes().size() - (address - window_begin_);
  if (!is_there) {
    const std::uint64_t offset = metadata_.in_file(address);
    if (offset > metadata_.file_bytes() || bytes > metadata_.file_bytes() - offset)
      throw hdf5_metadata_error{offset,
                                "an address in the global heap that is beyond the file's end, "
                                "at byte " +
                                    std::to_string(metadata_.file_bytes())};
    const std::uint64_t left = metadata_.file_bytes() - offset;
    window_.emplace(
        metadata_.block(address, metadata_.is_in_memory() ? left : std::min(left, window_bytes)));
    window_begin_ = address;
  }
  hdf5_cursor cursor = window_->cursor();
  cursor.skip(address - window_begin_);
  return cursor;
}

}  // namespace feedline::detail
