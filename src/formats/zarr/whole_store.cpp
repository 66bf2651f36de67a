#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/whole_store.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/zarr/encoded_rows.hpp"
#include "formats/zarr/hierarchy.hpp"
#include "formats/zarr/open_fields.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace feedline::detail {
namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// The field of an array that `open` chooses: arrays with one name have their whole paths.
zarr_field field_of(const zarr_node& wanted, const std::vector<const zarr_node*>& all) {
  const auto namesakes = std::ranges::count_if(
      all, [&](const auto* other) { return last_part(other->path) == last_part(wanted.path); });
  return {wanted.path, namesakes > 1 ? wanted.path : std::string{}};
}

/// Bytes of an array's values; saturated.
std::uint64_t bytes_of(const zarr_array& array) {
  std::uint64_t bytes = array.type.bytes();
  for (const std::uint64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return ~std::uint64_t{0};
  return bytes;
}

/// Whether arrays have the same first dimension: its extent, and its name if both have one.
bool belong_together(const zarr_array& a, const zarr_array& b) {
  const auto name = [](const zarr_array& array) {
    return array.dimension_names.empty() ? std::string{} : array.dimension_names.front();
  };
  return a.shape.front() == b.shape.front() &&
         (name(a).empty() || name(b).empty() || name(a) == name(b));
}

std::string extents_text(const std::vector<std::uint64_t>& extents) {
  std::string text;
  for (const std::uint64_t each : extents)
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  return '[' + text + ']';
}

/// "chunks of [8, 32, 64] in shards of [16, 32, 64], shuffle, zstd".
std::string access_of(const zarr_array& array) {
  std::string text = "chunks of " + extents_text(array.chunk);
  if (array.shards) text += " in shards of " + extents_text(array.shards->shape);
  if (!std::ranges::is_sorted(array.order)) text += ", transposed";
  if (array.swapped_bytes != 1) text += ", of the other byte order";
  return text + (array.codecs.empty() ? "" : ", " + array.codecs.describe());
}

std::string described(const zarr_node& node) {
  const std::string path = node.path.empty() ? "the array" : node.path;
  if (!node.array) return path + " (" + node.left_out + ')';
  const zarr_array& array = *node.array;
  std::string text = path + " (" + std::to_string(array.shape.front()) + " samples";
  if (!array.dimension_names.empty() && !array.dimension_names.front().empty())
    text += " along '" + printable(array.dimension_names.front()) + '\'';
  return text + ')';
}

/// An array that cannot be read might be one of the fields that the caller expects.
void require_readable(const std::string& path, const std::vector<zarr_node>& nodes) {
  std::vector<std::string> readable;
  std::vector<std::string> unreadable;
  std::string reason;
  for (const zarr_node& each : nodes) {
    if (each.array) readable.push_back(each.path);
    if (each.refusal.empty()) continue;
    unreadable.push_back(each.path);
    if (reason.empty()) reason = each.refusal;
  }
  if (unreadable.empty()) return;
  std::string message = reason;
  if (unreadable.size() > 1)
    message += "; neither can be read " + list_names({unreadable.begin() + 1, unreadable.end()});
  if (!readable.empty())
    message +=
        "; to open the store without unreadable arrays, name fields in "
        "open_options::fields, of " +
        list_names(readable);
  throw dataset_error{{.path = path, .field = unreadable.front()}, message};
}

/// The array whose first dimension counts the samples.
const zarr_node& choose_main(const std::string& path, const std::vector<zarr_node>& nodes,
                             const std::string& given) {
  const std::string like = without_slashes(given);
  const zarr_node* main = nullptr;
  for (const zarr_node& each : nodes) {
    if (!each.array || (!like.empty() && each.path != like)) continue;
    if (main == nullptr || bytes_of(*each.array) > bytes_of(*main->array)) main = &each;
  }
  if (main != nullptr) return *main;
  std::vector<std::string> all;
  for (const zarr_node& each : nodes) all.push_back(described(each));
  if (!like.empty())
    throw dataset_error{
        {.path = path, .field = like},
        "open_options::like is not an array that can be a field; there are: " + list_names(all)};
  throw dataset_error{{.path = path, .field = {}},
                      "a Zarr store with no array that can be a field" +
                          (all.empty() ? std::string{} : "; it holds " + list_names(all))};
}

}  // namespace

dataset_ptr open_whole_zarr(const std::string& path, const open_options& options) {
  std::vector<zarr_field> fields;
  for (const std::string& array : options.fields) fields.push_back({array});
  if (!fields.empty()) return open_zarr(path, std::move(fields));
  const zarr_store_ptr store = open_zarr_store(path);
  const std::vector<zarr_node> nodes = find_zarr_arrays(*store);
  require_readable(path, nodes);
  const zarr_node& main = choose_main(path, nodes, options.like);
  std::vector<const zarr_node*> chosen;
  std::vector<std::string> left_out;
  for (const zarr_node& each : nodes)
    if (each.array && belong_together(*each.array, *main.array))
      chosen.push_back(&each);
    else
      left_out.push_back(described(each));
  if (options.like.empty() && !left_out.empty())
    log()->warn("open: {}: left out: {}; name fields in open_options::fields", printable(path),
                list_names(left_out));
  std::vector<zarr_chosen_field> found;
  for (const zarr_node* each : chosen) found.push_back({field_of(*each, chosen), each->array});
  return open_zarr_fields(store, std::move(found), {});
}

std::vector<listed_field> list_whole_zarr(const std::string& path, const open_options&) {
  const zarr_store_ptr store = open_zarr_store(path);
  const std::vector<zarr_node> nodes = find_zarr_arrays(*store);
  std::vector<const zarr_node*> all;
  for (const zarr_node& each : nodes) all.push_back(&each);
  std::vector<listed_field> listed;
  for (const zarr_node& each : nodes) {
    listed_field& field = listed.emplace_back(listed_field{.name = each.path});
    field.refusal = each.refusal;
    field.left_out = each.left_out;
    if (!each.array) continue;
    const std::string name = field_of(each, all).name;
    field.samples = each.array->shape.front();
    field.spec = each.array->to_field(name.empty() ? default_zarr_name(path, each.path) : name);
    field.access = access_of(*each.array);
    field.decoding = decoding_of(*each.array, store->can_list());
    field.dimensions = each.array->dimension_names;
    field.packing = each.array->packing;
  }
  return listed;
}

}  // namespace feedline::detail

#endif
