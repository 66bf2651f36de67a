#pragma once

#include "detail/checksums/sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace feedline::detail {

struct answer_verdict;

/// A checksum of a whole object, from S3's headers x-amz-checksum-*.
///
/// An object that was stored in parts may have a composite one, a checksum of the parts' checksums:
/// without the parts' borders it cannot be compared. An ETag is never taken for a checksum: it is
/// an MD5 only of some objects of some stores, and does not say so.
struct object_checksum {
  /// The one that costs least first.
  enum class kind : std::uint8_t { crc32c, crc32, crc64nvme, sha256, none };

  kind what = kind::none;
  std::string text = {};  ///< base64
  bool is_composite = false;

  /// Takes a header. @param name The part after "x-amz-checksum-", in lower case.
  void add(std::string_view name, std::string_view value);
};

/// The checksum of bytes that come one after the other.
class running_checksum {
 public:
  /// Nothing if there is none, or it cannot be compared.
  [[nodiscard]] static std::optional<running_checksum> of(const object_checksum& told);

  void add(std::span<const std::byte> bytes) noexcept;
  /// In base64, as S3 writes it.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] answer_verdict judge(const object_checksum& told) const;

 private:
  explicit running_checksum(object_checksum::kind what) noexcept : what_{what} {}

  object_checksum::kind what_;
  std::uint64_t crc_ = 0;
  sha256 sha_;
};

}  // namespace feedline::detail
