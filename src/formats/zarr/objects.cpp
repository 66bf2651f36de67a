#include "formats/zarr/objects.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/threads.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace feedline::detail {
namespace {

/// Most objects that are asked for one by one, on servers without lists.
constexpr std::uint64_t max_asked_objects = std::uint64_t{1} << 16;

}  // namespace

std::uint64_t elements_of_grid(std::span<const std::uint64_t> grid) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t count = 1;
  for (const std::uint64_t extent : grid) count = checked_multiply(count, extent).value_or(most);
  return count;
}

std::vector<std::uint64_t> grid_coordinates(std::uint64_t number,
                                            std::span<const std::uint64_t> grid) {
  std::vector<std::uint64_t> at(grid.size());
  for (std::size_t i = grid.size(); i-- > 0; number /= grid[i]) at[i] = number % grid[i];
  return at;
}

zarr_objects::zarr_objects(const zarr_store& store, const zarr_array& array)
    : store_{store}, array_{array} {
  const auto& outer = array_.shards ? array_.shards->shape : array_.chunk;
  for (std::size_t i = 0; i < array_.shape.size(); ++i)
    grid_.push_back(divide_up(array_.shape[i], outer[i]));
}

std::string zarr_objects::key_at(std::span<const std::uint64_t> coordinates) const {
  std::string key = array_.path;
  if (!key.empty()) key += '/';
  if (array_.keys.has_prefix) key += 'c';
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    if (i > 0 || array_.keys.has_prefix) key += array_.keys.separator;
    key += std::to_string(coordinates[i]);
  }
  return key;
}

zarr_objects::numbers zarr_objects::find() const {
  numbers found;
  if (store_.can_list()) {
    std::string folder = array_.path;
    if (array_.keys.has_prefix && array_.keys.separator == '/')
      folder += folder.empty() ? "c" : "/c";
    search(folder, 0, 0, found);
    std::ranges::sort(found);
    return found;
  }
  const std::uint64_t count = elements_of_grid(grid_);
  if (count > max_asked_objects)
    throw dataset_error{{.path = store_.name(), .field = array_.path},
                        "has " + std::to_string(count) +
                            " shards, on a server that has no lists of files, where " +
                            std::to_string(max_asked_objects) +
                            " are the most; copy the store, or write larger shards"};
  found.resize(static_cast<std::size_t>(count));
  parallel_for(
      found.size(),
      [&](std::size_t i) {
        const auto object = store_.open(key_at(grid_coordinates(i, grid_)));
        found[i] = {i, object ? object->bytes : 0};
      },
      32);
  std::erase_if(found, [](const auto& each) { return each.second == 0; });
  return found;
}

/// The number of an object's name along an axis, added to `number`; false if it is no such name.
bool zarr_objects::number_of(const std::string& name, std::size_t axis,
                             std::uint64_t& number) const {
  std::uint64_t value = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), value);
  if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) return false;
  if (name.size() > 1 && name.front() == '0') return false;
  if (value >= grid_[axis]) return false;  // left from before the array was made smaller
  number = number * grid_[axis] + value;
  return true;
}

/// Finds the objects below a folder. Each level of folders is an axis, if "/" separates them.
void zarr_objects::search(const std::string& folder, std::size_t axis, std::uint64_t number,
                          numbers& found) const {
  const std::size_t rank = grid_.size();
  const bool is_nested = array_.keys.separator == '/';
  for (const folder_entry& entry : store_.list(folder)) {
    std::uint64_t at = number;
    if (is_nested) {
      if (!number_of(entry.name, axis, at)) continue;
      if (entry.is_folder && axis + 1 < rank)
        search(folder.empty() ? entry.name : folder + '/' + entry.name, axis + 1, at, found);
      else if (!entry.is_folder && axis + 1 == rank)
        found.emplace_back(at, entry.bytes.value_or(0));
      continue;
    }
    if (entry.is_folder) continue;
    std::string rest = entry.name;
    bool is_chunk = !array_.keys.has_prefix || rest.starts_with("c.");
    if (is_chunk && array_.keys.has_prefix) rest.erase(0, 2);
    for (std::size_t i = 0; is_chunk && i < rank; ++i) {
      const std::size_t end = rest.find('.');
      is_chunk =
          (end == std::string::npos) == (i + 1 == rank) && number_of(rest.substr(0, end), i, at);
      rest.erase(0, end == std::string::npos ? end : end + 1);
    }
    if (is_chunk) found.emplace_back(at, entry.bytes.value_or(0));
  }
}

}  // namespace feedline::detail
