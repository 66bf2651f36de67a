#include "device/host_memory.hpp"

#include "detail/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace feedline::detail {
namespace {

constexpr std::size_t no_byte_limit = std::numeric_limits<std::size_t>::max();

/// The number after a name, in a file of names and numbers.
std::optional<std::size_t> number_of(const std::filesystem::path& path, const std::string& wanted) {
  std::ifstream file{path};
  std::string name;
  std::size_t number = 0;
  for (std::string rest; file >> name >> number; std::getline(file, rest))
    if (name == wanted) return number;
  return std::nullopt;
}

std::optional<std::size_t> number_in(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::size_t number = 0;
  return file >> number ? std::optional{number} : std::nullopt;
}

/// Bytes that a group has left; no limit if its limit is no number ("max").
std::size_t left_in(const std::filesystem::path& group, const char* limit, const char* usage,
                    const char* inactive) {
  const auto allowed = number_in(group / limit);
  const auto used = number_in(group / usage);
  if (!allowed || !used) return no_byte_limit;
  // The system takes pages of files back when memory is short.
  const std::size_t files = number_of(group / "memory.stat", inactive).value_or(0);
  const std::size_t needed = *used - std::min(*used, files);
  return *allowed - std::min(*allowed, needed);
}

}  // namespace

std::optional<std::size_t> free_host_bytes(const std::filesystem::path& root) {
  const auto kibibytes = number_of(root / "proc/meminfo", "MemAvailable:");
  std::size_t left = kibibytes ? *kibibytes << 10 : no_byte_limit;
  for (const auto& group : control_groups(root, "memory")) {
    left = std::min(
        {left, left_in(group, "memory.max", "memory.current", "inactive_file"),
         left_in(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")});
  }
  return left == no_byte_limit ? std::nullopt : std::optional{left};
}

}  // namespace feedline::detail
