#pragma once

#include "formats/tar/values.hpp"
#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// Reads members of many samples, those of all shards together: on a remote server, their requests
/// are in flight at once. One thread; it is kept to avoid allocation.
class tar_member_reads {
 public:
  /// A member that is wanted.
  struct wanted {
    std::uint64_t sample = 0;
    const tar_members* members = nullptr;  ///< its field's
    std::size_t shard = 0;
    tar_place place = {};
    std::span<const std::byte> bytes = {};  ///< result; in the shard's mapping, or kept here
  };

  void clear() noexcept { all_.clear(); }
  void add(const wanted& member) { all_.push_back(member); }
  /// Reads all that were added since `clear`.
  /// @return They are in the order of adding, and valid until the next call. After using them, ask
  /// the shards whether they are unchanged.
  /// @throws dataset_error naming the member
  [[nodiscard]] std::span<const wanted> read(const tar_shards& shards);

 private:
  /// Members of one shard.
  struct of_shard {
    std::size_t begin = 0, end = 0;  ///< in `parts_` and `owners_`
    std::unique_ptr<begun_read> read = nullptr;
  };

  void place_unmapped(const tar_shards& shards);

  std::vector<wanted> all_;
  std::vector<std::size_t> unmapped_;  ///< indices in `all_`, by shard and offset
  std::vector<byte_read> parts_;       ///< one for each of these
  std::vector<std::byte> memory_;
};

}  // namespace feedline::detail
