#include "formats/columns/block_values.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/sample_range.hpp"
#include "io/read_forecast.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t fewest_kept = 2;

std::uint64_t kept_of(std::uint64_t blocks, std::uint64_t largest, std::size_t cache_bytes) {
  const std::size_t allowed = cache_bytes != 0 ? cache_bytes : machine_memory_bytes() / 4;
  const std::uint64_t within = block_cache::max_blocks_within(allowed, blocks, largest);
  return std::min<std::uint64_t>(std::max(within, fewest_kept), blocks);
}

/// The most records in a block.
std::uint64_t most_of(const std::vector<std::uint64_t>& ends) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < ends.size(); ++i)
    most = std::max(most, ends[i] - (i == 0 ? 0 : ends[i - 1]));
  return most;
}

void copy_part(const std::byte* unpacked, byte_range part, std::span<std::byte> out) {
  std::copy(unpacked + part.begin, unpacked + part.end, out.begin());
}

}  // namespace

block_values::block_values(std::vector<std::uint64_t> ends, std::uint64_t largest,
                           std::size_t max_host_cache_bytes)
    : ends_{std::move(ends)},
      largest_{largest},
      kept_{kept_of(ends_.size(), largest, max_host_cache_bytes)},
      cache_{ends_.size(), static_cast<std::size_t>(largest), most_of(ends_), kept_} {}

std::span<const std::byte> block_values::read(std::uint64_t sample, const room& memory) const try {
  const std::size_t block = part_at(ends_, sample);
  const std::uint64_t number = number_of(block, sample);
  for (;;) {
    // Memory is taken outside of the read guard, in which nothing may block.
    if (const auto bytes = size_if_present(block, number)) {
      const auto out = memory(static_cast<std::size_t>(*bytes));
      if (copy_if_present(block, number, out)) return out;
      return unpack_and_copy(block, number, out);
    }
    if (auto fill = cache_.begin_fill(block)) {
      unpack(block, fill->bytes());
      const byte_range part = record_in(block, number, fill->bytes().data());
      const auto out = memory(static_cast<std::size_t>(part.end - part.begin));
      copy_part(fill->bytes().data(), part, out);
      fill->publish(1);
      return out;
    }
    cache_.wait_while_filling(block);
  }
} catch (const dataset_error& fault) {
  refuse(fault, sample);
}

void block_values::refuse(const dataset_error& fault, std::uint64_t sample) const {
  const place of = block_at(part_at(ends_, sample));
  of.file.require_unchanged();
  throw dataset_error{{of.file.name(), fault.field(), sample, of.bytes.begin}, fault.message()};
}

chunking block_values::chunks() const {
  const std::uint64_t samples = divide_up(size(), std::uint64_t{ends_.size()});
  if (samples == 1) return {};
  return {.samples = samples, .bytes = static_cast<std::size_t>(largest_), .kept = kept_};
}

/// Blocks that are decompressed already are not asked for.
void block_values::prefetch(std::span<const sample_index> samples) const noexcept try {
  const bool is_recorded = range_recorder::of_this_thread() != nullptr;
  std::vector<std::size_t> wanted;
  wanted.reserve(samples.size());
  {
    block_cache::read_guard guard{cache_};
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      const std::size_t block = part_at(ends_, sample.value);
      if (is_recorded || !guard.has(block)) wanted.push_back(block);
    }
  }
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (const std::size_t block : wanted) {
    const place of = block_at(block);
    of.file.will_need(of.bytes.begin, of.bytes.end - of.bytes.begin);
  }
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

std::optional<std::uint64_t> block_values::size_if_present(std::size_t block,
                                                           std::uint64_t number) const {
  block_cache::read_guard guard{cache_};
  const std::byte* const unpacked = guard.find(block);
  if (unpacked == nullptr) return std::nullopt;
  const byte_range part = record_in(block, number, unpacked);
  return part.end - part.begin;
}

bool block_values::copy_if_present(std::size_t block, std::uint64_t number,
                                   std::span<std::byte> out) const {
  block_cache::read_guard guard{cache_};
  const std::byte* const unpacked = guard.find(block);
  if (unpacked == nullptr) return false;
  copy_part(unpacked, record_in(block, number, unpacked), out);
  return true;
}

/// The block was evicted between two looks: it is not kept again.
std::span<const std::byte> block_values::unpack_and_copy(std::size_t block, std::uint64_t number,
                                                         std::span<std::byte> out) const {
  std::vector<std::byte> unpacked(static_cast<std::size_t>(largest_));
  unpack(block, unpacked);
  copy_part(unpacked.data(), record_in(block, number, unpacked.data()), out);
  return out;
}

}  // namespace feedline::detail
