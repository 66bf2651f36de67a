#include "formats/npy/array.hpp"

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/formats/npy.hpp>

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

listed_field list_npy(const std::string& file, const std::string& field_name) {
  const file_field name{file, field_name};
  file_source source{name};
  const npy_header header = read_npy_header(source, name);
  return {
      .name = field_name, .samples = header.extents.front(), .spec = header.to_field(field_name)};
}

}  // namespace feedline::detail

namespace feedline {
namespace {

std::uint64_t samples_of(const detail::npy_column& column) {
  if (const auto* rows = std::get_if<detail::file_rows_field>(&column)) return rows->rows.size();
  const auto& [spec, bytes, owner] = std::get<memory_field>(column);
  return bytes.size() / sample_bytes(spec);
}

/// A sample's array: its whole shape is the value's.
detail::npy_header read_header(std::span<const std::byte> stored) {
  const detail::file_field nameless;
  detail::memory_source source{stored};
  detail::npy_header header = detail::read_npy_header(source, nameless);
  header.require_room(stored.size(), nameless);
  if (stored.size() > header.end())
    throw header.over_long("is " + std::to_string(stored.size()) +
                               " bytes; save each array to a file of its own, or get the file anew",
                           nameless);
  if (header.is_fortran && header.extents.size() > 1)
    throw dataset_error{{}, "an array in Fortran order; save it with numpy.ascontiguousarray"};
  return header;
}

class npy_decoder final : public decoder {
 public:
  field describe(std::span<const std::byte> first) const override {
    const detail::npy_header header = read_header(first);
    return {{}, header.type, header.extents};
  }

  void decode(std::span<const std::byte> stored, const field& as,
              std::span<std::byte> out) const override {
    const detail::npy_header header = read_header(stored);
    if (header.type != as.type || header.extents != as.shape)
      throw dataset_error{{},
                          "holds " + header.describe() + ", but the first sample is " +
                              to_string(field{as.name, as.type, as.shape}) +
                              "; arrays of a field have one type and shape"};
    std::memcpy(out.data(), stored.data() + header.header_bytes, out.size());
    if (header.is_swapped) detail::reverse_elements(out, size_bytes(header.type));
  }
};

}  // namespace

dataset_ptr open_npy(const std::string& file, std::string field_name) {
  return open_npy({{file, std::move(field_name)}});
}

dataset_ptr open_npy(const std::vector<npy_field>& fields) {
  if (fields.empty()) throw usage_error{"open_npy: there is no file to open"};
  std::vector<detail::npy_column> columns;
  std::uint64_t samples = 0;
  for (const npy_field& one : fields) {
    const detail::file_field name{one.file, one.name};
    const auto file = std::make_shared<const detail::random_file>(one.file);
    columns.push_back(detail::open_npy_array(file, 0, file->size(), name));
    const std::uint64_t here = samples_of(columns.back());
    if (columns.size() == 1) samples = here;
    if (here != samples)
      throw dataset_error{{.path = name.path, .field = name.field},
                          "holds " + std::to_string(here) + " samples, but " + fields.front().file +
                              " holds " + std::to_string(samples) + "; use the files of one set"};
  }
  return detail::make_npy_dataset(std::move(columns));
}

decoder_ptr decode_npy() {
  return std::make_shared<const npy_decoder>();
}

}  // namespace feedline
