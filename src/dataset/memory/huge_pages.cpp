#include <feedline/dataset/memory_dataset.hpp>

#include "detail/arithmetic.hpp"
#include "rows/row_storage.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

void move_to_huge_pages(std::span<const std::byte> bytes) noexcept {
  using detail::huge_page_bytes;
  constexpr int collapse = 25;  // MADV_COLLAPSE of Linux 6.1, which many headers do not have yet
  if (bytes.size() < detail::least_on_huge_pages) return;
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::size_t before = detail::round_up(address, huge_page_bytes) - address;
  const std::size_t whole = (bytes.size() - before) / huge_page_bytes * huge_page_bytes;
  void* const first = const_cast<std::byte*>(bytes.data()) + before;
  // Wishes: without them all works, only slower.
  (void)::madvise(first, whole, MADV_HUGEPAGE);
  (void)::madvise(first, whole, collapse);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
