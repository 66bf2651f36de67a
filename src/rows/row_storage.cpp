#include "rows/row_storage.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace feedline::detail {

row_storage::row_storage(std::size_t bytes) : size_{bytes} {
  const auto alignment = std::align_val_t{bytes < least_on_huge_pages ? 64 : huge_page_bytes};
  auto* memory = static_cast<std::byte*>(::operator new(bytes, alignment));
  memory_ = {memory, [alignment](std::byte* freed) { ::operator delete(freed, alignment); }};
  if (bytes >= least_on_huge_pages)
    (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it all works, only slower
}

void row_storage::grow(std::size_t bytes) {
  row_storage larger{bytes};
  if (size_ != 0) std::memcpy(larger.memory_.get(), memory_.get(), size_);
  *this = std::move(larger);
}

}  // namespace feedline::detail
