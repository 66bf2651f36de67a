#include <feedline/hdf5/dataset.hpp>

#include "dataset/memory/resident_fields.hpp"
#include "dataset/rows_dataset.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "hdf5/library/conventions.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/rows/encoded_rows.hpp"
#include "hdf5/rows/open_rows.hpp"

#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Finds all fields, under the lock; no object of the library stays open except those that it will
/// read.
std::vector<detail::hdf5_resolved_field> find_fields(const std::filesystem::path& file,
                                                     const std::vector<hdf5_field>& fields,
                                                     const hdf5_options& options) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file opened{hdf5, file, options.external};
  detail::hdf5_open_context common{.conventions = options.conventions};
  std::vector<detail::hdf5_resolved_field> found;
  for (const auto& chosen : fields) {
    found.push_back(detail::find_field(hdf5, opened, common, chosen));
    if (found.back().samples != found.front().samples)
      throw opened.error(chosen.dataset,
                         "holds " + std::to_string(found.back().samples) + " samples (" +
                             to_string(found.back().spec) + "), but '" + fields.front().dataset +
                             "' holds " + std::to_string(found.front().samples) +
                             "; the first dimensions of a dataset's fields are equal");
  }
  if (opened.driver()) opened.driver()->admit_no_more();
  return found;
}

/// Opens each field's rows; fields with a cache share the cache memory by the sizes of their rows.
std::vector<detail::rows_field> open_fields(std::vector<detail::hdf5_resolved_field>& found,
                                            std::size_t cache_bytes) {
  double cached_row_bytes = 0;
  for (const auto& each : found)
    if (each.block_bytes() != 0) cached_row_bytes += static_cast<double>(each.row_bytes);
  std::vector<detail::rows_field> fields;
  for (auto& each : found) {
    const double share =
        each.block_bytes() == 0 ? 0 : static_cast<double>(each.row_bytes) / cached_row_bytes;
    const auto bytes = static_cast<std::size_t>(static_cast<double>(cache_bytes) * share);
    fields.push_back(
        {each.spec, detail::open_rows(each, bytes), detail::make_hdf5_encoded_rows(each)});
  }
  return fields;
}

}  // namespace

dataset_ptr open_hdf5(const std::string& file, std::vector<hdf5_field> fields,
                      const hdf5_options& options) {
  detail::require_known(options);
  auto found = find_fields(file, fields, options);
  auto opened = open_fields(found, detail::cache_bytes_of(options));
  detail::make_resident(opened, options.max_resident_bytes, file);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (const std::string& why = found[i].storage.refusal;
        !why.empty() && !opened[i].rows->in_memory())
      detail::log()->warn(
          "{}: field '{}' is read through the HDF5 library, one thread at a time: {}",
          detail::printable(file), detail::printable(found[i].name), detail::printable(why));
  for (const auto& each : found)
    if (each.file) each.file->require_unchanged();
  return detail::make_rows_dataset("open_hdf5", std::move(opened));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
