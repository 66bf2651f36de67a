#include "detail/keep_loaded.hpp"

#include <dlfcn.h>

namespace feedline::detail {

void keep_loaded() noexcept {
  // No lock: the loader's own is taken here, and whoever loads a library has it already.
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&keep_loaded), &own) == 0) return;
  // Opened once more, and never closed. A program is not found by its name, and needs none of this.
  (void)::dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace feedline::detail
