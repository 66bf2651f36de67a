#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A page of the list of a bucket's objects below a prefix, as ListObjectsV2 answers.
struct s3_page {
  std::vector<std::string> objects;                      ///< whole keys
  std::vector<std::optional<std::uint64_t>> bytes = {};  ///< sizes of the objects that state one
  std::vector<std::string> folders;                      ///< prefixes; each ends in '/'
  bool is_truncated = false;
  std::string next = {};  ///< the token of the next page, if it is truncated
};

/// @throws std::runtime_error if it is no such answer: another document, cut, not XML, with a
/// document type, or truncated without a token.
[[nodiscard]] s3_page read_s3_page(std::string_view xml);

}  // namespace feedline::detail
