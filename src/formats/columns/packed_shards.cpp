#include "formats/columns/packed_shards.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "detail/sample_range.hpp"
#include "rows/block_cache.hpp"
#include "rows/row_storage.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t fewest_kept = 2;
constexpr std::uint64_t max_block_bytes = std::uint64_t{1} << 32;  // an offset has 32 bits

std::uint64_t largest_of(const std::vector<packed_block>& blocks) {
  return std::ranges::max(blocks, {}, &packed_block::raw_bytes).raw_bytes;
}

std::uint64_t kept_of(const std::vector<packed_block>& blocks, std::size_t cache_bytes) {
  const std::size_t allowed = cache_bytes != 0 ? cache_bytes : machine_memory_bytes() / 4;
  const std::uint64_t within =
      block_cache::max_blocks_within(allowed, blocks.size(), largest_of(blocks));
  return std::min<std::uint64_t>(std::max(within, fewest_kept), blocks.size());
}

class packed_values final : public coded_values {
 public:
  packed_values(std::vector<packed_block> blocks, std::vector<std::uint64_t> ends,
                std::size_t cache_bytes)
      : blocks_{std::move(blocks)},
        ends_{std::move(ends)},
        kept_{kept_of(blocks_, cache_bytes)},
        cache_{blocks_.size(), static_cast<std::size_t>(largest_of(blocks_)),
               std::ranges::max(blocks_, {}, &packed_block::samples).samples, kept_} {}

  std::uint64_t size() const override { return ends_.back(); }
  std::uint64_t stored_bytes(std::uint64_t) const override { return 0; }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override try {
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
        const auto place = range_in(block, number, fill->bytes());
        const auto out = memory(static_cast<std::size_t>(place.end - place.begin));
        std::ranges::copy(part(fill->bytes(), place), out.begin());
        fill->publish(1);
        return out;
      }
      cache_.wait_while_filling(block);
    }
  } catch (const dataset_error& fault) {
    refuse(fault, sample);
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    const packed_block& of = blocks_[part_at(ends_, sample)];
    of.file->require_unchanged();
    throw dataset_error{{of.file->name(), fault.field(), sample, of.stored.begin}, fault.message()};
  }

  /// The blocks need not have the same number of records, so these are their mean.
  chunking chunks() const override {
    const std::uint64_t samples = divide_up(size(), std::uint64_t{blocks_.size()});
    if (samples == 1) return {};
    return {
        .samples = samples, .bytes = static_cast<std::size_t>(largest_of(blocks_)), .kept = kept_};
  }

  bool wants_prefetch() const noexcept override { return blocks_.front().file->is_cold(); }
  bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    std::size_t last = blocks_.size();
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      const std::size_t block = part_at(ends_, sample.value);
      if (block == last) continue;
      last = block;
      const byte_range bytes = blocks_[block].stored;
      blocks_[block].file->will_need(bytes.begin, bytes.end - bytes.begin);
    }
  }

 private:
  static std::span<const std::byte> part(std::span<const std::byte> of, byte_range place) {
    return of.subspan(static_cast<std::size_t>(place.begin),
                      static_cast<std::size_t>(place.end - place.begin));
  }

  [[nodiscard]] std::uint64_t number_of(std::size_t block, std::uint64_t sample) const noexcept {
    return sample - (block == 0 ? 0 : ends_[block - 1]);
  }

  /// Location of a record in its decompressed block, whose offsets were checked.
  [[nodiscard]] byte_range range_in(std::size_t block, std::uint64_t number,
                                    std::span<const std::byte> raw) const noexcept {
    const packed_block& of = blocks_[block];
    if (of.offsets) {
      const auto at = [&](std::uint64_t i) -> std::uint64_t {
        return (*of.offsets)[of.first + i] - (*of.offsets)[of.first];
      };
      return {at(number), at(number + 1)};
    }
    const auto table = static_cast<std::size_t>(4 * (number + 1));
    return {little_endian(raw.subspan(table, 4)), little_endian(raw.subspan(table + 4, 4))};
  }

  [[nodiscard]] std::span<const std::byte> raw_of(std::size_t block,
                                                  const std::byte* begin) const noexcept {
    return {begin, static_cast<std::size_t>(blocks_[block].raw_bytes)};
  }

  [[nodiscard]] std::optional<std::uint64_t> size_if_present(std::size_t block,
                                                             std::uint64_t number) const {
    block_cache::read_guard guard{cache_};
    const std::byte* const begin = guard.find(block);
    if (begin == nullptr) return std::nullopt;
    const byte_range place = range_in(block, number, raw_of(block, begin));
    return place.end - place.begin;
  }

  bool copy_if_present(std::size_t block, std::uint64_t number, std::span<std::byte> out) const {
    block_cache::read_guard guard{cache_};
    const std::byte* const begin = guard.find(block);
    if (begin == nullptr) return false;
    const auto raw = raw_of(block, begin);
    std::ranges::copy(part(raw, range_in(block, number, raw)), out.begin());
    return true;
  }

  /// The block was evicted between two looks: it is not kept again.
  std::span<const std::byte> unpack_and_copy(std::size_t block, std::uint64_t number,
                                             std::span<std::byte> out) const {
    std::vector<std::byte> raw(static_cast<std::size_t>(blocks_[block].raw_bytes));
    unpack(block, raw);
    std::ranges::copy(part(raw, range_in(block, number, raw)), out.begin());
    return out;
  }

  /// @param out At least the block's size.
  void unpack(std::size_t block, std::span<std::byte> out) const {
    const packed_block& of = blocks_[block];
    const auto raw = out.first(static_cast<std::size_t>(of.raw_bytes));
    const auto packed = packed_.take();
    const auto stored = room_in(*packed, static_cast<std::size_t>(of.stored.end - of.stored.begin));
    of.file->read(of.stored.begin, stored);
    of.file->require_unchanged();
    const auto unpacked = unpack_shard(of.codec, stored, raw, of.slack);
    if (!of.offsets) (void)read_offsets(unpacked, of.samples, unpacked.size());
  }

  const std::vector<packed_block> blocks_;
  const std::vector<std::uint64_t> ends_;
  const std::uint64_t kept_;
  mutable block_cache cache_;
  mutable scratch_pool<std::vector<std::byte>> packed_{
      [] { return std::make_unique<std::vector<std::byte>>(); }};
};

}  // namespace

coded_values_ptr make_packed_values(std::vector<packed_block> blocks, std::size_t cache_bytes) {
  std::vector<std::uint64_t> ends;
  for (const packed_block& each : blocks) {
    const std::uint64_t least = each.offsets ? 1 : offset_table_bytes(each.samples) + each.slack;
    if (each.raw_bytes < least || each.raw_bytes > max_block_bytes ||
        each.samples > max_block_bytes)
      throw dataset_error{{.path = each.file->name(), .field = {}},
                          "the index says that it has " + std::to_string(each.raw_bytes) +
                              " bytes once it is decompressed, which " +
                              std::to_string(each.samples) +
                              " records do not take; get both again"};
    ends.push_back((ends.empty() ? 0 : ends.back()) + each.samples);
  }
  return std::make_shared<const packed_values>(std::move(blocks), std::move(ends), cache_bytes);
}

}  // namespace feedline::detail
