#include <feedline/error.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "detail/byte_order.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "hdf5/library/conventions.hpp"
#include "hdf5/vlen/sequence_column.hpp"
#include "ragged/offsets.hpp"
#include "rows/hint_ranges.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Values that are in the file, or in memory: the library read them, or all are empty.
struct found_values {
  field element;
  std::size_t element_bytes = 0;
  std::size_t swapped_bytes = 1;
  std::string name = {};  ///< name of the dataset
  /// Positions in the file, or in the values in memory; all are within it.
  detail::hdf5_vlen_library_reader held = {};
  detail::byte_file_ptr file = nullptr;  ///< null: values are in memory
};

class hdf5_ragged final : public ragged_dataset {
 public:
  explicit hdf5_ragged(found_values found) : found_{std::move(found)} {}

  std::uint64_t size() const override { return found_.held.places.lengths.size(); }
  field element() const override { return found_.element; }
  std::uint64_t length(sample_index sample) const override {
    return found_.held.places.lengths[static_cast<std::size_t>(sample.value)];
  }

  bool wants_prefetch() const noexcept override { return found_.file && found_.file->is_cold(); }
  bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    if (!found_.file) return;
    detail::hint_ranges(*found_.file, samples, [&](sample_index sample) -> detail::byte_range {
      if (sample.value >= size()) return {};
      const std::uint64_t begin = offset_of(sample);
      return {begin, begin + std::min(length(sample) * found_.element_bytes, max_hinted_bytes)};
    });
  }

 private:
  void do_read(std::span<const element_run> runs) const override {
    const auto mapped = found_.file ? found_.file->mapped() : std::span<const std::byte>{};
    const bool by_calls = found_.file && mapped.empty();
    for (const element_run& run : runs) {
      detail::require_elements(*this, run, found_.element_bytes, found_.element.name);
      if (by_calls || run.out.empty()) continue;
      const std::byte* const from = found_.file ? mapped.data() : block_of(run.sample);
      std::memcpy(run.out.data(), from + offset_of(run), run.out.size());
    }
    if (by_calls) read_by_calls(runs);
    for (const element_run& run : runs) detail::reverse_elements(run.out, found_.swapped_bytes);
    if (found_.file) found_.file->require_unchanged();
  }

  /// Limit of a hint for one sample, because perhaps only the sample's beginning will be read.
  static constexpr std::uint64_t max_hinted_bytes = std::uint64_t{4} << 20;

  [[nodiscard]] std::uint64_t offset_of(const element_run& run) const noexcept {
    return offset_of(run.sample) + run.first * found_.element_bytes;
  }
  [[nodiscard]] std::uint64_t offset_of(sample_index sample) const noexcept {
    return found_.held.places.offsets[static_cast<std::size_t>(sample.value)];
  }
  [[nodiscard]] const std::byte* block_of(sample_index sample) const noexcept {
    const auto block = sample.value / detail::hdf5_vlen_library_reader::block_values;
    return found_.held.blocks[static_cast<std::size_t>(block)].data();
  }

  void read_by_calls(std::span<const element_run> runs) const {
    thread_local std::vector<detail::byte_read> parts;  // kept to avoid allocation
    parts.clear();
    for (const element_run& run : runs)
      if (!run.out.empty()) parts.push_back({offset_of(run), run.out});
    try {
      found_.file->read(parts);
    } catch (const dataset_error& failure) {
      dataset_location where = failure.where();
      where.field = found_.name;
      for (const element_run& run : runs)
        if (failure.offset() && !run.out.empty() && offset_of(run) <= *failure.offset() &&
            *failure.offset() < offset_of(run) + run.out.size())
          where.sample = run.sample.value;
      throw hdf5_error{std::move(where), failure.message()};
    }
  }

  found_values found_;
};

