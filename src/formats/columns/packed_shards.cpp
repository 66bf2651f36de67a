#include "formats/columns/packed_shards.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "formats/columns/block_values.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t max_block_bytes = std::uint64_t{1} << 32;  // an offset has 32 bits

std::uint64_t largest_of(const std::vector<packed_block>& blocks) {
  return std::ranges::max(blocks, {}, &packed_block::raw_bytes).raw_bytes;
}

class packed_values final : public block_values {
 public:
  packed_values(std::vector<packed_block> blocks, std::vector<std::uint64_t> ends,
                std::size_t cache_bytes)
      : block_values{std::move(ends), largest_of(blocks), cache_bytes},
        blocks_{std::move(blocks)} {}

 private:
  place block_at(std::size_t block) const noexcept override {
    return {*blocks_[block].file, blocks_[block].stored};
  }

  /// The offsets were checked.
  byte_range record_in(std::size_t block, std::uint64_t number,
                       const std::byte* unpacked) const noexcept override {
    const packed_block& of = blocks_[block];
    if (of.offsets) {
      const auto at = [&](std::uint64_t i) -> std::uint64_t {
        return (*of.offsets)[of.first + i] - (*of.offsets)[of.first];
      };
      return {at(number), at(number + 1)};
    }
    const std::span<const std::byte> pair{unpacked + 4 * (number + 1), 8};
    return {little_endian(pair.first(4)), little_endian(pair.last(4))};
  }

  void unpack(std::size_t block, std::span<std::byte> out) const override {
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
