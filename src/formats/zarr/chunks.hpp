#pragma once

#include "formats/zarr/array.hpp"
#include "formats/zarr/objects.hpp"
#include "formats/zarr/stores/store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Where a chunk is within its object.
struct zarr_chunk {
  static constexpr std::uint32_t none = 0xffff'ffff;

  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint32_t object = none;  ///< in a shard: its number among those that are there

  friend bool operator==(const zarr_chunk&, const zarr_chunk&) = default;
};

/// Reads a shard's index: where its chunks are, in C order; missing ones have no object.
/// @param index Bytes of the index, checksum included. @param chunks Chunks of the shard.
/// @param shard_bytes Size of the shard. @param index_begin Offset of the index in it.
/// @throws dataset_error without a location: a wrong checksum, chunks outside of the shard, that
/// overlap each other or the index.
[[nodiscard]] std::vector<zarr_chunk> parse_shard_index(std::span<const std::byte> index,
                                                        const zarr_shards& shards,
                                                        std::uint64_t chunks,
                                                        std::uint64_t shard_bytes,
                                                        std::uint64_t index_begin);

/// The chunks of an array, numbered in C order. Constant once made; any number of threads.
class zarr_chunks {
 public:
  /// Finds which chunks there are, where the store can list them.
  /// @throws dataset_error: more chunks than a store of this size can have, damaged indexes of
  /// shards.
  zarr_chunks(zarr_store_ptr store, zarr_array array);
  zarr_chunks(const zarr_chunks&) = delete;
  zarr_chunks& operator=(const zarr_chunks&) = delete;

  [[nodiscard]] const zarr_array& array() const noexcept { return array_; }
  [[nodiscard]] const zarr_store& store() const noexcept { return *store_; }
  [[nodiscard]] std::span<const std::uint64_t> grid() const noexcept { return grid_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return count_; }

  /// Whether the chunks that are there, and their sizes, are known. If not, reading tells.
  [[nodiscard]] bool are_known() const noexcept { return !places_.empty(); }
  /// True if that is not known.
  [[nodiscard]] bool is_written(std::uint64_t chunk) const noexcept {
    return places_.empty() || places_[chunk].object != zarr_chunk::none;
  }
  /// Stored bytes of a chunk that is there, if they are known.
  [[nodiscard]] std::uint64_t stored_bytes(std::uint64_t chunk) const noexcept {
    return places_[chunk].bytes;
  }

  /// The stored bytes of a chunk that is written; empty if it is not there after all.
  /// @param into Memory for them, if they are not mapped.
  /// @throws dataset_error naming the object.
  [[nodiscard]] std::span<const std::byte> read(std::uint64_t chunk,
                                                std::vector<std::byte>& into) const;
  /// The same for a chunk whose size is known. @param out Memory of that size.
  void read(std::uint64_t chunk, std::span<std::byte> out) const;
  /// Looks whether the shard that holds a chunk is unchanged. @throws dataset_error
  void require_unchanged(std::uint64_t chunk) const;
  void will_need(std::uint64_t chunk) const noexcept;
  [[nodiscard]] bool is_cold() const noexcept;

  /// "chunk (3, 0) in c/3/0", for messages.
  [[nodiscard]] std::string describe(std::uint64_t chunk) const;
  /// Key of the object that holds a chunk.
  [[nodiscard]] std::string key_of(std::uint64_t chunk) const;

 private:
  [[nodiscard]] bool read_object(std::uint64_t chunk, const file_system::room& memory) const;
  void require_backed(const zarr_objects::numbers& found) const;
  void place_shards(const zarr_objects::numbers& found);
  void read_index(const zarr_objects::numbers& found, std::size_t place,
                  std::span<const std::uint64_t> in_shard);

  zarr_store_ptr store_;
  zarr_array array_;
  zarr_objects objects_{*store_, array_};
  std::vector<std::uint64_t> grid_ = {};  ///< number of chunks along each axis
  std::uint64_t count_ = 1;
  std::vector<zarr_chunk> places_ = {};
  std::vector<zarr_object> shards_ = {};
};

}  // namespace feedline::detail
