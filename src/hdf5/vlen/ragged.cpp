#include <feedline/error.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "detail/byte_order.hpp"
#include "detail/log.hpp"
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

namespace feedline {
namespace {

/// What is found of a dataset under the library's lock.
struct found_values {
  field element;
  std::size_t element_bytes = 0;
  std::size_t swapped_bytes = 1;
  /// Which say where values are; of no file if values were never written.
  detail::hdf5_resolved_field rows;
  detail::hdf5_vlen_library_reader held = {};  ///< where they do not lie in the file

  [[nodiscard]] bool lie_in_file() const { return rows.file && rows.storage.refusal.empty(); }
};

/// Values that lie in the file, or in memory: those that the library read, or that are all empty.
class hdf5_ragged final : public ragged_dataset {
 public:
  /// @param found All places are within the file, or within the values in memory.
  explicit hdf5_ragged(found_values found)
      : element_{std::move(found.element)},
        element_bytes_{found.element_bytes},
        swapped_bytes_{found.lie_in_file() ? found.swapped_bytes : 1},
        name_{std::move(found.rows.name)},
        places_{std::move(found.held.places)},
        blocks_{std::move(found.held.blocks)},
        file_{found.lie_in_file() ? std::move(found.rows.file) : nullptr} {}

  std::uint64_t size() const override { return places_.lengths.size(); }
  field element() const override { return element_; }
  std::uint64_t length(sample_index sample) const override {
    return places_.lengths[static_cast<std::size_t>(sample.value)];
  }

  void read(std::span<const element_run> runs) const override {
    const auto mapped = file_ ? file_->mapped() : std::span<const std::byte>{};
    for (const element_run& run : runs) {
      detail::require_elements(*this, run, element_bytes_, element_.name);
      if (run.out.empty()) continue;
      const std::uint64_t offset = offset_of(run.sample) + run.first * element_bytes_;
      if (file_ && mapped.empty()) {
        read_by_call(run, offset);
      } else {
        const std::byte* const from = file_ ? mapped.data() : block_of(run.sample);
        std::memcpy(run.out.data(), from + offset, run.out.size());
      }
      detail::reverse_elements(run.out, swapped_bytes_);
    }
    if (file_) file_->require_unchanged();
  }

  bool wants_prefetch() const noexcept override { return file_ && file_->is_cold(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    if (!file_) return;
    detail::hint_ranges(*file_, samples, [&](sample_index sample) -> detail::file_range {
      if (sample.value >= size()) return {};
      const std::uint64_t begin = offset_of(sample);
      return {begin, begin + std::min(length(sample) * element_bytes_, max_hinted_bytes)};
    });
  }

 private:
  /// No hint reaches further into a sample, of which perhaps only the beginning will be read.
  static constexpr std::uint64_t max_hinted_bytes = std::uint64_t{4} << 20;

  [[nodiscard]] std::uint64_t offset_of(sample_index sample) const noexcept {
    return places_.offsets[static_cast<std::size_t>(sample.value)];
  }
  [[nodiscard]] const std::byte* block_of(sample_index sample) const noexcept {
    const auto block = sample.value / detail::hdf5_vlen_library_reader::block_values;
    return blocks_[static_cast<std::size_t>(block)].data();
  }

  void read_by_call(const element_run& run, std::uint64_t offset) const {
    try {
      file_->read(offset, run.out);
    } catch (const dataset_error& failure) {
      dataset_location where = failure.where();
      where.field = name_;
      where.sample = run.sample.value;
      throw hdf5_error{std::move(where), failure.message()};
    }
  }

  field element_;
  std::size_t element_bytes_;
  std::size_t swapped_bytes_;
  std::string name_;
  detail::hdf5_value_places places_;
  std::vector<std::vector<std::byte>> blocks_;
  detail::random_file_ptr file_;  ///< null: values lie in memory
};

/// Places are a claim of the file until they were read.
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

/// Under the lock; nothing of the library's is left open.
found_values find_values(const std::filesystem::path& path, const hdf5_field& chosen,
                         std::size_t max_bytes) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto column = detail::open_sequences(hdf5, file, chosen);
  require_memory_for_places(file, column, max_bytes);
  found_values found{.element = column.element,
                     .element_bytes = column.element_bytes,
                     .swapped_bytes = column.values.element.swapped_bytes,
                     .rows = detail::find_rows(hdf5, file, column)};
  if (const auto& why = found.rows.storage.refusal; !why.empty()) {
    found.held = detail::read_whole(hdf5, file, column, max_bytes, why);
  } else if (!found.rows.file) {  // never written
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

/// Without the lock.
detail::hdf5_value_places find_places(found_values& found) {
  const detail::random_file& file = *found.rows.file;
  const auto fail = [&](std::optional<std::uint64_t> sample, const std::exception& damage) {
    file.require_unchanged();  // which would be the better reason
    throw hdf5_error{{.path = file.path(), .field = found.rows.name, .sample = sample},
                     std::string{"cannot be read: "} + damage.what() +
                         "; the file is cut short or damaged: copy it anew"};
  };
  detail::hdf5_value_places places;
  try {
    detail::hdf5_metadata metadata{file};
    detail::hdf5_heap_search search{metadata, found.element_bytes};
    add_rows(found.rows, search);
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
  auto found = find_values(file, field, detail::cache_bytes_of(options));
  if (found.lie_in_file()) found.held.places = find_places(found);
  if (const auto& why = found.rows.storage.refusal; !why.empty())
    detail::log()->warn(
        "{}: the values of '{}' were read into memory by the HDF5 library, one thread at a time: "
        "{}",
        file, found.rows.name, why);
  return std::make_shared<const hdf5_ragged>(std::move(found));
}

}  // namespace feedline
