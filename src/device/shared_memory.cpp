#include "device/shared_memory.hpp"

#include "detail/arithmetic.hpp"
#include "detail/own_process.hpp"
#include "device/host_memory.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

namespace feedline::detail {
namespace {

struct region {
  std::uint64_t number;
  int descriptor;
  std::size_t bytes;
  own_process maker;
};

/// The regions of this process by address. Never destroyed, because memory may be freed after all
/// static objects.
class region_table {
 public:
  static region_table& of_process() {
    static auto* const table = new region_table;
    return *table;
  }

  void add(const std::byte* memory, int descriptor, std::size_t bytes) {
    const std::scoped_lock lock{mutex_};
    regions_.emplace(memory, region{next_++, descriptor, bytes, own_process{}});
  }

  std::optional<region> take(const std::byte* memory) noexcept {
    const std::scoped_lock lock{mutex_};
    const auto found = regions_.find(memory);
    if (found == regions_.end()) return std::nullopt;
    const region taken = found->second;
    regions_.erase(found);
    freed_.fetch_add(1);
    return taken;
  }

  std::optional<shared_place> find(const std::byte* memory, std::size_t bytes) {
    const std::scoped_lock lock{mutex_};
    const auto after = regions_.upper_bound(memory);
    if (after == regions_.begin()) return std::nullopt;
    const auto& [begin, found] = *std::prev(after);
    const auto offset = static_cast<std::size_t>(memory - begin);
    if (offset > found.bytes || bytes > found.bytes - offset) return std::nullopt;
    return shared_place{found.number, found.descriptor, found.bytes, offset};
  }

  bool has(std::uint64_t number) {
    const std::scoped_lock lock{mutex_};
    return std::ranges::any_of(regions_,
                               [&](const auto& each) { return each.second.number == number; });
  }

  [[nodiscard]] std::uint64_t freed() const noexcept { return freed_.load(); }

 private:
  region_table() {
    // A child of fork may free memory, so no other thread may hold the lock when it is made.
    const auto lock = [] { of_process().mutex_.lock(); };
    const auto unlock = [] { of_process().mutex_.unlock(); };
    if (::pthread_atfork(lock, unlock, unlock) != 0) throw std::bad_alloc{};
  }

  std::mutex mutex_;
  std::map<const std::byte*, region> regions_;
  std::uint64_t next_ = 1;
  std::atomic<std::uint64_t> freed_{0};
};

/// Gives a descriptor's memory all its pages. @return Whether there are enough.
bool fill(int descriptor, std::size_t bytes) {
  // The system does not refuse more than it has: it would end some process.
  if (const auto free = free_host_bytes(); free && bytes > *free) return false;
  int refused = 0;
  do {
    refused = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  } while (refused == EINTR);
  return refused == 0;
}

}  // namespace

std::atomic<int> shared_staging::users{0};

void* allocate_shared(std::size_t bytes) {
  region_table& table = region_table::of_process();
  const std::size_t whole = round_up(bytes, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  const int descriptor = ::memfd_create("feedline-staging", MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  void* memory = MAP_FAILED;
  try {
    if (fill(descriptor, whole))
      memory =
          ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (memory != MAP_FAILED) {
      table.add(static_cast<std::byte*>(memory), descriptor, whole);
      return memory;
    }
  } catch (...) {
    if (memory != MAP_FAILED) ::munmap(memory, whole);
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  return nullptr;
}

bool free_shared(void* memory) noexcept {
  const auto freed = region_table::of_process().take(static_cast<std::byte*>(memory));
  if (!freed) return false;
  ::munmap(memory, freed->bytes);
  // Other processes may map it still: the pages go at once.
  if (freed->maker.is_this()) (void)!::ftruncate(freed->descriptor, 0);
  ::close(freed->descriptor);
  return true;
}

std::optional<shared_place> find_shared(const void* memory, std::size_t bytes) {
  return region_table::of_process().find(static_cast<const std::byte*>(memory), bytes);
}

bool is_shared_region(std::uint64_t region) {
  return region_table::of_process().has(region);
}

std::uint64_t freed_shared_regions() noexcept {
  return region_table::of_process().freed();
}

}  // namespace feedline::detail
