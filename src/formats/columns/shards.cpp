#include "formats/columns/shards.hpp"

#include <feedline/error.hpp>

#include "detail/threads.hpp"
#include "formats/columns/packed_shards.hpp"
#include "io/file_system.hpp"
#include "ragged/file_values.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

class shard_values final : public located_values {
 public:
  shard_values(std::vector<byte_file_ptr> files, std::vector<std::uint64_t> ends,
               std::vector<std::vector<std::uint32_t>> offsets)
      : located_values{std::move(files), std::move(ends)}, offsets_{std::move(offsets)} {}

 private:
  byte_range range_of(std::size_t file, std::uint64_t number) const noexcept override {
    return {offsets_[file][number], offsets_[file][number + 1]};
  }

  std::vector<std::vector<std::uint32_t>> offsets_;
};

std::vector<std::uint32_t> offsets_of(const byte_file& file, std::uint64_t samples) {
  const std::uint64_t table = offset_table_bytes(samples);
  if (samples > file.size() / 4 || table > file.size())
    throw dataset_error{{.path = file.name(), .field = {}},
                        "the shard is cut short: " + std::to_string(file.size()) +
                            " bytes cannot hold the offsets of " + std::to_string(samples) +
                            " records; get it again"};
  std::vector<std::byte> begin(static_cast<std::size_t>(table));
  file.read(0, begin);
  try {
    auto offsets = read_offsets(begin, samples, file.size());
    file.require_unchanged();
    return offsets;
  } catch (const dataset_error& fault) {
    throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = fault.offset()},
                        fault.message()};
  }
}

}  // namespace

byte_file_ptr open_shard_file(const described_shard& shard) {
  byte_file_ptr file = open_file(shard.path);
  if (shard.bytes != 0 && file->size() != shard.bytes && file->size() != shard.bytes + shard.slack)
    throw dataset_error{{.path = file->name(), .field = {}},
                        "has " + std::to_string(file->size()) + " bytes, but the index says " +
                            std::to_string(shard.bytes) + "; get both again"};
  return file;
}

coded_values_ptr make_shard_values(std::vector<described_shard> shards,
                                   std::size_t max_host_cache_bytes) {
  std::erase_if(shards, [](const described_shard& each) { return each.samples == 0; });
  const bool is_packed = std::ranges::any_of(
      shards, [](const described_shard& each) { return each.codec != shard_codec::none; });
  std::vector<byte_file_ptr> files(shards.size());
  std::vector<std::vector<std::uint32_t>> offsets(shards.size());
  parallel_for(
      shards.size(),
      [&](std::size_t i) {
        files[i] = open_shard_file(shards[i]);
        if (!is_packed) offsets[i] = offsets_of(*files[i], shards[i].samples);
      },
      files_opened_at_once);
  std::vector<std::uint64_t> ends;
  for (const described_shard& each : shards)
    if (__builtin_add_overflow(ends.empty() ? 0 : ends.back(), each.samples, &ends.emplace_back()))
      throw dataset_error{{.path = each.path, .field = {}},
                          "the index counts more records than 64 bits can"};
  if (!is_packed)
    return std::make_shared<const shard_values>(std::move(files), std::move(ends),
                                                std::move(offsets));
  std::vector<packed_block> blocks;
  for (std::size_t i = 0; i < shards.size(); ++i)
    blocks.push_back({.file = files[i],
                      .stored = {0, files[i]->size()},
                      .codec = shards[i].codec,
                      .raw_bytes = shards[i].raw_bytes + shards[i].slack,
                      .slack = shards[i].slack,
                      .samples = shards[i].samples});
  return make_packed_values(std::move(blocks), max_host_cache_bytes);
}

}  // namespace feedline::detail
