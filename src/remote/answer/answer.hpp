#pragma once

#include "remote/answer/object_checksum.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace feedline::detail {

/// The beginning of an answer, before its body: the status line and the headers that matter.
struct http_answer {
  /// Bytes [begin, end) of `total`. All 0 with "*", where only the total is told.
  struct content_range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::optional<std::uint64_t> total = {};
    bool is_unsatisfied = false;  ///< "bytes */TOTAL"
  };

  int status = 0;
  std::string reason = {};
  std::optional<std::uint64_t> length = {};
  std::optional<content_range> range = {};
  std::string etag = {};
  std::string last_modified = {};
  std::string encoding = {};  ///< Content-Encoding, unless it is "identity"
  std::string location = {};
  /// The checksum that the store has of the whole object.
  object_checksum checksum = {};
  std::string region = {};  ///< the region in which S3 has the bucket
  std::optional<std::chrono::seconds> retry_after = {};
  std::string garbled = {};  ///< name of a header above whose value cannot be understood

  /// Takes one line, with or without its end. A status line begins a new answer: the one before was
  /// a redirect's, or "100 Continue".
  void add(std::string_view line);

  /// "503 Slow Down"; printable.
  [[nodiscard]] std::string words() const;
};

}  // namespace feedline::detail
