#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// A file's bytes, and whether they had to be waited for.
struct whole_file {
  std::span<const std::byte> bytes;
  bool was_in_memory = true;
};

/// Reads a file from its beginning to its end, as the system tells it when it is opened.
/// @param memory Holds the bytes; grows to the largest file and stays.
/// @throws dataset_error naming the file: unreadable, no regular file, larger than 1 GiB, cut short
/// meanwhile.
[[nodiscard]] whole_file read_whole_file(const std::string& path, std::vector<std::byte>& memory);
/// The same, into memory that the caller provides for a number of bytes.
[[nodiscard]] whole_file read_whole_file(
    const std::string& path, const std::function<std::span<std::byte>(std::size_t)>& room);

/// Asks the system to bring a file into memory; does not wait for the bytes.
void will_need_whole_file(const std::string& path) noexcept;

}  // namespace feedline::detail
