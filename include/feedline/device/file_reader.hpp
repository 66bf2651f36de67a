#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Reads files into device memory past the host's: direct storage. What it keeps for a file it
/// keeps until it goes: files stay open as long. Threads: any, several at once.
class file_reader {
 public:
  file_reader() = default;
  file_reader(const file_reader&) = delete;
  file_reader& operator=(const file_reader&) = delete;
  virtual ~file_reader() = default;

  /// Why it cannot read a file; empty if it can. May block.
  /// @param file A descriptor, open for reading.
  [[nodiscard]] virtual std::string refusal(int file) = 0;
  /// Reads bytes into device memory: when it returns they are there, for work on any stream that is
  /// issued then. Blocks.
  /// @param bytes At least 1: all, or it throws.
  /// @throws device_error saying what was refused.
  virtual void read(int file, std::uint64_t offset, std::size_t bytes, void* to) = 0;
};

/// What makes these.
class file_readers {
 public:
  file_readers() = default;
  file_readers(const file_readers&) = delete;
  file_readers& operator=(const file_readers&) = delete;
  virtual ~file_readers() = default;

  /// Costs little until the reader is used.
  [[nodiscard]] virtual std::unique_ptr<file_reader> make() const = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
