#pragma once

#include <feedline/error.hpp>
#include <feedline/ragged/dataset.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace feedline::detail {

/// Refuses a run of elements that a ragged dataset has not, so that no caller's mistake can become a
/// read out of bounds.
/// @param name Of its field. @throws dataset_error
inline void require_elements(const ragged_dataset& of, const element_run& run,
                             std::size_t element_bytes, const std::string& name) {
  const std::uint64_t sample = run.sample.value;
  if (sample >= of.size()) [[unlikely]]
    throw dataset_error{{.path = {}, .field = name, .sample = sample},
                        "there is no such sample: the dataset has " + std::to_string(of.size())};
  const std::uint64_t length = of.length(run.sample);
  const std::uint64_t count = run.out.size() / element_bytes;
  if (run.first > length || count > length - run.first || run.out.size() % element_bytes != 0)
      [[unlikely]]
    throw dataset_error{{.path = {}, .field = name, .sample = sample},
                        std::to_string(run.out.size()) + " bytes from element " +
                            std::to_string(run.first) + " on are asked for, but it has " +
                            std::to_string(length) + " elements of " +
                            std::to_string(element_bytes) + " bytes"};
}

}  // namespace feedline::detail
