#pragma once

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedline::test {

/// Bytes in memory as a file without a name.
class bytes_as_file final : public detail::byte_file {
 public:
  bytes_as_file(std::span<const std::byte> bytes, detail::file_access how)
      : byte_file{{}, bytes.size(), {}},
        bytes_{bytes.begin(), bytes.end()},
        is_mapped_{how != detail::file_access::by_calls} {}

  [[nodiscard]] std::span<const std::byte> mapped() const noexcept override {
    return is_mapped_ ? std::span{bytes_} : std::span<const std::byte>{};
  }
  void require_unchanged() const override {}
  [[nodiscard]] std::string version() const override { return {}; }
  [[nodiscard]] bool is_cold() const noexcept override { return false; }

 private:
  void do_read(std::span<const detail::byte_read> parts) const override {
    for (const auto& [offset, out] : parts)
      std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

  const std::vector<std::byte> bytes_;
  const bool is_mapped_;
};

/// A file of these bytes that lies in memory and has no path.
[[nodiscard]] inline detail::byte_file_ptr memory_file(
    std::span<const std::byte> bytes, detail::file_access how = detail::file_access::automatic) {
  return std::make_shared<const bytes_as_file>(bytes, how);
}

}  // namespace feedline::test
