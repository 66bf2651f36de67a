#include "formats/zarr/chunks.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/threads.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace feedline::detail {
namespace {

/// Any store may have this many chunks, if it has only a few of them; so many take 96 MiB of
/// memory. One more chunk must be backed by a stored byte.
constexpr std::uint64_t max_sparse_chunks = std::uint64_t{1} << 22;
/// Limit of the cache of chunks.
constexpr std::uint64_t max_chunks = 0xffff'fff0;

}  // namespace

zarr_chunks::zarr_chunks(zarr_store_ptr store, zarr_array array)
    : store_{std::move(store)}, array_{std::move(array)} {
  for (std::size_t i = 0; i < array_.shape.size(); ++i)
    grid_.push_back(divide_up(array_.shape[i], array_.chunk[i]));
  count_ = elements_of_grid(grid_);
  if (count_ > max_chunks)
    throw dataset_error{{.path = store_->name(), .field = array_.path},
                        "has " + std::to_string(count_) + " chunks or more, and " +
                            std::to_string(max_chunks) +
                            " are the most; write it again with larger ones"};
  if (!store_->can_list() && !array_.shards) {
    require_backed({});
    return;
  }
  const auto found = objects_.find();
  require_backed(found);
  places_.resize(static_cast<std::size_t>(count_));
  if (array_.shards)
    place_shards(found);
  else
    for (const auto& [number, bytes] : found)
      places_[static_cast<std::size_t>(number)] = {0, bytes, 0};
}

/// A tiny store may claim any number of chunks, and a list of them would take that much memory.
void zarr_chunks::require_backed(const zarr_objects::numbers& found) const {
  std::uint64_t bytes = max_sparse_chunks;
  for (const auto& each : found)
    if (__builtin_add_overflow(bytes, each.second, &bytes))
      bytes = std::numeric_limits<std::uint64_t>::max();
  if (count_ > bytes)
    throw dataset_error{{.path = store_->name(), .field = array_.path},
                        "claims " + std::to_string(count_) + " chunks, but only " +
                            std::to_string(bytes - max_sparse_chunks) +
                            " bytes are stored; write it with larger chunks, or without the rows "
                            "that were never written"};
}

std::string zarr_chunks::key_of(std::uint64_t chunk) const {
  auto at = grid_coordinates(chunk, grid_);
  if (array_.shards)
    for (std::size_t i = 0; i < at.size(); ++i) at[i] /= array_.shards->shape[i] / array_.chunk[i];
  return objects_.key_at(at);
}

std::string zarr_chunks::describe(std::uint64_t chunk) const {
  std::string text = "chunk (";
  const auto at = grid_coordinates(chunk, grid_);
  for (std::size_t i = 0; i < at.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(at[i]);
  text += ')';
  if (are_known() && is_written(chunk)) {
    text += " of " + std::to_string(places_[chunk].bytes) + " bytes";
    if (array_.shards) text += " at byte " + std::to_string(places_[chunk].begin) + " of its shard";
  }
  return text;
}

void zarr_chunks::place_shards(const zarr_objects::numbers& found) {
  std::vector<std::uint64_t> in_shard;
  for (std::size_t i = 0; i < grid_.size(); ++i)
    in_shard.push_back(array_.shards->shape[i] / array_.chunk[i]);
  shards_.resize(found.size());
  // Each index is one or two reads. Distinct shards have distinct chunks.
  parallel_for(
      found.size(), [&](std::size_t i) { read_index(found, i, in_shard); }, 32);
}

void zarr_chunks::read_index(const zarr_objects::numbers& found, std::size_t place,
                             std::span<const std::uint64_t> in_shard) {
  const auto at = grid_coordinates(found[place].first, objects_.grid());
  const std::string key = objects_.key_at(at);
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = store_->path_of(key), .field = array_.path}, why};
  };
  const auto object = store_->open(key);
  if (!object) throw refusal("was deleted since it was listed; open the array again");
  shards_[place] = *object;
  const std::uint64_t chunks = elements_of_grid(in_shard);
  const std::uint64_t sum_bytes = array_.shards->index_has_crc32c ? 4 : 0;
  if (chunks > (object->bytes - std::min(object->bytes, sum_bytes)) / 16)
    throw refusal("the shard has " + std::to_string(object->bytes) +
                  " bytes, too few for its index of " + std::to_string(chunks) +
                  " chunks; it is cut short: copy it or write the array again");
  const std::uint64_t index_bytes = chunks * 16 + sum_bytes;
  const std::uint64_t index_begin = array_.shards->index_at_end ? object->bytes - index_bytes : 0;
  std::vector<std::byte> index(static_cast<std::size_t>(index_bytes));
  object->file->read(object->begin + index_begin, index);
  std::vector<zarr_chunk> inner;
  try {
    inner = parse_shard_index(index, *array_.shards, chunks, object->bytes, index_begin);
  } catch (const dataset_error& failure) {
    throw refusal(failure.message());
  }
  for (std::uint64_t i = 0; i < chunks; ++i) {
    if (inner[i].object == zarr_chunk::none) continue;
    const auto inside = grid_coordinates(i, in_shard);
    std::uint64_t number = 0;
    bool is_inside = true;  // the last shard may extend past the array
    for (std::size_t axis = 0; axis < grid_.size(); ++axis) {
      const std::uint64_t along = at[axis] * in_shard[axis] + inside[axis];
      is_inside = is_inside && along < grid_[axis];
      number = number * grid_[axis] + along;
    }
    if (!is_inside) continue;
    inner[i].object = static_cast<std::uint32_t>(place);
    inner[i].begin += object->begin;
    places_[static_cast<std::size_t>(number)] = inner[i];
  }
}

