#pragma once

#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"
#include "rows/block_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace feedline::detail {

/// Records that are stored together in blocks, one block after the other. A block is unpacked whole
/// when a record of it is read, and kept as memory allows. A format derives from it and says where
/// each block is, how it is unpacked, and where its records are then.
class block_values : public coded_values {
 public:
  std::uint64_t size() const final { return ends_.back(); }
  std::uint64_t stored_bytes(std::uint64_t) const final { return 0; }
  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const final;
  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const final;

  /// The blocks need not have the same number of records, so these are their mean.
  chunking chunks() const final;
  bool wants_prefetch() const noexcept final { return block_at(0).file.is_cold(); }
  bool hints_ranges() const noexcept final { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept final;

 protected:
  /// Location of a block as it is stored.
  struct place {
    const byte_file& file;
    byte_range bytes;
  };

  /// @param ends Number of records up to the end of each block; a block has at least one.
  /// @param largest Bytes that the largest block takes once it is unpacked, at least 1.
  /// @param max_host_cache_bytes Same as in `shard_options`.
  block_values(std::vector<std::uint64_t> ends, std::uint64_t largest,
               std::size_t max_host_cache_bytes);

 private:
  [[nodiscard]] virtual place block_at(std::size_t block) const noexcept = 0;
  /// Reads and unpacks a block. @param out Memory for the largest block.
  /// @throws dataset_error without a location
  virtual void unpack(std::size_t block, std::span<std::byte> out) const = 0;
  /// The bytes of a record. @param number Its index in the block. @param unpacked The block's
  /// first byte, written by `unpack`.
  [[nodiscard]] virtual byte_range record_in(std::size_t block, std::uint64_t number,
                                             const std::byte* unpacked) const noexcept = 0;

  [[nodiscard]] std::uint64_t number_of(std::size_t block, std::uint64_t sample) const noexcept {
    return sample - (block == 0 ? 0 : ends_[block - 1]);
  }
  [[nodiscard]] std::optional<std::uint64_t> size_if_present(std::size_t block,
                                                             std::uint64_t number) const;
  bool copy_if_present(std::size_t block, std::uint64_t number, std::span<std::byte> out) const;
  std::span<const std::byte> unpack_and_copy(std::size_t block, std::uint64_t number,
                                             std::span<std::byte> out) const;

  const std::vector<std::uint64_t> ends_;
  const std::uint64_t largest_;
  const std::uint64_t kept_;
  mutable block_cache cache_;
};

}  // namespace feedline::detail
