#include "device/shared_memory.hpp"

#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>

#include "support/checks/catch.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

using namespace feedline;
using detail::allocate_shared;
using detail::find_shared;
using detail::free_shared;

namespace {

std::size_t page() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// A second mapping of the region, as another process has it.
class other_mapping {
 public:
  explicit other_mapping(const detail::shared_place& place)
      : bytes_{place.region_bytes},
        memory_{::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, place.descriptor, 0)} {
    REQUIRE(memory_ != MAP_FAILED);
  }
  ~other_mapping() { ::munmap(memory_, bytes_); }
  other_mapping(const other_mapping&) = delete;
  other_mapping& operator=(const other_mapping&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

}  // namespace

TEST_CASE("shared memory: it is zeroed, page-aligned, and another mapping sees what is written",
          "[device][host]") {
  const std::size_t bytes = 3 * page() + 5;
  auto* const memory = static_cast<std::byte*>(allocate_shared(bytes));
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % page() == 0);
  CHECK(std::all_of(memory, memory + bytes, [](std::byte each) { return each == std::byte{0}; }));
  const auto place = find_shared(memory + page() + 1, 2 * page());
  REQUIRE(place);
  CHECK(place->offset == page() + 1);
  CHECK(place->region_bytes == 4 * page());
  const other_mapping other{*place};
  memory[place->offset] = std::byte{7};
  CHECK(other.data()[place->offset] == std::byte{7});
  other.data()[2] = std::byte{9};
  CHECK(memory[2] == std::byte{9});
  CHECK(free_shared(memory));
}

TEST_CASE("shared memory: bytes are found if all of them are in one region", "[device][host]") {
  auto* const memory = static_cast<std::byte*>(allocate_shared(page()));
  const std::vector<std::byte> own(10);
  CHECK(find_shared(memory, page()));
  CHECK_FALSE(find_shared(memory, page() + 1));
  CHECK_FALSE(find_shared(memory + page(), 1));
  CHECK_FALSE(find_shared(memory - 1, 1));
  CHECK_FALSE(find_shared(own.data(), own.size()));
  CHECK_FALSE(find_shared(nullptr, 1));
  CHECK(free_shared(memory));
  CHECK_FALSE(find_shared(memory, 1));
}

TEST_CASE("shared memory: its pages go as soon as it is freed, though others map it",
          "[device][host]") {
  void* const memory = allocate_shared(64 * page());
  const auto place = find_shared(memory, 1);
  REQUIRE(place);
  const other_mapping other{*place};
  const int kept = ::dup(place->descriptor);
  struct stat about {};
  REQUIRE(::fstat(kept, &about) == 0);
  CHECK(about.st_blocks * 512 >= static_cast<long>(64 * page()));
  const std::uint64_t freed = detail::freed_shared_regions();
  CHECK(detail::is_shared_region(place->region));
  CHECK(free_shared(memory));
  CHECK_FALSE(detail::is_shared_region(place->region));
  CHECK(detail::freed_shared_regions() == freed + 1);
  REQUIRE(::fstat(kept, &about) == 0);
  CHECK(about.st_blocks == 0);
  ::close(kept);
}

TEST_CASE("shared memory: a child of fork that frees it takes nothing from its parent",
          "[device][host]") {
  auto* const memory = static_cast<std::byte*>(allocate_shared(page()));
  memory[5] = std::byte{3};
  const pid_t child = ::fork();
  if (child == 0) ::_exit(free_shared(memory) ? 0 : 1);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(memory[5] == std::byte{3});
  CHECK(free_shared(memory));
}

TEST_CASE("shared memory: other memory is not freed, and too much is refused", "[device][host]") {
  std::byte own{};
  CHECK_FALSE(free_shared(&own));
  CHECK_FALSE(free_shared(nullptr));
  CHECK(allocate_shared(std::size_t{1} << 50) == nullptr);
}

TEST_CASE("host device: staging memory is shared while a dataset's samples come from processes",
          "[device][host]") {
  const auto device = make_host_device();
  void* const before = device->allocate(memory_kind::staging, 100);
  std::optional<detail::shared_staging> wanted{std::in_place};
  void* const staging = device->allocate(memory_kind::staging, 100);
  void* const other = device->allocate(memory_kind::device, 100);
  CHECK(find_shared(staging, 100));
  CHECK_FALSE(find_shared(other, 100));
  device->free(memory_kind::staging, before, 100);
  wanted.reset();
  void* const after = device->allocate(memory_kind::staging, 100);
  CHECK_FALSE(find_shared(after, 100));
  device->free(memory_kind::staging, staging, 100);
  CHECK_FALSE(find_shared(staging, 100));
  device->free(memory_kind::staging, after, 100);
  device->free(memory_kind::device, other, 100);
}
