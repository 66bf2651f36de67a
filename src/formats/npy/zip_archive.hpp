#pragma once

#include "io/byte_source.hpp"
#include "io/random_file.hpp"

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

/// A zip archive, read by libzip. One thread.
class zip_archive {
 public:
  /// @throws dataset_error: no zip archive, damaged, or feedline was built without libzip.
  explicit zip_archive(random_file_ptr file);
  zip_archive(const zip_archive&) = delete;
  zip_archive& operator=(const zip_archive&) = delete;
  ~zip_archive();

  [[nodiscard]] const std::vector<zip_member>& members() const noexcept;

  /// A member's bytes, decompressed; who reads to the end has their checksum verified. The archive
  /// must outlive them.
  /// @throws dataset_error
  [[nodiscard]] std::unique_ptr<byte_source> open(std::size_t member, const file_field& name) const;

  /// Where in the file the bytes of a member begin that is not compressed; nothing where they do not
  /// all lie there as they are.
  /// @throws dataset_error
  [[nodiscard]] std::optional<std::uint64_t> place(std::size_t member,
                                                   const file_field& name) const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace feedline::detail
