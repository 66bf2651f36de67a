#include <feedline/dataset/memory_dataset.hpp>

#include "support/checks/catch.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;

namespace {

/// The bytes on huge pages of the mapping that holds an address, as the system tells; 0: none.
std::size_t huge_bytes_around(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps{"/proc/self/smaps"};
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words{line};
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash >> end && dash == '-')
      is_here = first <= wanted && wanted < end;
    constexpr const char* huge = "AnonHugePages:";
    if (is_here && line.rfind(huge, 0) == 0)
      return std::stoull(line.substr(std::string{huge}.size())) * 1024;
  }
  return 0;
}

/// Whether the system moves memory to huge pages at all.
bool has_huge_pages() {
  std::vector<std::byte> some(std::size_t{6} << 20, std::byte{1});
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(some.data());
  std::byte* const first = some.data() + ((address + page - 1) / page * page - address);
  constexpr int collapse = 25;  // MADV_COLLAPSE
  return ::madvise(first, page, MADV_HUGEPAGE) == 0 && ::madvise(first, page, collapse) == 0;
}

}  // namespace

TEST_CASE("huge pages: a large vector that a dataset takes over is moved to huge pages",
          "[dataset][host]") {
  if (!has_huge_pages()) FEEDLINE_SKIP("huge pages: the system gives none");
  constexpr std::size_t count = std::size_t{12} << 18;  // 12 MiB
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 7U);
  const auto* const place = values.data();
  const memory_field field = own("n", std::move(values));
  REQUIRE(field.bytes.data() == reinterpret_cast<const std::byte*>(place));
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += place[i] != i + 7 ? 1 : 0;
  CHECK(wrong == 0);
  // All but the vector's ends, which belong to a different mapping.
  CHECK(huge_bytes_around(place + count / 2) >= std::size_t{8} << 20);
}
