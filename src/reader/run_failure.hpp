#pragma once

#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "staging/staging_slot.hpp"

#include <cstdint>
#include <exception>
#include <utility>

namespace feedline::detail {

/// The exception being handled, as the failure of a slot whose samples from `begin` on are
/// unavailable.
[[nodiscard]] inline slot_failure current_failure(const slot_work& work, std::uint64_t begin,
                                                  std::uint64_t batch_size) noexcept {
  const std::uint64_t batch = begin / batch_size;
  stage_location where = work.at(stage::reader, batch);
  const std::exception_ptr cause = std::current_exception();
  try {
    std::rethrow_exception(cause);
  } catch (const dataset_error& failure) {
    where.sample = failure.sample();
    try {
      where.path = failure.path();
    } catch (...) {
      // No memory for it: the cause has it.
    }
  } catch (...) {
    // Another exception knows no sample and no path.
  }
  return {{std::move(where), cause}, position{work.first.value + begin}, batch};
}

}  // namespace feedline::detail
