#include "detail/keep_loaded.hpp"

#include <dlfcn.h>

namespace feedline::detail {

void keep_loaded() noexcept {
  // No lock: `dladdr` takes the dynamic loader's own, which a thread that loads a library already
  // holds.
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&keep_loaded), &own) == 0) return;
  // Opened once more, and never closed. The name of a program is not found here, and a program does
  // not need this.
  (void)::dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace feedline::detail
