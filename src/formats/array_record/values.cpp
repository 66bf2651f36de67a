#include "formats/array_record/values.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/sample_range.hpp"
#include "detail/threads.hpp"
#include "formats/array_record/index.hpp"
#include "formats/array_record/riegeli.hpp"
#include "formats/columns/block_values.hpp"
#include "ragged/file_values.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

using file_index = std::vector<array_chunk>;
using chunk_bytes_pool = scratch_pool<std::vector<std::byte>>;

std::unique_ptr<std::vector<std::byte>> make_bytes() {
  return std::make_unique<std::vector<std::byte>>();
}

/// Reads a chunk. @param memory Holds its bytes. @param records Number that the index says.
packed_records read_records(const byte_file& file, const array_chunk& chunk, std::uint64_t records,
                            std::vector<std::byte>& memory) {
  const auto stored =
      room_in(memory, static_cast<std::size_t>(chunk.stored.end - chunk.stored.begin));
  file.read(chunk.stored.begin, stored);
  file.require_unchanged();
  const packed_records packed = find_records(take_riegeli_chunk(stored, chunk.stored.begin));
  if (packed.records != records || packed.raw_bytes != chunk.raw_bytes)
    throw dataset_error{{},
                        "the chunk has " + std::to_string(packed.records) + " records of " +
                            std::to_string(packed.raw_bytes) + " bytes, but the index says " +
                            std::to_string(records) + " of " + std::to_string(chunk.raw_bytes) +
                            "; get the file again"};
  return packed;
}

/// A chunk has one record.
class single_records final : public located_values {
 public:
  single_records(std::vector<byte_file_ptr> files, std::vector<std::uint64_t> ends,
                 std::vector<file_index> indexes)
      : located_values{std::move(files), ends}, ends_{std::move(ends)}, of_{std::move(indexes)} {}

  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    return chunk_of(find(sample).number, sample).raw_bytes;
  }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override try {
    const place at = find(sample);
    const auto stored = stored_.take();
    const packed_records packed = read_records(at.file, chunk_of(at.number, sample), 1, *stored);
    const auto out = memory(static_cast<std::size_t>(packed.raw_bytes));
    unpack_records(packed, out);
    return out;
  } catch (const dataset_error& fault) {
    refuse(fault, sample);
  }

 private:
  [[nodiscard]] const array_chunk& chunk_of(std::size_t file, std::uint64_t sample) const noexcept {
    return of_[file][sample - (file == 0 ? 0 : ends_[file - 1])];
  }
  byte_range range_of(std::size_t file, std::uint64_t number) const noexcept override {
    return of_[file][number].stored;
  }

  std::vector<std::uint64_t> ends_;
  std::vector<file_index> of_;
  mutable chunk_bytes_pool stored_{make_bytes};
};

/// A chunk of all files, and its file.
struct placed_chunk {
  std::uint32_t file;
  std::uint32_t records;
  array_chunk chunk;
};

/// Bytes of a chunk in memory: the end of each record, in 8 bytes, then the records.
std::uint64_t bytes_in_memory(const placed_chunk& of) {
  return 8 * std::uint64_t{of.records} + of.chunk.raw_bytes;
}

/// Chunks have several records.
class grouped_records final : public block_values {
 public:
  grouped_records(std::vector<byte_file_ptr> files, std::vector<std::uint64_t> ends,
                  std::vector<placed_chunk> chunks, std::size_t max_host_cache_bytes)
      : block_values{std::move(ends),
                     bytes_in_memory(std::ranges::max(chunks, {}, bytes_in_memory)),
                     max_host_cache_bytes},
        files_{std::move(files)},
        chunks_{std::move(chunks)} {}

 private:
  place block_at(std::size_t block) const noexcept override {
    const placed_chunk& of = chunks_[block];
    return {*files_[of.file], of.chunk.stored};
  }

  byte_range record_in(std::size_t block, std::uint64_t number,
                       const std::byte* unpacked) const noexcept override {
    const std::uint64_t values = 8 * std::uint64_t{chunks_[block].records};
    const auto end_of = [&](std::uint64_t record) {
      std::uint64_t end = 0;
      std::memcpy(&end, unpacked + 8 * record, sizeof end);
      return values + end;
    };
    return {number == 0 ? values : end_of(number - 1), end_of(number)};
  }

  void unpack(std::size_t block, std::span<std::byte> out) const override {
    const placed_chunk& of = chunks_[block];
    const auto stored = stored_.take();
    const packed_records packed = read_records(*files_[of.file], of.chunk, of.records, *stored);
    std::vector<std::uint64_t> ends(of.records);
    unpack_record_ends(packed, ends);
    std::memcpy(out.data(), ends.data(), 8 * ends.size());
    unpack_records(packed,
                   out.subspan(8 * ends.size(), static_cast<std::size_t>(packed.raw_bytes)));
  }

  std::vector<byte_file_ptr> files_;
  std::vector<placed_chunk> chunks_;
  mutable chunk_bytes_pool stored_{make_bytes};
};

coded_values_ptr make_grouped(std::vector<byte_file_ptr> files,
                              const std::vector<file_index>& indexes,
                              std::size_t max_host_cache_bytes) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 32;
  std::vector<placed_chunk> chunks;
  std::vector<std::uint64_t> ends;
  for (std::size_t file = 0; file < files.size(); ++file) {
    std::uint64_t last = 0;
    for (const array_chunk& each : indexes[file]) {
      const std::uint64_t records = each.end - std::exchange(last, each.end);
      if (each.raw_bytes > max_bytes || records > max_bytes / 8)
        throw dataset_error{
            {.path = files[file]->name(), .field = {}, .sample = {}, .offset = each.stored.begin},
            "a chunk has " + std::to_string(records) + " records of " +
                std::to_string(each.raw_bytes) +
                " bytes, and feedline reads chunks of 4 GiB and 536870912 records at most; write "
                "the records again with a smaller group_size"};
      chunks.push_back(
          {static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(records), each});
      ends.push_back((ends.empty() ? 0 : ends.back()) + records);
    }
  }
  return std::make_shared<const grouped_records>(std::move(files), std::move(ends),
                                                 std::move(chunks), max_host_cache_bytes);
}

}  // namespace

coded_values_ptr make_array_record_values(std::vector<byte_file_ptr> files,
                                          std::size_t max_host_cache_bytes) {
  std::vector<file_index> indexes(files.size());
  parallel_for(files.size(), [&](std::size_t i) {
    indexes[i] = read_array_index(*files[i]);
    files[i]->require_unchanged();
  });
  std::vector<std::uint64_t> ends;
  bool has_groups = false;
  for (const file_index& each : indexes) {
    const std::uint64_t records = each.empty() ? 0 : each.back().end;
    ends.push_back((ends.empty() ? 0 : ends.back()) + records);
    has_groups = has_groups || records != each.size();
  }
  if (ends.back() == 0)
    throw dataset_error{{.path = files.front()->name(), .field = {}}, "holds no record"};
  if (has_groups) return make_grouped(std::move(files), indexes, max_host_cache_bytes);
  return std::make_shared<const single_records>(std::move(files), std::move(ends),
                                                std::move(indexes));
}

}  // namespace feedline::detail
