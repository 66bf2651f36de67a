#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>

#include "formats/npy/array.hpp"
#include "io/random_file.hpp"

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

}  // namespace

dataset_ptr open_npy(const std::filesystem::path& file, std::string field_name) {
  return open_npy({{file, std::move(field_name)}});
}

dataset_ptr open_npy(const std::vector<npy_field>& fields) {
  if (fields.empty()) throw usage_error{"open_npy: there is no file to open"};
  std::vector<detail::npy_column> columns;
  std::uint64_t samples = 0;
  for (const npy_field& one : fields) {
    const detail::file_field name{one.file.string(), one.name};
    const auto file = std::make_shared<const detail::random_file>(one.file);
    columns.push_back(detail::open_npy_array(file, 0, file->size(), name));
    const std::uint64_t here = samples_of(columns.back(), sample_bytes(spec_of(columns.back())));
    if (columns.size() == 1) samples = here;
    if (here != samples)
      throw dataset_error{{.path = name.path, .field = name.field},
                          "holds " + std::to_string(here) + " samples, but " +
                              fields.front().file.string() + " holds " + std::to_string(samples) +
                              "; use the files of one set"};
  }
  return detail::make_npy_dataset(std::move(columns));
}

}  // namespace feedline
