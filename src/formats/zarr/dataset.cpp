#ifdef FEEDLINE_HAS_JSON

#include <feedline/error.hpp>
#include <feedline/formats/zarr.hpp>

#include "dataset/memory/resident_fields.hpp"
#include "dataset/rows_dataset.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "formats/zarr/blocks.hpp"
#include "formats/zarr/encoded_rows.hpp"
#include "formats/zarr/hierarchy.hpp"
#include "formats/zarr/open_fields.hpp"
#include "rows/decoded/cached_rows.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

using detail::zarr_array;
using detail::zarr_blocks;
using chunks_ptr = std::shared_ptr<const detail::zarr_chunks>;

/// An array that was found, and the field that it becomes.
struct found_array {
  field spec;
  chunks_ptr chunks;
  std::size_t row_bytes;
};

void require_samples(const std::string& store, const zarr_array& array) {
  const auto refuse = [&](const std::string& why) {
    throw dataset_error{{.path = store, .field = array.path}, why};
  };
  if (array.shape.empty()) refuse("is a single value, which has no samples");
  if (array.shape.front() == 0) refuse("has no samples");
  if (std::ranges::count(array.shape, 0U) != 0) refuse("has samples without values");
  if (const std::string why = array.codecs.refusal(); !why.empty()) refuse(why);
}

found_array find_array(const detail::zarr_store_ptr& store, detail::zarr_chosen_field& with) {
  const zarr_field& chosen = with.field;
  zarr_array array =
      with.array ? std::move(*with.array) : detail::load_zarr_array(*store, chosen.array);
  require_samples(store->name(), array);
  found_array found;
  found.spec = array.to_field(
      chosen.name.empty() ? detail::default_zarr_name(store->name(), array.path) : chosen.name);
  found.row_bytes = sample_bytes(found.spec);
  // A tiny store may claim rows of any size; one larger than the machine's memory could never be
  // read.
  if (found.row_bytes > detail::machine_memory_bytes())
    throw dataset_error{{.path = store->name(), .field = array.path},
                        "a sample (" + to_string(found.spec) + ") takes " +
                            std::to_string(found.row_bytes) + " bytes, more than the " +
                            std::to_string(detail::machine_memory_bytes()) +
                            " of this machine's memory"};
  if (array.type.is_date)
    detail::log()->info("{}: '{}' holds dates or durations: counts in i64",
                        detail::printable(store->name()), detail::printable(array.path));
  if (array.packing.changes_values())
    detail::log()->warn(
        "{}: '{}' holds packed numbers (attributes scale_factor, add_offset or _Unsigned), which "
        "are read as they are stored; open it by open_zarr_array, unpack it, and make samples by "
        "make_windows",
        detail::printable(store->name()), detail::printable(array.path));
  found.chunks = std::make_shared<const detail::zarr_chunks>(store, std::move(array));
  return found;
}

std::unique_ptr<const detail::field_rows> open_rows(const found_array& found,
                                                    std::size_t cache_bytes) {
  const zarr_array& array = found.chunks->array();
  const std::uint64_t rows_per_block = array.chunk.front();
  const detail::row_extent extent{.rows = array.shape.front(),
                                  .row_bytes = found.row_bytes,
                                  .file = found.chunks->store().file()};
  auto blocks = std::make_unique<const zarr_blocks>(found.chunks);
  std::size_t block_bytes = 0;
  if (__builtin_mul_overflow(rows_per_block, found.row_bytes, &block_bytes))
    block_bytes = std::numeric_limits<std::size_t>::max();
  if (blocks->chunks_per_block() > 1 &&
      detail::are_cached_as_tiles(rows_per_block, block_bytes, cache_bytes)) {
    const std::uint64_t max_cached = detail::block_cache::max_blocks_within(
        cache_bytes, found.chunks->size(), blocks->chunk_value_bytes());
    return detail::make_tiled_rows(extent, std::move(blocks),
                                   std::make_unique<const zarr_blocks>(found.chunks, true),
                                   std::max(max_cached, detail::least_cached_blocks));
  }
  auto all = detail::cached_extent(extent, rows_per_block, block_bytes, cache_bytes);
  if (!all) return std::make_unique<const detail::single_rows>(extent, std::move(blocks));
  return std::make_unique<const detail::cached_rows>(std::move(*all), std::move(blocks));
}

dataset_ptr open_chosen(const detail::zarr_store_ptr& opened,
                        std::vector<detail::zarr_chosen_field> fields,
                        const zarr_options& options) {
  std::vector<found_array> found;
  double row_bytes = 0;
  for (detail::zarr_chosen_field& each : fields) {
    found.push_back(find_array(opened, each));
    row_bytes += static_cast<double>(found.back().row_bytes);
    const auto samples = [](const found_array& one) { return one.chunks->array().shape.front(); };
    if (samples(found.back()) != samples(found.front()))
      throw dataset_error{{.path = opened->name(), .field = each.field.array},
                          "holds " + std::to_string(samples(found.back())) + " samples (" +
                              to_string(found.back().spec) + "), but '" +
                              fields.front().field.array + "' holds " +
                              std::to_string(samples(found.front())) +
                              "; the first dimensions of a dataset's fields are equal"};
  }
  const std::size_t cache_bytes = options.max_host_cache_bytes != 0
                                      ? options.max_host_cache_bytes
                                      : detail::machine_memory_bytes() / 4;
  std::vector<detail::rows_field> rows;
  for (const found_array& each : found) {
    // Fields share the cache by the sizes of their rows.
    const double share = static_cast<double>(each.row_bytes) / row_bytes;
    const auto bytes = static_cast<std::size_t>(static_cast<double>(cache_bytes) * share);
    rows.push_back(
        {each.spec, open_rows(each, bytes), detail::make_zarr_encoded_rows(each.chunks)});
  }
  detail::make_resident(rows, options.max_resident_bytes, opened->name());
  if (const auto file = opened->file()) file->require_unchanged();
  return detail::make_rows_dataset("open_zarr", std::move(rows));
}

}  // namespace

dataset_ptr open_zarr(const std::string& store, std::vector<zarr_field> fields,
                      const zarr_options& options) {
  if (fields.empty()) throw usage_error{"open_zarr: there is no field"};
  std::vector<detail::zarr_chosen_field> chosen;
  for (zarr_field& each : fields) chosen.push_back({std::move(each)});
  return detail::open_zarr_fields(detail::open_zarr_store(store), std::move(chosen), options);
}

}  // namespace FEEDLINE_ABI

dataset_ptr detail::open_zarr_fields(const zarr_store_ptr& store,
                                     std::vector<zarr_chosen_field> fields,
                                     const zarr_options& options) {
  return open_chosen(store, std::move(fields), options);
}

}  // namespace feedline

#endif
