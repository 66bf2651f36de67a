#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include <dlfcn.h>

namespace feedline::test {

/// What the library in cuFile's stead is told, and what it tells.
struct cufile_script {
  int driver_code = 0;
  int register_code = 0;
  long read_result = 0;  ///< below 0: that is what a read gives
  std::size_t most_at_once = std::numeric_limits<std::size_t>::max();  ///< bytes of a read
  /// Puts bytes into device memory; null: it is the host's.
  void (*copy)(void* to, const void* from, std::size_t bytes) = nullptr;

  std::atomic<int> driver_opens{0};
  std::atomic<int> registered{0};  ///< files, now
  std::atomic<int> reads{0};
  std::atomic<bool> is_direct{false};  ///< the last one registered was opened past the page cache
};

/// The script of the library that stands in cuFile's stead for this program.
inline cufile_script& cufile() {
  void* const library = ::dlopen("libcufile.so.0", RTLD_NOW);
  using give = cufile_script* (*)();
  const auto script =
      library == nullptr ? nullptr : reinterpret_cast<give>(::dlsym(library, "cufile_fake_script"));
  if (script == nullptr) throw std::runtime_error{"libcufile.so.0 is not the tests' own"};
  return *script();
}

}  // namespace feedline::test
