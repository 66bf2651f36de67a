#pragma once

#include <exception>
#include <string>
#include <utility>

namespace feedline::test {

/// Message of a call's exception, if it throws an `Error`; else a text that is no message.
template <class Error, class Call>
[[nodiscard]] std::string message_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& other) {
    return std::string{"[another type of exception] "} + other.what();
  }
  return "[nothing was thrown]";
}

}  // namespace feedline::test
