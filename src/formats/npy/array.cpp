#include "formats/npy/array.hpp"

#include <feedline/dataset/decoder.hpp>
#include <feedline/formats/npy.hpp>

#include "detail/byte_order.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "io/file_system.hpp"
#include "io/range_source.hpp"
#include "rows/file_rows.hpp"

#include <array>
#include <cstring>
#include <new>
#include <utility>

namespace feedline::detail {
namespace {

/// Reads a header, and checks that its source is long enough.
npy_header read_header(byte_source& from, std::uint64_t bytes, const file_field& name) {
  npy_header header = read_npy_header(from, name);
  header.require_room(bytes, name);
  if (header.is_date)
    log()->info("{}: '{}' holds dates or durations: counts in i64", printable(name.path),
                printable(name.field));
  if (bytes == header.end()) return header;
  const auto warning = name.error(
      header.end(), std::to_string(bytes - header.end()) + " bytes follow the array, " +
                        header.describe() +
                        ", and are not read, as numpy.load does not read them; if they are more "
                        "arrays, save each to a file of its own");
  log()->warn("{}", warning.what());
  return header;
}

rows_field transposed(const npy_header& header, const element_bytes& read,
                      const file_field& name) try {
  return rows_in_memory(header.to_field(name.field, rows_of_fortran_array(header, read)));
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

rows_field open_npy_array(const byte_file_ptr& file, std::uint64_t begin, std::uint64_t bytes,
                          const file_field& name) {
  range_source head{file, begin, bytes};
  const npy_header header = read_header(head, bytes, name);
  const std::uint64_t first = begin + header.header_bytes;
  if (!header.rows_lie_together()) {
    rows_field field = transposed(
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
  return {header.to_field(name.field),
          std::make_shared<const file_rows>(file, name.field, place, header.extents.front())};
}

rows_field read_npy_array(byte_source& from, std::uint64_t bytes, const file_field& name) {
  const npy_header header = read_header(from, bytes, name);
  const row_storage payload = read_payload(from, header, name);
  if (header.rows_lie_together()) {
    if (header.is_swapped) reverse_elements(payload.bytes(), size_bytes(header.type));
    return rows_in_memory(header.to_field(name.field, payload));
  }
  return transposed(
      header,
      [&](std::uint64_t offset, std::span<std::byte> out) {
        std::memcpy(out.data(), payload.bytes().data() + offset, out.size());
      },
      name);
}

listed_field list_npy(const std::string& file, const std::string& field_name) {
  const file_field name{file, field_name};
  const npy_header header = read_npy_header(*open_stream(name), name);
  return {
      .name = field_name, .samples = header.extents.front(), .spec = header.to_field(field_name)};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// A sample's array: its whole shape is the value's.
detail::npy_header read_header(std::span<const std::byte> stored) {
  const detail::file_field nameless;
  detail::memory_source source{stored};
  detail::npy_header header = detail::read_npy_header(source, nameless);
  header.require_room(stored.size(), nameless);
  if (stored.size() > header.end())
    throw header.over_long(
        "is " + std::to_string(stored.size()) +
            " bytes; save each array to a file of its own, or get the file again",
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

  void decode(std::span<const std::byte> stored, const field& as, std::span<std::byte> out,
              const sample_context&) const override {
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
  std::vector<detail::rows_field> columns;
  std::uint64_t samples = 0;
  for (const npy_field& one : fields) {
    const detail::file_field name{one.file, one.name};
    const auto file = detail::open_file(one.file);
    columns.push_back(detail::open_npy_array(file, 0, file->size(), name));
    const std::uint64_t here = columns.back().rows->size();
    if (columns.size() == 1) samples = here;
    if (here != samples)
      throw dataset_error{{.path = name.path, .field = name.field},
                          "holds " + std::to_string(here) + " samples, but " + fields.front().file +
                              " holds " + std::to_string(samples) + "; use the files of one set"};
  }
  return detail::make_rows_dataset("file dataset", std::move(columns));
}

decoder_ptr decode_npy() {
  return std::make_shared<const npy_decoder>();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
