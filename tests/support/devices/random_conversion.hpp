#pragma once

#include <feedline/backend/assembly.hpp>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace feedline::test {

/// Any conversion there can be, on small rows; copies and one-hot now and then.
[[nodiscard]] field_conversion random_conversion(std::mt19937& random);

/// A row for it: any bits, so that all numbers, infinities and NaNs come up; or, for one-hot,
/// mostly a class.
[[nodiscard]] std::vector<std::byte> random_row(const field_conversion& conversion,
                                                std::mt19937& random);

[[nodiscard]] std::size_t row_bytes_of(const field_conversion& conversion, std::size_t if_copied);
[[nodiscard]] std::size_t to_row_bytes_of(const field_conversion& conversion,
                                          std::size_t if_copied);

/// Description for failed tests.
[[nodiscard]] std::string describe(const field_conversion& conversion);

}  // namespace feedline::test
