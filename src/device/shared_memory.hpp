#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// Memory of this process that other processes can map by a descriptor. Staging memory is of this
/// kind while some dataset has its samples written by other processes, so that they write each
/// value where it belongs.
///
/// The memory belongs to no file system (memfd), so the size of /dev/shm does not limit it. Any
/// thread may call any function here.

/// While one of these exists, staging memory that is allocated is shared.
class shared_staging {
 public:
  shared_staging() noexcept { users.fetch_add(1); }
  shared_staging(const shared_staging&) = delete;
  shared_staging& operator=(const shared_staging&) = delete;
  ~shared_staging() { users.fetch_sub(1); }

  [[nodiscard]] static bool is_wanted() noexcept { return users.load() != 0; }

 private:
  static std::atomic<int> users;
};

/// Allocates zeroed memory, aligned to a page. All its pages are there afterwards, so it is not the
/// first write that finds no memory.
/// @param bytes At least 1.
/// @return Null if there is not enough memory, or no descriptor.
[[nodiscard]] void* allocate_shared(std::size_t bytes);

/// Frees memory that `allocate_shared` returned, in all processes: those that still map it must not
/// touch it any more. In a child of fork, which shares the memory with its parent, only the child's
/// own mapping ends.
/// @return False if the memory is not from there, so that nothing was freed.
bool free_shared(void* memory) noexcept;

/// Position of some bytes in shared memory.
struct shared_place {
  std::uint64_t region = 0;  ///< number of the allocation; never used again in this process
  int descriptor = -1;       ///< the region's; valid until it is freed
  std::size_t region_bytes = 0;
  std::size_t offset = 0;
};

/// Where some bytes are in shared memory. Empty if not all of them are in one region of it.
[[nodiscard]] std::optional<shared_place> find_shared(const void* memory, std::size_t bytes);

/// Whether a region was not freed yet.
[[nodiscard]] bool is_shared_region(std::uint64_t region);
/// Number of regions that were freed so far in this process.
[[nodiscard]] std::uint64_t freed_shared_regions() noexcept;

}  // namespace feedline::detail
