#pragma once

#include <feedline/error.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace feedline::detail {

/// Rethrows what a dataset inside another one threw, in the outer one's terms: path, field, offset
/// and message are kept, the sample becomes the outer dataset's, and the message says which sample
/// of what that was. The original is nested (`std::rethrow_if_nested`), so its type is not lost.
/// Call it in the handler of `inner`.
/// @param sample Index in the outer dataset; nothing if unknown.
/// @param what   Names the inner dataset: "part 1 of a concatenation".
[[noreturn]] inline void rethrow_as(const dataset_error& inner, std::optional<std::uint64_t> sample,
                                    const std::string& what) {
  dataset_location where = inner.where();
  where.sample = sample;
  const std::string place =
      inner.sample() ? "sample " + std::to_string(*inner.sample()) + " of " + what : what;
  std::throw_with_nested(dataset_error{std::move(where), inner.message() + " (" + place + ")"});
}

/// What the exception that is being handled says.
[[nodiscard]] inline std::string current_words() {
  try {
    throw;
  } catch (const std::exception& cause) {
    return cause.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace feedline::detail