/// Checks memory first, because the number of values is only a claim of the file until they were
/// read.
void require_memory_for_places(const detail::hdf5_file& file,
                               const detail::hdf5_sequence_column& column, std::size_t max_bytes) {
  if (column.values.samples <= max_bytes / detail::hdf5_heap_search::search_bytes) return;
  throw file.error(column.name, "has " + std::to_string(column.values.samples) +
                                    " samples; to find where their values are takes " +
                                    std::to_string(detail::hdf5_heap_search::search_bytes) +
                                    " bytes of memory each, more than the " +
                                    std::to_string(max_bytes) +
                                    " that hdf5_options::max_host_cache_bytes allows");
}

/// Called under the lock; no object of the library stays open.
/// @param rows Set to the rows that say where values are.
found_values find_values(const std::filesystem::path& path, const hdf5_field& chosen,
                         const hdf5_options& options, detail::hdf5_resolved_field& rows) {
  const std::size_t max_bytes = detail::cache_bytes_of(options);
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path, options.external};
  const auto column = detail::open_sequences(hdf5, file, chosen);
  require_memory_for_places(file, column, max_bytes);
  rows = detail::find_rows(hdf5, file, column);
  found_values found{
      .element = column.element, .element_bytes = column.element_bytes, .name = rows.name};
  if (column.values.samples == 0) {
    rows.storage.refusal.clear();
    return found;
  }
  if (const auto& why = rows.storage.refusal; !why.empty()) {
    found.held = detail::read_whole(hdf5, file, column, max_bytes, why);
  } else if (rows.file) {
    found.swapped_bytes = column.values.element.swapped_bytes;
    found.file = rows.file;
  } else {  // never written
    const auto samples = static_cast<std::size_t>(column.values.samples);
    found.held.places.offsets.resize(samples);
    found.held.places.lengths.resize(samples);
  }
  return found;
}

void add_rows(detail::hdf5_resolved_field& found, detail::hdf5_heap_search& search) {
  constexpr std::uint64_t run_samples = 16'384;
  const auto rows = detail::open_rows(found, 0);
  search.reserve(found.samples);
  std::vector<sample_index> run;
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < found.samples; first += run.size()) {
    run.resize(static_cast<std::size_t>(std::min(run_samples, found.samples - first)));
    for (std::size_t i = 0; i < run.size(); ++i) run[i].value = first + i;
    bytes.resize(run.size() * found.row_bytes);
    rows->read(run, bytes.data());
    search.add(bytes);
  }
}

/// Called without the lock.
detail::hdf5_value_places find_places(detail::hdf5_resolved_field& rows,
                                      std::size_t element_bytes) {
  const detail::byte_file& file = *rows.file;
  const auto fail = [&](std::optional<std::uint64_t> sample, const std::exception& damage) {
    file.require_unchanged();  // a change is the better reason
    throw hdf5_error{{.path = file.name(), .field = rows.name, .sample = sample},
                     std::string{"cannot be read: "} + damage.what() +
                         "; the file is cut short or damaged: copy it again"};
  };
  detail::hdf5_value_places places;
  try {
    detail::hdf5_metadata metadata{file};
    detail::hdf5_heap_search search{metadata, element_bytes};
    add_rows(rows, search);
    places = search.find();
  } catch (const detail::hdf5_heap_error& damage) {
    fail(damage.value(), damage);
  } catch (const detail::hdf5_metadata_error& damage) {
    fail({}, damage);
  }
  file.require_unchanged();
  return places;
}

}  // namespace

ragged_dataset_ptr open_hdf5_ragged(const std::string& file, const hdf5_field& field,
                                    const hdf5_options& options) {
  detail::require_known(options);
  detail::hdf5_resolved_field rows;
  auto found = find_values(file, field, options, rows);
  if (found.file) found.held.places = find_places(rows, found.element_bytes);
  if (const auto& why = rows.storage.refusal; !why.empty())
    detail::log()->warn(
        "{}: the values of '{}' were read into memory by the HDF5 library, one thread at a time: "
        "{}",
        detail::printable(file), detail::printable(rows.name), detail::printable(why));
  return std::make_shared<const hdf5_ragged>(std::move(found));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
