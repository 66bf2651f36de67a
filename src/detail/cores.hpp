#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Cores of the host by their numbers, ascending.
using core_list = std::vector<unsigned>;

/// Cores that the calling thread may run on, by its affinity mask; empty if that is unknown.
[[nodiscard]] core_list allowed_cores();

/// A list of cores in the system's format, "0-3,8,10-11"; empty if the text is invalid.
[[nodiscard]] core_list parse_cores(std::string_view text);

/// Cores of the NUMA node that a PCI device is attached to; all if the host has one node, or does
/// not tell which; empty if there is no such device.
/// @param root    Where `sys` is: "/".
/// @param address "0000:3b:00.0", in letters of either case.
[[nodiscard]] core_list cores_near(const std::filesystem::path& root, std::string address);

/// The cores of `near` that the calling thread may run on. Empty if it may run on none of them, or
/// on no others: then there is nothing to choose.
[[nodiscard]] core_list choose_cores(const core_list& near);

/// From now on the calling thread, and all threads that it starts, run on these cores alone. It
/// stays as it is if there are none, or the system refuses.
void bind_this_thread(const core_list& cores) noexcept;

/// Calls `body` on cores near the memory that it touches first: on a thread that is bound to
/// `choose_cores(near)`; on the calling one if there is nothing to choose, or no thread is
/// available. Returns when it is done, and throws what it throws.
void run_near(const core_list& near, const std::function<void()>& body);

}  // namespace feedline::detail
