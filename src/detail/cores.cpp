#include "detail/cores.hpp"

#include <system_error>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <utility>

#include <sched.h>

namespace feedline::detail {
namespace {

constexpr std::size_t max_cores = 1 << 16;

/// An affinity mask with room for a number of cores; null if there is no memory.
using core_mask = std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)>;
core_mask make_mask(std::size_t cores) noexcept {
  core_mask mask{CPU_ALLOC(cores), [](cpu_set_t* of) { CPU_FREE(of); }};
  if (mask) CPU_ZERO_S(CPU_ALLOC_SIZE(cores), mask.get());
  return mask;
}

}  // namespace

core_list allowed_cores() {
  // The kernel wants room for all cores it may ever have.
  for (std::size_t count = 1024; count <= max_cores; count *= 4) {
    const core_mask mask = make_mask(count);
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (!mask || ::sched_getaffinity(0, bytes, mask.get()) != 0) continue;
    core_list cores;
    for (unsigned core = 0; core < count; ++core)
      if (CPU_ISSET_S(core, bytes, mask.get())) cores.push_back(core);
    return cores;
  }
  return {};
}

core_list parse_cores(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  core_list cores;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto take = [&](unsigned& number) {
    const auto taken = std::from_chars(at, end, number);
    at = taken.ptr;
    return taken.ec == std::errc{} && number < max_cores;
  };
  while (at != end) {
    unsigned first = 0;
    if (!take(first) || (!cores.empty() && first <= cores.back())) return {};
    unsigned last = first;
    if (at != end && *at == '-' && (++at, !take(last) || last < first)) return {};
    while (first <= last) cores.push_back(first++);
    if (at != end && (*at++ != ',' || at == end)) return {};
  }
  return cores;
}

core_list cores_near(const std::filesystem::path& root, std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  std::ifstream file{root / "sys/bus/pci/devices" / address / "local_cpulist"};
  std::string line;
  std::getline(file, line);
  return parse_cores(line);
}

core_list choose_cores(const core_list& near) {
  const core_list allowed = allowed_cores();
  core_list chosen;
  std::set_intersection(allowed.begin(), allowed.end(), near.begin(), near.end(),
                        std::back_inserter(chosen));
  return chosen.size() == allowed.size() ? core_list{} : chosen;
}

void bind_this_thread(const core_list& cores) noexcept {
  if (cores.empty()) return;
  const std::size_t count = std::size_t{cores.back()} + 1;
  const core_mask mask = make_mask(count);
  if (!mask) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  for (const unsigned core : cores) CPU_SET_S(core, bytes, mask.get());
  (void)::sched_setaffinity(0, bytes, mask.get());
}

void run_near(const core_list& near, const std::function<void()>& body) {
  const core_list cores = choose_cores(near);
  std::future<void> done;
  try {
    if (!cores.empty()) {
      done = std::async(std::launch::async, [&] {
        bind_this_thread(cores);
        body();
      });
    }
  } catch (const std::system_error&) {  // no thread is available
  }
  done.valid() ? done.get() : body();
}

}  // namespace feedline::detail
