#include <feedline/arrays/array_views.hpp>
#include <feedline/hdf5/arrays.hpp>

#include "arrays/chunked_array.hpp"
#include "arrays/constant_array.hpp"
#include "arrays/coordinates.hpp"
#include "arrays/file_array.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "hdf5/attributes/array_attributes.hpp"
#include "hdf5/attributes/dimensions.hpp"
#include "hdf5/library/conventions.hpp"
#include "hdf5/library/storage.hpp"
#include "hdf5/rows/blocks.hpp"
#include "hdf5/rows/encoded_rows.hpp"
#include "hdf5/rows/found_array.hpp"
#include "hdf5/rows/library_array.hpp"
#include "hdf5/rows/open_rows.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

using layout = hdf5_storage_layout::layout;

/// Chunks of a dataset, each by itself.
class hdf5_chunk_source final : public chunk_source {
 public:
  explicit hdf5_chunk_source(const hdf5_resolved_field& found)
      : file_{found.file},
        chunks_{found.chunks},
        blocks_{found.file, found.name, found.storage, found.chunks, true},
        encoded_{make_hdf5_encoded_rows(found, true)} {}

  bool is_written(std::uint64_t chunk) const noexcept override {
    return (*chunks_)[chunk].is_written();
  }
  void read(std::uint64_t chunk, std::span<std::byte> out) const override try {
    static_cast<const decoded_blocks&>(blocks_).read(chunk, out);
  } catch (const hdf5_error& failure) {
    dataset_location where = failure.where();
    where.sample.reset();  // there are no samples yet
    throw hdf5_error{std::move(where), failure.message()};
  }
  std::shared_ptr<const encoded_rows> encoded() const override { return encoded_; }
  bool is_cold() const noexcept override { return file_->is_cold(); }
  void prefetch(std::uint64_t chunk) const noexcept override { blocks_.prefetch(chunk); }
  void require_unchanged() const override { file_->require_unchanged(); }

 private:
  const byte_file_ptr file_;
  const std::shared_ptr<const hdf5_chunk_map> chunks_;
  const hdf5_chunk_blocks blocks_;
  const std::shared_ptr<const encoded_rows> encoded_;
};

/// The fill value as one number; nothing if an element's numbers have different ones.
std::optional<std::vector<std::byte>> fill_of(const hdf5_resolved_field& field) {
  const std::size_t bytes = size_bytes(field.spec.type);
  const std::vector<std::byte>& fill = field.storage.fill;
  std::vector<std::byte> one(bytes, std::byte{0});
  if (fill.size() >= bytes) std::copy_n(fill.begin(), bytes, one.begin());
  for (std::size_t i = 0; i < fill.size(); ++i)
    if (fill[i] != one[i % bytes]) return std::nullopt;
  return one;
}

file_array_place place_of(const hdf5_resolved_field& field, const array_spec& spec) {
  const hdf5_storage_layout& storage = field.storage;
  const std::size_t bytes = size_bytes(spec.type);
  file_array_place place{.offset = storage.offset,
                         .strides = std::vector<std::ptrdiff_t>(spec.shape.size()),
                         .is_swapped = storage.swapped_bytes > 1};
  // The last dimensions are those of an element; elements are `stored_bytes` apart.
  std::size_t stride = bytes;
  std::size_t d = spec.shape.size();
  for (std::size_t inner = 1; d > 0 && inner * bytes < storage.element_bytes; --d) {
    place.strides[d - 1] = static_cast<std::ptrdiff_t>(stride);
    inner *= spec.shape[d - 1];
    stride *= spec.shape[d - 1];
  }
  stride = storage.stored_bytes;
  for (; d > 0; --d) {
    place.strides[d - 1] = static_cast<std::ptrdiff_t>(stride);
    stride *= spec.shape[d - 1];
  }
  return place;
}

double weight_of(const hdf5_found_array& found) {
  return found.is_chunked()
             ? static_cast<double>(found.field.samples) * static_cast<double>(found.field.row_bytes)
             : 0;
}

/// The values of a scale in a file, which is opened again for them.
std::vector<double> read_scale(const std::string& file, const std::string& path) {
  const array_ptr values = unpack(open_hdf5_array(file, path), {.type = element_type::f64});
  std::vector<double> read(values->spec().shape.front());
  values->read_all(std::as_writable_bytes(std::span{read}));
  return read;
}

/// Coordinates of arrays that are opened together, by their scales' files and paths.
using known_coordinates =
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const axis_coordinates>>;

/// Files at remote addresses are not opened again, because each needs several requests.
void add_coordinates(const hdf5_session& hdf5, hid_t dataset, const hdf5_dimensions& dimensions,
                     known_coordinates& known, array_spec& spec) {
  const std::string file = path_of_file(hdf5, dataset).string();
  if (file.find("://") != std::string::npos) return;
  for (std::size_t d = 0; d < dimensions.scales.size(); ++d) {
    const hdf5_scale& scale = dimensions.scales[d];
    if (scale.path.empty()) continue;
    auto& found = known[{file, scale.path}];
    if (!found)
      found = std::make_shared<const axis_coordinates>(
          std::make_shared<const stored_coordinates>(
              file + ": " + scale.path, scale.units,
              [file, path = scale.path] { return read_scale(file, path); }),
          spec.shape[d]);
    spec.coordinates.resize(spec.shape.size());
    spec.coordinates[d] = found;
  }
}

