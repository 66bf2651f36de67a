#include "rows/decoded/cached_rows.hpp"

#include <feedline/dataset/read_counts.hpp>
#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "io/read_forecast.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace feedline::detail {
namespace {

/// Most blocks for which a reader asks others for help.
constexpr std::size_t max_told = 8;

/// If fewer blocks are cached, blocks read for others might evict those that a reader needs itself.
constexpr std::uint64_t fewest_kept_to_help = 64;

}  // namespace

std::optional<row_extent> cached_extent(row_extent extent, std::uint64_t rows_per_block,
                                        std::size_t block_bytes, std::size_t cache_bytes) {
  const std::uint64_t count = divide_up(extent.rows, rows_per_block);
  const std::uint64_t max_cached = block_cache::max_blocks_within(cache_bytes, count, block_bytes);
  if (rows_per_block == 1 && max_cached < count) return std::nullopt;
  extent.rows_per_chunk = rows_per_block;
  extent.chunks_kept = std::min(std::max(max_cached, least_cached_blocks), count);
  return extent;
}

bool are_cached_as_tiles(std::uint64_t rows_per_block, std::size_t block_bytes,
                         std::size_t cache_bytes) noexcept {
  constexpr std::size_t max_together_bytes = std::size_t{256} << 20;
  return rows_per_block != 1 &&
         block_bytes > std::min(cache_bytes / least_cached_blocks, max_together_bytes);
}

/// Working memory for a run of samples. Each thread has its own, because a lock would be taken once
/// a run, which may take less than a microsecond.
struct cached_rows::scratch {
  std::vector<const std::byte*> found;  ///< rows of blocks that are present, and
  std::vector<std::size_t> places;      ///< their indices in the run
  std::vector<std::size_t> missing;     ///< indices of samples whose blocks are not present yet
  std::vector<std::uint64_t> blocks;
  std::vector<help_requests::place> told;

  static scratch& of_this_thread() {
    thread_local scratch kept;
    return kept;
  }
};

cached_rows::cached_rows(row_extent all, std::unique_ptr<const decoded_blocks> blocks)
    : field_rows{std::move(all)},
      blocks_{std::move(blocks)},
      place_{size(), extent().rows_per_chunk},
      cache_{divide_up(size(), place_.rows_per_block()), place_.rows_per_block() * row_bytes(),
             place_.rows_per_block(), extent().chunks_kept} {}

void cached_rows::read_counted(std::uint64_t block, std::span<std::byte> out) const {
  read_block(block, out);
  count_read({.decoded = 1});
}

void cached_rows::read(std::span<const sample_index> samples, std::byte* out) const {
  scratch& with = scratch::of_this_thread();
  auto& missing = with.missing;
  missing.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) missing[i] = i;
  // When a reader ends, by whatever path, it has the blocks that it asked for, or no longer wants
  // them.
  const auto take_back = [&](const auto* told) {
    for (const auto& place : *told) wanted_.take_back(place);
  };
  bool first = true;
  for (;;) {
    copy_present(samples, with, out);
    if (first) count_read({.cache_hits = with.found.size(), .cache_misses = missing.size()});
    first = false;
    if (missing.empty()) return;
    tell_last_ones(samples, with);
    const std::unique_ptr<decltype(with.told), decltype(take_back)> told{&with.told, take_back};
    read_absent(samples, with, out);
    if (missing.empty()) return;
    // All remaining blocks were being read by other readers a moment ago.
    wait_for(place_.block_of(samples[missing.front()].value));
  }
}

/// Asks for help with the blocks that this reader will read last.
void cached_rows::tell_last_ones(std::span<const sample_index> samples, scratch& with) const {
  auto& told = with.told;
  told.clear();
  if (extent().chunks_kept < fewest_kept_to_help) return;
  told.reserve(max_told);
  const std::uint64_t first = place_.block_of(samples[with.missing.front()].value);
  for (std::size_t i = with.missing.size(); i-- > 1 && told.size() < max_told;) {
    const std::uint64_t block = place_.block_of(samples[with.missing[i]].value);
    const bool is_told = std::ranges::count(told, block, &help_requests::place::block) != 0;
    if (block != first && !is_told) told.push_back(wanted_.tell(block));
  }
}

/// Reads blocks for other readers while they ask for any. Else waits until a block is present, or
/// is not being read any more.
void cached_rows::wait_for(std::uint64_t block) const {
  while (const auto wanted = wanted_.take())
    if (read_for_others(*wanted)) return;
  cache_.wait_while_filling(block);
}

/// False if the block is present or being read, or cannot be read: the reader that wants it will
/// find that out itself.
bool cached_rows::read_for_others(std::uint64_t block) const noexcept try {
  auto fill = cache_.try_fill(block);
  if (!fill) return false;
  read_counted(block, fill->bytes());
  fill->publish(0);
  return true;
} catch (...) {
  return false;
}

/// Copies the rows of blocks that are present, and leaves the indices of the others in `missing`.
void cached_rows::copy_present(std::span<const sample_index> samples, scratch& with,
                               std::byte* out) const {
  with.found.clear();
  with.places.clear();
  block_cache::read_guard read_guard{cache_};
  std::size_t left = 0;
  for (const std::size_t place : with.missing) {
    const std::uint64_t sample = samples[place].value;
    const std::uint64_t number = place_.block_of(sample);
    if (const std::byte* const block = read_guard.find(number)) {
      with.found.push_back(block + place_.place_in(number, sample) * row_bytes());
      with.places.push_back(place);
    } else {
      with.missing[left++] = place;
    }
  }
  with.missing.resize(left);
  gather_scattered(with.found, with.places, row_bytes(), out);
}

/// Reads blocks that are neither present nor being read, and copies their rows while they are in
/// the processor's cache. Leaves the indices of the others in `missing`.
void cached_rows::read_absent(std::span<const sample_index> samples, scratch& with,
                              std::byte* out) const {
  auto& missing = with.missing;
  std::size_t left = 0;
  std::size_t i = 0;
  while (i < missing.size()) {
    const std::uint64_t block = place_.block_of(samples[missing[i]].value);
    auto fill = cache_.begin_fill(block);
    if (!fill) {
      missing[left++] = missing[i++];
      continue;
    }
    try {
      read_counted(block, fill->bytes());
    } catch (const dataset_error& failure) {
      // If several samples cannot be read, the run's first one is named, whichever thread reads its
      // block.
      if (left > 0) break;
      blocks_->fail(failure, samples[missing[i]].value);
    }
    std::uint64_t used = 0;
    for (; i < missing.size() && place_.block_of(samples[missing[i]].value) == block; ++i, ++used)
      copy_row(
          out + missing[i] * row_bytes(),
          fill->bytes().data() + place_.place_in(block, samples[missing[i]].value) * row_bytes(),
          row_bytes());
    fill->publish(used);
  }
  missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(left),
                missing.begin() + static_cast<std::ptrdiff_t>(i));
}

void cached_rows::prefetch(std::span<const sample_index> samples) const noexcept try {
  scratch& with = scratch::of_this_thread();
  auto& blocks = with.blocks;
  blocks.clear();
  {
    const bool is_recorded = range_recorder::of_this_thread() != nullptr;
    block_cache::read_guard read_guard{cache_};
    for (const sample_index sample : samples)
      if (sample.value < size() && (is_recorded || !read_guard.has(place_.block_of(sample.value))))
        blocks.push_back(place_.block_of(sample.value));
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (const std::uint64_t block : blocks) blocks_->prefetch(block);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
