#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A block's file in the folder: its name has the key and the number of bytes.
struct block_name {
  std::uint64_t key = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] std::string text() const;
  /// Nothing if it is the name of something else.
  [[nodiscard]] static std::optional<block_name> parse(const std::string& name);
  friend bool operator==(const block_name&, const block_name&) = default;
};

/// A folder of blocks that the processes of a machine share. A block is written under another name
/// and then renamed, so that it is there whole or not at all; locks of the kernel on bytes of one
/// file say who fetches a block, and end with their process, however it ends. Children of fork
/// inherit none.
///
/// The bytes in use are counted in that file by all processes together. A process that is killed
/// leaves the count too large by what it was fetching, until one enters that is alone: it counts
/// from the folder's list.
///
/// It has no lock of its own, so a child of fork can use it. Lives to the process's end: closing
/// the file would end the process's locks. Any thread.
class cache_folder {
 public:
  /// Makes the folder, if there is none: for this user alone.
  /// @throws usage_error if it cannot be used: not writable, another user's, open to others, a
  ///         link.
  [[nodiscard]] static std::shared_ptr<cache_folder> open(const std::string& path,
                                                          std::uint64_t max_bytes);
  cache_folder(const cache_folder&) = delete;
  cache_folder& operator=(const cache_folder&) = delete;

  [[nodiscard]] bool has(const block_name& block) const noexcept;
  enum class outcome : std::uint8_t { read, absent, damaged };
  /// Reads bytes of a block, and checks them. What is damaged is removed.
  /// @param text The text that it must have; with a different one the block is absent.
  [[nodiscard]] outcome read(const block_name& block, const std::string& text, std::uint64_t offset,
                             std::span<std::byte> out);

  /// Claims the fetching of a block among processes, and among this process's users of the folder.
  /// @return False: another one has it.
  [[nodiscard]] bool lock(std::uint64_t key) const noexcept;
  void unlock(std::uint64_t key) const noexcept;
  /// Whether another process has it, or another user of the folder within this one. The caller asks
  /// first about its own.
  [[nodiscard]] bool is_locked_elsewhere(std::uint64_t key) const noexcept;

  /// Counts the bytes of a block that will be written. @return False: there is no room.
  [[nodiscard]] bool reserve(std::uint64_t bytes) noexcept;
  /// They will not be written, or are gone.
  void release(std::uint64_t bytes) noexcept;
  /// Bytes that a block is counted as.
  [[nodiscard]] static std::uint64_t counted(std::uint64_t bytes) noexcept;

  enum class stored : std::uint8_t { yes, disk_full, failed };
  /// Writes a block that was locked and reserved.
  [[nodiscard]] stored store(const block_name& block, const std::string& text,
                             std::span<const std::byte> bytes);
  /// False if it was gone already.
  bool remove(const block_name& block) noexcept;

  /// Before all others. If no other process uses the folder, and none of this one has entered it
  /// before, it counts the bytes in use and removes what killed processes left. Waits for one that
  /// does so.
  void enter();
  /// All blocks.
  [[nodiscard]] std::vector<block_name> list() const;
  /// Since a block was read or written last, to within a minute.
  [[nodiscard]] std::chrono::seconds unused_for(const block_name& block) const noexcept;

  /// Path as it was given.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t used() const noexcept;
  [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_; }

 private:
  struct index;

  /// The file of locks, whatever path led to it.
  struct file_id {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend auto operator<=>(const file_id&, const file_id&) = default;
  };
  struct own_claims;  ///< this process's

  cache_folder(std::string path, int folder, int lock_file, index* shared, std::uint64_t max_bytes,
               file_id id) noexcept
      : path_{std::move(path)},
        folder_{folder},
        lock_file_{lock_file},
        shared_{shared},
        max_bytes_{max_bytes},
        id_{id} {}

  template <class Body>
  void for_each_name(Body body) const;

  const std::string path_;
  const int folder_;
  const int lock_file_;
  index* const shared_;  ///< mapped: all processes'
  const std::uint64_t max_bytes_;
  const file_id id_;
};

}  // namespace feedline::detail
