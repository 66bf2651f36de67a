#include "hdf5/format/chunk_map.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t max_chunks = PTRDIFF_MAX / sizeof(hdf5_chunk);

}  // namespace

hdf5_chunk_map::hdf5_chunk_map(std::vector<std::uint64_t> extents,
                               std::vector<std::uint64_t> chunk_extents)
    : extents_{std::move(extents)}, chunk_extents_{std::move(chunk_extents)} {
  if (extents_.empty() || extents_.size() != chunk_extents_.size() ||
      std::ranges::count(extents_, 0U) != 0 || std::ranges::count(chunk_extents_, 0U) != 0)
    throw usage_error{
        "a chunk map needs the extents of a dataset and of its chunks, equally many and none 0"};
  const auto chunks = count(extents_, chunk_extents_);
  if (!chunks) throw usage_error{"a dataset of so many chunks cannot be mapped"};
  for (std::size_t d = 0; d < extents_.size(); ++d)
    grid_.push_back(divide_up(extents_[d], chunk_extents_[d]));
  chunks_.resize(*chunks);
}

void hdf5_chunk_map::first_element(std::uint64_t number,
                                   std::span<std::uint64_t> out) const noexcept {
  for (std::size_t d = grid_.size(); d-- > 0; number /= grid_[d])
    out[d] = number % grid_[d] * chunk_extents_[d];
}

bool hdf5_chunk_map::is_partial(std::uint64_t number) const noexcept {
  for (std::size_t d = grid_.size(); d-- > 0; number /= grid_[d])
    if (number % grid_[d] == grid_[d] - 1 && extents_[d] % chunk_extents_[d] != 0) return true;
  return false;
}

std::optional<std::uint64_t> hdf5_chunk_map::count(std::span<const std::uint64_t> extents,
                                                   std::span<const std::uint64_t> chunk_extents) {
  std::uint64_t chunks = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const auto more = checked_multiply(chunks, divide_up(extents[d], chunk_extents[d]));
    if (!more || *more > max_chunks) return std::nullopt;
    chunks = *more;
  }
  return chunks;
}

}  // namespace feedline::detail
