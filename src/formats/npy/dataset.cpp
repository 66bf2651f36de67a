#include <feedline/dataset/decoder.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>

#include "detail/byte_order.hpp"
#include "formats/npy/array.hpp"
#include "io/file_source.hpp"
#include "io/random_file.hpp"

#include <cstring>
#include <memory>
#include <utility>

namespace feedline {
namespace {

std::uint64_t samples_of(const detail::npy_column& column, std::size_t row_bytes) {
  if (const auto* rows = std::get_if<detail::file_rows_field>(&column)) return rows->rows.size();
  return std::get<memory_field>(column).bytes.size() / row_bytes;
}

const field& spec_of(const detail::npy_column& column) {
  return std::visit([](const auto& one) -> const field& { return one.spec; }, column);
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
    const std::uint64_t here = samples_of(columns.back(), sample_bytes(spec_of(columns.back())));
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

listed_field detail::list_npy(const std::string& file, const std::string& field_name) {
  const file_field name{file, field_name};
  file_source source{name};
  const npy_header header = read_npy_header(source, name);
  return {
      .name = field_name, .samples = header.extents.front(), .spec = header.to_field(field_name)};
}

}  // namespace feedline
