#include "dataset/hdf5_cached_rows.hpp"

#include <feedline/error.hpp>

#include "dataset/gather_scattered.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace feedline::detail {

hdf5_cached_rows::hdf5_cached_rows(std::unique_ptr<const hdf5_blocks> blocks, std::uint64_t rows,
                                   std::size_t row_bytes, std::uint64_t most_kept)
    : blocks_{std::move(blocks)},
      rows_{rows},
      row_bytes_{row_bytes},
      rows_per_block_{blocks_->rows_per_block()},
      most_kept_{std::min(most_kept, divide_up(rows, rows_per_block_))},
      cache_{divide_up(rows, rows_per_block_), rows_per_block_ * row_bytes, rows_per_block_,
             most_kept_} {}

chunking hdf5_cached_rows::chunks() const {
  if (rows_per_block_ == 1) return {};
  return {.samples = rows_per_block_,
          .bytes = static_cast<std::size_t>(rows_per_block_) * row_bytes_,
          .kept = most_kept_};
}

void hdf5_cached_rows::read(std::span<const sample_index> samples, std::byte* out) const {
  pool<scratch>::use with{scratch_};
  auto& missing = with->missing;
  missing.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) missing[i] = i;
  for (;;) {
    copy_present(samples, *with, out);
    if (missing.empty()) return;
    read_absent(samples, *with, out);
    if (missing.empty()) return;
    // All that are left were being read by others a moment ago.
    cache_.wait_while_filling(samples[missing.front()].value / rows_per_block_);
  }
}

/// Copies the rows of blocks that are there, and leaves the places of the others in `missing`.
void hdf5_cached_rows::copy_present(std::span<const sample_index> samples, scratch& with,
                                    std::byte* out) const {
  const bool whole_run = with.missing.size() == samples.size();
  with.found.resize(with.missing.size());
  block_cache::section section{cache_};
  std::size_t left = 0;
  for (std::size_t i = 0; i < with.found.size(); ++i) {
    const std::size_t place = with.missing[i];
    const std::uint64_t sample = samples[place].value;
    const std::byte* const block = section.find(sample / rows_per_block_);
    with.found[i] = block == nullptr ? nullptr : block + sample % rows_per_block_ * row_bytes_;
    if (block == nullptr) {
      with.missing[left++] = place;
    } else if (!whole_run) {
      std::memcpy(out + place * row_bytes_, with.found[i], row_bytes_);
    }
  }
  with.missing.resize(left);
  if (whole_run) gather_scattered(with.found, row_bytes_, out);
}

/// Reads blocks that nobody has or reads, and copies their rows while they are in the processor's cache.
/// Leaves the places of the others in `missing`.
void hdf5_cached_rows::read_absent(std::span<const sample_index> samples, scratch& with,
                                   std::byte* out) const {
  auto& missing = with.missing;
  std::size_t left = 0;
  std::size_t i = 0;
  while (i < missing.size()) {
    const std::uint64_t block = samples[missing[i]].value / rows_per_block_;
    auto fill = cache_.try_fill(block);
    if (!fill) {
      missing[left++] = missing[i++];
      continue;
    }
    try {
      blocks_->read(block, fill->bytes());
    } catch (const hdf5_error& failure) {
      // Of several samples that cannot be read the run's first is named, whoever reads its block.
      if (left > 0) break;
      dataset_location where = failure.where();
      where.sample = samples[missing[i]].value;
      throw hdf5_error{std::move(where), failure.message()};
    }
    std::uint64_t used = 0;
    for (; i < missing.size() && samples[missing[i]].value / rows_per_block_ == block; ++i, ++used)
      std::memcpy(out + missing[i] * row_bytes_,
                  fill->bytes().data() + samples[missing[i]].value % rows_per_block_ * row_bytes_,
                  row_bytes_);
    fill->publish(used);
  }
  missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(left),
                missing.begin() + static_cast<std::ptrdiff_t>(i));
}

void hdf5_cached_rows::prefetch(std::span<const sample_index> samples) const noexcept try {
  pool<scratch>::use with{scratch_};
  auto& blocks = with->blocks;
  blocks.clear();
  {
    block_cache::section section{cache_};
    for (const sample_index sample : samples)
      if (sample.value < rows_ && !section.has(sample.value / rows_per_block_))
        blocks.push_back(sample.value / rows_per_block_);
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (const std::uint64_t block : blocks) blocks_->prefetch(block);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
