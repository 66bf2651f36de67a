#pragma once

#include "io/byte_file.hpp"
#include "io/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// A member as the archive describes it. Nothing of it is more than a claim.
struct zip_member {
  std::string name;
  std::uint64_t bytes = 0;  ///< once decompressed
  bool is_stored = false;   ///< not compressed
  bool is_encrypted = false;
};

/// A zip archive. One thread.
class zip_archive {
 public:
  zip_archive() = default;
  zip_archive(const zip_archive&) = delete;
  zip_archive& operator=(const zip_archive&) = delete;
  virtual ~zip_archive() = default;

  [[nodiscard]] virtual const std::vector<zip_member>& members() const noexcept = 0;

  /// A member's bytes, decompressed; its checksum is verified when all are read. The archive must
  /// outlive the source.
  /// @throws dataset_error
  [[nodiscard]] virtual std::unique_ptr<byte_source> open(std::size_t member,
                                                          const file_field& name) = 0;

  /// Offset in the file of an uncompressed member's bytes; nothing if they are not all stored there
  /// unchanged.
  /// @throws dataset_error
  [[nodiscard]] virtual std::optional<std::uint64_t> place(std::size_t member,
                                                           const file_field& name) = 0;
};

/// @throws dataset_error: no zip archive, damaged, or feedline was built without libzip.
[[nodiscard]] std::unique_ptr<zip_archive> open_zip_archive(byte_file_ptr file);

}  // namespace feedline::detail
