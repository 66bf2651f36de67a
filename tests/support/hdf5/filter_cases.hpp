#pragma once

#include "hdf5/filter/filters.hpp"
#include "support/hdf5/encoders.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace feedline::test {

/// A filter as a writer uses it.
struct filter_case {
  std::string name;
  detail::hdf5_filter filter;
  std::size_t unit;  ///< it takes multiples of this many bytes
  std::function<bytes(bytes_view raw)> encode;
};

/// Every filter that feedline decodes and whose library is there, in its variants.
[[nodiscard]] std::vector<filter_case> filter_cases();

/// Bytes of a kind, always the same.
struct content {
  std::string name;
  std::function<bytes(std::size_t size)> make;
};

/// From what compresses to nothing to what does not compress.
[[nodiscard]] std::vector<content> contents();

/// The bytes that come out.
[[nodiscard]] bytes decoded(const detail::hdf5_filters& filters, bytes_view stored,
                            std::size_t size, std::uint32_t mask = 0, bool verify = true);

}  // namespace feedline::test
