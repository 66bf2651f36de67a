#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/metadata.hpp"

#include "detail/arithmetic.hpp"
#include "formats/zarr/attributes.hpp"
#include "formats/zarr/codec_config.hpp"
#include "formats/zarr/data_type.hpp"

#include <limits>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t max_chunk_bytes = std::numeric_limits<std::uint32_t>::max();

/// A codec of version 2: an object with its name as "id".
void add_codec(const zarr_json& value, const char* what, const zarr_array& array,
               const zarr_members& from, std::vector<zarr_codec>& codecs) {
  const zarr_members outer{value, from.where(), std::string{"the "} + what};
  const std::string name = outer.text("id");
  const zarr_members config{value, from.where(), std::string{"the "} + what + " '" + name + '\''};
  if (auto codec = parse_codec(name, config, array.type.bytes())) codecs.push_back(*codec);
}

}  // namespace

std::size_t zarr_array::chunk_bytes() const noexcept {
  std::size_t bytes = type.bytes();
  for (const std::uint64_t extent : chunk) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

field zarr_array::to_field(std::string name) const {
  field made{.name = std::move(name), .type = type.type, .shape = {shape.begin() + 1, shape.end()}};
  if (type.is_complex) made.shape.push_back(2);
  return made;
}

void finish_array(zarr_array& array, bool is_big_endian, const zarr_members& from) {
  const std::size_t part = size_bytes(array.type.type);
  array.swapped_bytes = is_big_endian ? part : 1;
  if (array.chunk.size() != array.shape.size())
    from.refuse("has chunks of " + std::to_string(array.chunk.size()) +
                " dimensions, and a shape of " + std::to_string(array.shape.size()));
  std::uint64_t bytes = array.type.bytes();
  for (const std::uint64_t extent : array.chunk)
    bytes = checked_multiply(bytes, extent).value_or(std::numeric_limits<std::uint64_t>::max());
  if (bytes > max_chunk_bytes)
    from.refuse("has chunks of 4 GiB or more; write it again with smaller ones");
  bytes = array.type.bytes();
  for (std::size_t i = 1; i < array.shape.size(); ++i)
    bytes =
        checked_multiply(bytes, array.shape[i]).value_or(std::numeric_limits<std::uint64_t>::max());
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    from.refuse("has rows whose bytes cannot be counted in 63 bits; the metadata are damaged");
  if (array.codecs.list().size() > max_codecs)
    from.refuse("has " + std::to_string(array.codecs.list().size()) + " codecs, and " +
                std::to_string(max_codecs) + " are the most");
}

std::vector<std::string> dimension_names(const zarr_json* list, std::size_t rank) {
  std::vector<std::string> names;
  if (list == nullptr || !list->is_array() || list->size() != rank) return names;
  for (const zarr_json& each : *list)
    names.push_back(each.is_string() ? each.get<std::string>() : std::string{});
  return names;
}

zarr_array parse_v2_array(const zarr_json& document, const zarr_json* attributes, std::string path,
                          const file_field& where) {
  const zarr_members from{document, where, "the array's metadata"};
  if (from.whole("zarr_format") != 2) from.refuse_member("zarr_format", "2");
  zarr_array array;
  array.path = std::move(path);
  array.shape = from.wholes("shape");
  array.chunk = from.extents("chunks");
  const zarr_stored_type stored = parse_v2_type(from.at("dtype"), from);
  array.type = stored.type;
  const zarr_json none;
  const zarr_json* const fill = from.find("fill_value");
  array.fill = parse_fill(fill == nullptr ? none : *fill, array.type, from);
  const std::string order = from.find("order") == nullptr ? "C" : from.text("order");
  if (order != "C" && order != "F") from.refuse_member("order", "\"C\" or \"F\"");
  if (order == "F")
    for (std::size_t i = array.shape.size(); i-- > 0;) array.order.push_back(i);
  const std::string separator =
      from.find("dimension_separator") == nullptr ? "." : from.text("dimension_separator");
  if (separator != "." && separator != "/")
    from.refuse_member("dimension_separator", "\".\" or \"/\"");
  array.keys = {.separator = separator.front(), .has_prefix = false};
  std::vector<zarr_codec> codecs;
  if (const zarr_json* const filters = from.find("filters");
      filters != nullptr && !filters->is_null()) {
    if (!filters->is_array()) from.refuse_member("filters", "a list of objects, or null");
    for (const zarr_json& each : *filters) add_codec(each, "filter", array, from, codecs);
  }
  if (const zarr_json* const compressor = from.find("compressor");
      compressor != nullptr && !compressor->is_null())
    add_codec(*compressor, "compressor", array, from, codecs);
  array.codecs = zarr_codecs{std::move(codecs)};
  if (attributes != nullptr && attributes->is_object()) {
    const auto names = attributes->find("_ARRAY_DIMENSIONS");
    array.dimension_names =
        dimension_names(names == attributes->end() ? nullptr : &*names, array.shape.size());
  }
  finish_array(array, stored.is_big_endian, from);
  array.packing = packing_attributes(attributes, array, fill != nullptr && !fill->is_null());
  array.units = units_attribute(attributes);
  return array;
}

}  // namespace feedline::detail

#endif
