#include <feedline/io/map_files.hpp>

#include <atomic>

namespace feedline {
namespace {

// A static, as the handler of SIGBUS is that it keeps away. It needs no construction.
constinit std::atomic<bool> is_allowed{true};

}  // namespace

void map_files(bool allowed) noexcept {
  is_allowed.store(allowed);
}

bool may_map_files() noexcept {
  return is_allowed.load();
}

}  // namespace feedline
