#pragma once

#include "remote/answer/answer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace feedline::detail {

/// Why a request failed, as it is counted.
enum class remote_fault : std::uint8_t {
  none,
  throttled,
  server_error,
  unreachable,
  reset,
  stalled,
  wrong_length,
  ignored_range,
  garbage,
  wrong_checksum,
  refused,  ///< from here on a retry is of no use
  changed,
  missing,
};

/// The version that an object had when it was opened.
struct object_pin {
  std::uint64_t size = 0;
  std::string etag = {};           ///< empty: the server tells none
  std::string last_modified = {};  ///< the same

  /// A weak tag says that two contents mean the same, not that their bytes are equal, and servers
  /// never match one in If-Match (RFC 9110, 13.1.1).
  [[nodiscard]] bool has_strong_tag() const noexcept {
    return !etag.empty() && !etag.starts_with("W/");
  }
};

/// The bytes that a request asks for.
struct wanted_bytes {
  enum class kind : std::uint8_t {
    opening,  ///< the first bytes of an object, and its pin: from 0, fewer if it is smaller
    range,    ///< [begin, begin + bytes) of an object that is pinned
    text,     ///< a whole answer of unknown length, such as a listing
  };
  kind what = kind::opening;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  object_pin pin = {};  ///< with `range`
};

/// Whether an answer's body can be taken. Pure.
struct answer_verdict {
  remote_fault fault = remote_fault::none;
  std::string words = {};  ///< the server's fault, and a remedy; empty without a fault

  [[nodiscard]] bool may_retry() const noexcept {
    return fault != remote_fault::none && fault < remote_fault::refused;
  }
  /// Whether it mostly comes back: then it is told after few tries, before the deadline.
  [[nodiscard]] bool is_likely_lasting() const noexcept {
    return fault == remote_fault::ignored_range || fault == remote_fault::garbage ||
           fault == remote_fault::wrong_checksum;
  }
};

/// @param answer With all its headers; no redirect's, unless redirects are not followed.
[[nodiscard]] answer_verdict judge_answer(const wanted_bytes& wanted, const http_answer& answer);

/// How many bytes of an object come with an answer that was taken: those of its range, or all.
[[nodiscard]] std::optional<std::uint64_t> body_bytes(const http_answer& answer) noexcept;

/// Whether an answer that was taken has all bytes of its object.
[[nodiscard]] bool has_whole_object(const http_answer& answer) noexcept;

/// The pin of an object whose opening was answered.
[[nodiscard]] object_pin pin_of(const http_answer& answer);

/// A store's own words in the body of an error, as S3 sends them (Code and Message of its XML);
/// empty if there are none. Nothing else of such a body is shown, since it may quote credentials.
[[nodiscard]] std::string store_words(std::string_view body);

/// Whether an answer 416 says in its body that the object is empty, as S3's do without a
/// Content-Range.
[[nodiscard]] bool says_empty(std::string_view body);

}  // namespace feedline::detail
