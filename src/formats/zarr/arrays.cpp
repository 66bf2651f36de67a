#ifdef FEEDLINE_HAS_JSON

#include <feedline/arrays/array_views.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/zarr.hpp>

#include "arrays/chunked_array.hpp"
#include "arrays/coordinates.hpp"
#include "arrays/namesakes.hpp"
#include "formats/zarr/blocks.hpp"
#include "formats/zarr/encoded_rows.hpp"
#include "formats/zarr/hierarchy.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Chunks of an array, each by itself.
class zarr_chunk_source final : public chunk_source {
 public:
  explicit zarr_chunk_source(std::shared_ptr<const zarr_chunks> chunks)
      : chunks_{chunks}, blocks_{std::move(chunks), true} {}

  bool is_written(std::uint64_t chunk) const noexcept override {
    return chunks_->is_written(chunk);
  }
  void read(std::uint64_t chunk, std::span<std::byte> out) const override try {
    blocks_.read(chunk, out);
  } catch (const dataset_error& failure) {
    dataset_location where = failure.where();
    where.sample.reset();  // there are no samples yet
    throw dataset_error{std::move(where), failure.message()};
  }
  std::shared_ptr<const encoded_rows> encoded() const override {
    return make_zarr_encoded_rows(chunks_, true);
  }
  bool is_cold() const noexcept override { return blocks_.is_cold(); }
  void prefetch(std::uint64_t chunk) const noexcept override { blocks_.prefetch(chunk); }
  void require_unchanged() const override {
    if (const byte_file_ptr file = chunks_->store().file()) file->require_unchanged();
  }

 private:
  const std::shared_ptr<const zarr_chunks> chunks_;
  const zarr_blocks blocks_;
};

struct found_array {
  array_spec spec;
  std::vector<std::byte> fill;  ///< one number
  std::shared_ptr<const zarr_chunks> chunks;

  [[nodiscard]] double weight() const {
    double elements = 1;
    for (const std::uint64_t extent : spec.shape) elements *= static_cast<double>(extent);
    return elements * static_cast<double>(size_bytes(spec.type));
  }
};

/// The values of an array of one dimension.
std::vector<double> read_coordinates(const std::string& store, const std::string& path) {
  const array_ptr values = unpack(open_zarr_array(store, path), {.type = element_type::f64});
  std::vector<double> read(values->spec().shape.front());
  values->read_all(std::as_writable_bytes(std::span{read}));
  return read;
}

/// Coordinates of arrays that are opened together, by their paths. Null: there are none.
using known_coordinates = std::map<std::string, std::shared_ptr<const axis_coordinates>>;

/// The coordinates of a dimension are the array of its name in the same group, as for xarray.
std::shared_ptr<const axis_coordinates> find_coordinates(const zarr_store& store,
                                                         const std::string& path,
                                                         std::uint64_t extent) try {
  if (!store.text(path + "/zarr.json") && !store.text(path + "/.zarray")) return nullptr;
  const zarr_array found = load_zarr_array(store, path);
  if (found.shape != std::vector{extent} || found.type.is_complex ||
      found.type.type == element_type::boolean)
    return nullptr;
  return std::make_shared<const axis_coordinates>(
      std::make_shared<const stored_coordinates>(
          store.name() + ": " + path, found.units,
          [name = store.name(), path] { return read_coordinates(name, path); }),
      extent);
} catch (const dataset_error&) {
  return nullptr;  // an array that cannot be read, of which opening it tells
}

/// Stores at remote addresses are not asked, because each array needs several requests.
void add_coordinates(const zarr_store& store, const zarr_array& array, known_coordinates& known,
                     array_spec& spec) {
  if (store.name().find("://") != std::string::npos) return;
  const std::string group = array.path.substr(0, array.path.find_last_of('/') + 1);
  for (std::size_t d = 0; d < spec.dimensions.size(); ++d) {
    const std::string& name = spec.dimensions[d];
    if (name.empty() || name.find('/') != std::string::npos || name.front() == '.') continue;
    const auto [found, is_new] = known.try_emplace(group + name);
    if (is_new) found->second = find_coordinates(store, group + name, array.shape[d]);
    if (!found->second) continue;
    spec.coordinates.resize(spec.shape.size());
    spec.coordinates[d] = found->second;
  }
}

found_array find_box_array(const zarr_store_ptr& store, known_coordinates& known,
                           const std::string& path) {
  zarr_array array = load_zarr_array(*store, path);
  const auto refuse = [&](const std::string& why) {
    throw dataset_error{{.path = store->name(), .field = array.path}, why};
  };
  if (array.shape.empty()) refuse("is a single value, and no array");
  if (std::ranges::count(array.shape, 0U) != 0) refuse("has no values");
  if (const std::string why = array.codecs.refusal(); !why.empty()) refuse(why);
  found_array found;
  found.spec = {.name = default_zarr_name(store->name(), array.path),
                .path = store->name(),
                .type = array.type.type,
                .shape = array.shape,
                .dimensions = without_namesakes(array.dimension_names),
                .chunk = array.chunk,
                .packing = array.packing};
  add_coordinates(*store, array, known, found.spec);
  found.fill = array.fill;
  if (array.type.is_complex) {
    found.spec.shape.push_back(2);
    found.spec.chunk.push_back(2);
    if (!found.spec.dimensions.empty()) found.spec.dimensions.emplace_back();
    if (!found.spec.coordinates.empty()) found.spec.coordinates.emplace_back();
    const auto half = static_cast<std::ptrdiff_t>(found.fill.size() / 2);
    if (!std::equal(found.fill.begin(), found.fill.begin() + half, found.fill.begin() + half))
      refuse("has a fill value with two different parts; open it by open_zarr");
    found.fill.resize(found.fill.size() / 2);
  }
  found.chunks = std::make_shared<const zarr_chunks>(store, std::move(array));
  return found;
}

}  // namespace
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

std::vector<array_ptr> open_zarr_arrays(const std::string& store,
                                        const std::vector<std::string>& arrays,
                                        const zarr_options& options) {
  if (arrays.empty()) throw usage_error{"open_zarr_arrays: there is no array to open"};
  const auto opened = detail::open_zarr_store(store);
  std::vector<detail::found_array> found;
  detail::known_coordinates known;
  double all = 0;
  for (const std::string& path : arrays) {
    found.push_back(detail::find_box_array(opened, known, path));
    all += found.back().weight();
  }
  const std::size_t cache_bytes = options.max_host_cache_bytes != 0
                                      ? options.max_host_cache_bytes
                                      : detail::machine_memory_bytes() / 4;
  std::vector<array_ptr> made;
  for (detail::found_array& each : found) {
    const double share = each.weight() / all;
    made.push_back(detail::make_chunked_array(
        std::move(each.spec), std::make_unique<const detail::zarr_chunk_source>(each.chunks),
        std::move(each.fill), static_cast<std::size_t>(static_cast<double>(cache_bytes) * share)));
  }
  return made;
}

array_ptr open_zarr_array(const std::string& store, const std::string& array,
                          const zarr_options& options) {
  return open_zarr_arrays(store, {array}, options).front();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

#endif