/// Adds what attributes say: names of dimensions, coordinates and packing.
void describe_array(const hdf5_session& hdf5, const hdf5_file& file, hdf5_dimension_finder& finder,
                    known_coordinates& known, const std::string& path, array_spec& spec) {
  std::string member;
  const hdf5_dataset_id dataset = file.open_dataset(hdf5, path, &member);
  if (is_netcdf_dimension(hdf5, dataset.get())) throw file.error(path, netcdf_dimension_refusal);
  hdf5_dimensions dimensions = finder.find(dataset.get());
  if (!dimensions.fault.empty())
    log()->warn("{}: array '{}' lacks names of dimensions that attributes should give: {}",
                printable(file.path()), printable(path), printable(dimensions.fault));
  add_coordinates(hdf5, dataset.get(), dimensions, known, spec);
  spec.dimensions = std::move(dimensions.names);
  if (!spec.dimensions.empty()) spec.dimensions.resize(spec.shape.size());
  if (member.empty()) spec.packing = packing_attributes(hdf5, dataset.get());
}

}  // namespace

hdf5_found_array find_hdf5_array(const hdf5_session& hdf5, const hdf5_file& file,
                                 hdf5_open_context& common, const std::string& path) {
  hdf5_found_array found{find_field(hdf5, file, common, {.dataset = path}), {}};
  const hdf5_resolved_field& field = found.field;
  found.spec = {.name = field.spec.name,
                .path = file.path(),
                .type = field.spec.type,
                .shape = field.spec.shape};
  if (!field.is_single) found.spec.shape.insert(found.spec.shape.begin(), field.samples);
  if (field.column || field.storage.stored != layout::chunked) return found;
  found.spec.chunk = field.storage.chunk;
  found.spec.chunk.insert(
      found.spec.chunk.end(),
      found.spec.shape.begin() + static_cast<std::ptrdiff_t>(field.storage.chunk.size()),
      found.spec.shape.end());
  return found;
}

array_ptr open_hdf5_found(hdf5_found_array& found, std::size_t cache_bytes) {
  hdf5_resolved_field& field = found.field;
  const hdf5_storage_layout& storage = field.storage;
  if (field.column) return make_library_array(found.spec, std::move(field.column));
  const auto fill = fill_of(field);
  if (!fill && storage.stored != layout::contiguous)
    throw hdf5_error{{.path = found.spec.path, .field = field.name},
                     "the numbers of an element have different fill values; open it by open_hdf5"};
  if (storage.stored == layout::unwritten) return make_constant_array(found.spec, *fill);
  if (storage.stored == layout::contiguous)
    return make_file_array(found.spec, field.file, place_of(field, found.spec));
  return make_chunked_array(found.spec, std::make_unique<const hdf5_chunk_source>(field), *fill,
                            cache_bytes);
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

std::vector<array_ptr> open_hdf5_arrays(const std::string& file,
                                        const std::vector<std::string>& datasets,
                                        const hdf5_options& options) {
  detail::require_known(options);
  if (datasets.empty()) throw usage_error{"open_hdf5_arrays: there is no dataset to open"};
  std::vector<detail::hdf5_found_array> found;
  {
    const detail::hdf5_session hdf5;
    const detail::hdf5_file opened{hdf5, file, options.external};
    detail::hdf5_open_context common{.conventions = value_conventions::ignore};
    detail::hdf5_dimension_finder finder{hdf5};
    detail::known_coordinates known;
    for (const std::string& path : datasets) {
      found.push_back(detail::find_hdf5_array(hdf5, opened, common, path));
      if (found.back().field.samples == 0)
        throw opened.error(path, "holds no values: its first dimension is 0");
      detail::describe_array(hdf5, opened, finder, known, path, found.back().spec);
    }
    if (opened.driver()) opened.driver()->admit_no_more();
  }
  double all = 0;
  for (const auto& each : found) all += detail::weight_of(each);
  const auto cache_bytes = static_cast<double>(detail::cache_bytes_of(options));
  std::vector<array_ptr> arrays;
  for (auto& each : found) {
    const double share = all == 0 ? 0 : detail::weight_of(each) / all;
    if (each.field.column)
      detail::log()->warn(
          "{}: array '{}' is read through the HDF5 library, one thread at a time: {}",
          detail::printable(each.spec.path), detail::printable(each.field.name),
          detail::printable(each.field.storage.refusal));
    arrays.push_back(detail::open_hdf5_found(each, static_cast<std::size_t>(cache_bytes * share)));
    if (each.field.file) each.field.file->require_unchanged();
  }
  return arrays;
}

array_ptr open_hdf5_array(const std::string& file, const std::string& dataset,
                          const hdf5_options& options) {
  return open_hdf5_arrays(file, {dataset}, options).front();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
