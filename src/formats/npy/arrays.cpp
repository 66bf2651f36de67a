#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/formats/npy.hpp>

#include "arrays/file_array.hpp"
#include "detail/byte_order.hpp"
#include "formats/npy/array.hpp"
#include "io/file_system.hpp"
#include "io/range_source.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace feedline::detail {
namespace {

array_spec spec_of(const npy_header& header, const file_field& name) {
  return {.name = name.field, .path = name.path, .type = header.type, .shape = header.extents};
}

/// The header of an array of any shape that has values, also of a single number.
npy_header read_box_header(byte_source& from, std::uint64_t bytes, const file_field& name) {
  npy_header header = read_npy_header(from, name, true);
  if (std::ranges::count(header.extents, 0U) != 0)
    throw name.error(header.header_bytes, "the array, " + header.describe() + ", holds no values");
  header.require_room(bytes, name);
  return header;
}

}  // namespace

array_ptr open_npy_box_array(const byte_file_ptr& file, std::uint64_t begin, std::uint64_t bytes,
                             const file_field& name) {
  range_source head{file, begin, bytes};
  const npy_header header = read_box_header(head, bytes, name);
  const std::size_t rank = header.extents.size();
  file_array_place place{.offset = begin + header.header_bytes,
                         .strides = std::vector<std::ptrdiff_t>(rank),
                         .is_swapped = header.is_swapped};
  auto stride = static_cast<std::ptrdiff_t>(size_bytes(header.type));
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = header.is_fortran ? i : rank - 1 - i;
    place.strides[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(header.extents[d]);
  }
  return make_file_array(spec_of(header, name), file, std::move(place));
}

array_ptr read_npy_box_array(byte_source& from, std::uint64_t bytes, const file_field& name) {
  const npy_header header = read_box_header(from, bytes, name);
  try {
    row_storage storage = header.read_elements(from, false, name);
    std::array<std::byte, 4096> beyond{};
    while (from.read(beyond) != 0) continue;  // reading to the end has checksums looked at
    if (header.is_fortran && header.extents.size() > 1) {
      const auto rows =
          rows_of_fortran_array(header, [&](std::uint64_t offset, std::span<std::byte> out) {
            std::copy_n(storage.bytes().begin() + static_cast<std::ptrdiff_t>(offset), out.size(),
                        out.begin());
          });
      return make_memory_array(spec_of(header, name), rows.bytes(), rows.owner());
    }
    if (header.is_swapped) reverse_elements(storage.bytes(), size_bytes(header.type));
    return make_memory_array(spec_of(header, name), storage.bytes(), storage.owner());
  } catch (const std::bad_alloc&) {
    throw header.no_memory("save it uncompressed", name);
  }
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

array_ptr open_npy_array(const std::string& file, std::string name,
                         std::vector<std::string> dimensions) {
  const auto opened = detail::open_file(file);
  array_ptr array = detail::open_npy_box_array(opened, 0, opened->size(), {file, std::move(name)});
  if (dimensions.empty()) return array;
  return rename_array(std::move(array), {}, std::move(dimensions));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
