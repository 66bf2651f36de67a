#pragma once

#include <feedline/error.hpp>

#include <exception>

namespace feedline::detail {

/// Says where an exception was met that says nothing about the data: it is nested. So an error
/// policy can tell a user's function that has a fault from a sample that has one.
class foreign_error : public dataset_error {
 public:
  using dataset_error::dataset_error;
};

/// Whether an exception is about the data: a dataset_error in which no foreign one is nested.
[[nodiscard]] inline bool is_of_data(const std::exception_ptr& thrown) noexcept try {
  std::rethrow_exception(thrown);
} catch (const foreign_error&) {
  return false;
} catch (const dataset_error& error) {
  const auto* const outer = dynamic_cast<const std::nested_exception*>(&error);
  if (outer == nullptr || !outer->nested_ptr()) return true;
  try {
    outer->rethrow_nested();
  } catch (const dataset_error&) {
    return is_of_data(std::current_exception());
  } catch (...) {
    return true;  // the cause that a dataset tells with its own error
  }
} catch (...) {
  return false;
}

}  // namespace feedline::detail
