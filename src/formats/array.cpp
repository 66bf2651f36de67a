#include "formats/array.hpp"

#include <algorithm>

namespace feedline::detail {

void array_header::count_payload(std::uint64_t offset, const file_field& name) {
  payload_bytes = size_bytes(type);
  bool fits = true;
  for (const std::uint64_t extent : extents)
    fits = !__builtin_mul_overflow(payload_bytes, extent, &payload_bytes) && fits;
  std::uint64_t end = 0;
  if (!fits || __builtin_add_overflow(header_bytes, payload_bytes, &end))
    throw name.error(offset, "the header announces " + describe() +
                                 ", more bytes than 64 bits can count; the file is damaged, get "
                                 "it again");
}

std::string array_header::describe() const {
  return to_string(field{{}, type, extents}).substr(2);  // without the name and ": "
}

field array_header::to_field(std::string name) const {
  return {std::move(name), type, {extents.begin() + 1, extents.end()}};
}

memory_field array_header::to_field(std::string name, const row_storage& elements) const {
  return {to_field(std::move(name)), elements.bytes(), elements.owner()};
}

void array_header::require_room(std::uint64_t size, const file_field& name) const {
  if (size < end())
    throw name.error(size, "cut short: the header announces " + describe() + ", so it should be " +
                               std::to_string(end()) +
                               " bytes, but it ends here; get the file again");
}

dataset_error array_header::over_long(const std::string& end, const file_field& name) const {
  return name.error(this->end(), "over-long: the header announces " + describe() +
                                     ", so it should end here, but it " + end);
}

dataset_error array_header::no_memory(const std::string& advice, const file_field& name) const {
  return name.error(header_bytes, "the elements (" + describe() + ") take " +
                                      std::to_string(payload_bytes) +
                                      " bytes of memory, which are not available; " + advice);
}

row_storage array_header::read_elements(byte_source& from, bool at_once,
                                        const file_field& name) const {
  constexpr std::size_t first_piece_bytes = std::size_t{1} << 20;
  row_storage storage;
  for (std::size_t count = 0; count < payload_bytes;) {
    const std::size_t doubled = at_once || count > payload_bytes / 2 ? payload_bytes : 2 * count;
    storage.grow(std::min(payload_bytes, std::max(doubled, first_piece_bytes)));
    const auto room = storage.bytes().subspan(count);
    const std::size_t got = from.read(room);
    count += got;
    if (got < room.size()) require_room(header_bytes + count, name);
  }
  return storage;
}

}  // namespace feedline::detail
