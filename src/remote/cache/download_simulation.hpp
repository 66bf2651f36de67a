#pragma once

#include "remote/cache/use_table.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace feedline::detail {

/// Computes the downloads of epochs with a cache of some size: `object_cache` without its bytes and
/// threads, by the same rules and the same order of blocks.
class download_simulation {
 public:
  using tables = std::vector<std::shared_ptr<const use_table>>;

  /// Bytes that a cache may take.
  struct room {
    std::uint64_t folder = 0;
    std::uint64_t memory = 0;
  };
  /// The content of a cache: bytes of blocks by their keys.
  struct holding {
    std::unordered_map<std::uint64_t, std::uint64_t> folder = {};
    std::unordered_map<std::uint64_t, std::uint64_t> memory = {};
    room others = {};  ///< taken by blocks that stay whatever the loader reads
  };

  /// @param epochs Consecutive epochs, at least one. @param positions Positions of an epoch.
  /// @param all_epochs Epochs of the loader; 0: unknown. @param is_shared Other ranks read, too.
  download_simulation(tables epochs, std::uint64_t positions, std::uint64_t all_epochs,
                      bool is_shared);

  /// Bytes that the samples of the first epoch need.
  [[nodiscard]] std::uint64_t needed() const;
  /// Room for all blocks that are worth their room in the second epoch: in a folder, or in memory.
  [[nodiscard]] std::uint64_t room_for_all(bool in_folder) const;
  /// Downloads of each epoch, one after the other. The last ones know less of what follows.
  [[nodiscard]] std::vector<std::uint64_t> run(const room& most, const holding& held) const {
    return run(most, held, epochs_);
  }
  /// Downloads of a machine that reads a part of the samples. @param read Uses by this part, in the
  /// same epochs.
  [[nodiscard]] std::vector<std::uint64_t> run(const room& most, const holding& held,
                                               const tables& read) const;

 private:
  tables epochs_;
  std::uint64_t positions_;
  std::uint64_t all_epochs_;
  bool is_shared_;
};

}  // namespace feedline::detail