std::span<const std::byte> zarr_chunks::read(std::uint64_t chunk,
                                             std::vector<std::byte>& into) const {
  if (array_.shards) {
    const zarr_chunk& place = places_[static_cast<std::size_t>(chunk)];
    const byte_file& file = *shards_[place.object].file;
    const auto bytes = static_cast<std::size_t>(place.bytes);
    if (const auto mapped = file.mapped(); !mapped.empty())
      return mapped.subspan(static_cast<std::size_t>(place.begin), bytes);
    into.resize(bytes);
    file.read(place.begin, into);
    return into;
  }
  const bool is_there = read_object(chunk, [&](std::size_t bytes) {
    into.resize(bytes);
    return std::span{into};
  });
  if (!is_there) return {};
  return into;
}

void zarr_chunks::read(std::uint64_t chunk, std::span<std::byte> out) const {
  if (!array_.shards) {
    (void)read_object(chunk, [&](std::size_t /*bytes*/) { return out; });
    return;
  }
  const zarr_chunk& place = places_[static_cast<std::size_t>(chunk)];
  const byte_file& file = *shards_[place.object].file;
  const auto mapped = file.mapped();
  if (mapped.empty()) return file.read(place.begin, out);
  std::memcpy(out.data(), mapped.data() + place.begin, out.size());
}

/// Reads a chunk that is an object of its own. @param memory For all bytes that are known.
/// @return False if it is not there, and was not known to be.
bool zarr_chunks::read_object(std::uint64_t chunk, const file_system::room& memory) const {
  const std::string key = key_of(chunk);
  const dataset_location where{.path = store_->path_of(key), .field = array_.path};
  const auto refusal = [&](const std::string& why) {
    return dataset_error{where, why + " since the array was opened; open it again"};
  };
  const std::uint64_t most = array_.codecs.max_stored_bytes(array_.chunk_bytes());
  const bool is_there = store_->read_whole(key, most, [&](std::size_t bytes) {
    if (are_known() && bytes != stored_bytes(chunk)) throw refusal("was written again");
    if (bytes == 0) throw dataset_error{where, "is empty; copy it or write the array again"};
    return memory(bytes);
  });
  if (!is_there && are_known()) throw refusal("was deleted");
  return is_there;
}

void zarr_chunks::require_unchanged(std::uint64_t chunk) const {
  if (array_.shards && is_written(chunk))
    shards_[places_[static_cast<std::size_t>(chunk)].object].file->require_unchanged();
}

void zarr_chunks::will_need(std::uint64_t chunk) const noexcept try {
  if (!is_written(chunk)) return;
  // Codecs add some bytes to values that they cannot compress.
  if (!array_.shards)
    return store_->will_need(key_of(chunk),
                             are_known() ? stored_bytes(chunk) : array_.chunk_bytes() + 1024);
  const zarr_chunk& place = places_[static_cast<std::size_t>(chunk)];
  shards_[place.object].file->will_need(place.begin, place.bytes);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

bool zarr_chunks::is_cold() const noexcept {
  if (!array_.shards) return store_->is_cold();
  return !shards_.empty() && shards_.front().file->is_cold();
}

}  // namespace feedline::detail
