#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// All values of one field, sample after sample, read now.
template <class T>
struct field_values {
  std::vector<T> values;
  std::vector<std::uint64_t> shape;  ///< shape of a sample
};

/// @param T std::int64_t: for integers and booleans, of which an u64 of 2^63 or more is refused;
///          double: for these, f32 and f64.
/// @param who Begins the message: "weighted".
/// @param max_dimensions Most dimensions of a sample's shape.
/// @throws usage_error if the dataset is null or has no such field, or the field has another type
///         or more dimensions; dataset_error if it cannot be read.
template <class T>
[[nodiscard]] field_values<T> read_field(const char* who, const dataset_ptr& of,
                                         const std::string& field_name,
                                         std::size_t max_dimensions = 0);

extern template field_values<std::int64_t> read_field(const char*, const dataset_ptr&,
                                                      const std::string&, std::size_t);
extern template field_values<double> read_field(const char*, const dataset_ptr&, const std::string&,
                                                std::size_t);

}  // namespace feedline::detail
