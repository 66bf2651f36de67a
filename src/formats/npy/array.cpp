#include "formats/npy/array.hpp"

#include <feedline/dataset/zip.hpp>

#include "detail/byte_order.hpp"
#include "detail/log.hpp"
#include "io/file_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

namespace feedline::detail {
namespace {

/// Reads a header, and looks at what holds the array being so long.
npy_header read_header(byte_source& from, std::uint64_t bytes, const file_field& name) {
  npy_header header = read_npy_header(from, name);
  header.require_room(bytes, name);
  if (bytes == header.end()) return header;
  const auto warning = name.error(
      header.end(), std::to_string(bytes - header.end()) + " bytes follow the array, " +
                        header.describe() +
                        ", and are not read, as numpy.load does not read them; if they are more "
                        "arrays, save each to a file of its own");
  log()->warn("{}", warning.what());
  return header;
}

memory_field transposed(const npy_header& header, const element_bytes& read,
                        const file_field& name) try {
  return header.to_field(name.field, rows_of_fortran_array(header, read));
} catch (const std::bad_alloc&) {
  throw header.no_memory(
      "an array in Fortran order is transposed into memory: save "
      "numpy.ascontiguousarray(array), which is read from the file",
      name);
}

row_storage read_payload(byte_source& from, const npy_header& header, const file_field& name) try {
  row_storage storage = header.read_elements(from, false, name);
  std::array<std::byte, 4096> beyond{};
  while (from.read(beyond) != 0) continue;  // reading to the end has checksums looked at
  return storage;
} catch (const std::bad_alloc&) {
  throw header.no_memory("split the array, or save it uncompressed", name);
}

}  // namespace

npy_column open_npy_array(const random_file_ptr& file, std::uint64_t begin, std::uint64_t bytes,
                          const file_field& name) {
  random_file_source head{file, begin, bytes};
  const npy_header header = read_header(head, bytes, name);
  const std::uint64_t first = begin + header.header_bytes;
  if (!header.rows_lie_together()) {
    memory_field field = transposed(
        header,
        [&](std::uint64_t offset, std::span<std::byte> out) { file->read(first + offset, out); },
        name);
    file->require_unchanged();
    return field;
  }
  const row_place place{.offset = first,
                        .stride = header.row_bytes(),
                        .row_bytes = header.row_bytes(),
                        .swapped_bytes = header.is_swapped ? size_bytes(header.type) : 1};
  return file_rows_field{header.to_field(name.field),
                         file_rows{file, name.field, place, header.extents.front()}};
}

npy_column read_npy_array(byte_source& from, std::uint64_t bytes, const file_field& name) {
  const npy_header header = read_header(from, bytes, name);
  const row_storage payload = read_payload(from, header, name);
  if (header.rows_lie_together()) {
    if (header.is_swapped) reverse_elements(payload.bytes(), size_bytes(header.type));
    return header.to_field(name.field, payload);
  }
  return transposed(
      header,
      [&](std::uint64_t offset, std::span<std::byte> out) {
        std::memcpy(out.data(), payload.bytes().data() + offset, out.size());
      },
      name);
}

dataset_ptr make_npy_dataset(std::vector<npy_column> columns) {
  // All in files or all in memory is one dataset, whose rows are known where they are in memory.
  std::vector<file_rows_field> in_files;
  std::vector<memory_field> in_ram;
  std::vector<dataset_ptr> parts;
  for (npy_column& column : columns)
    if (auto* rows = std::get_if<file_rows_field>(&column))
      in_files.push_back(std::move(*rows));
    else
      in_ram.push_back(std::get<memory_field>(std::move(column)));
  if (in_ram.empty()) return make_file_dataset(std::move(in_files));
  if (in_files.empty()) return make_memory_dataset(std::move(in_ram));

  auto file = in_files.begin();
  auto ram = in_ram.begin();
  for (const npy_column& column : columns)  // moved from, but each still the kind it was
    parts.push_back(std::holds_alternative<file_rows_field>(column)
                        ? make_file_dataset({std::move(*file++)})
                        : make_memory_dataset({std::move(*ram++)}));
  return zip(std::move(parts));
}

}  // namespace feedline::detail
