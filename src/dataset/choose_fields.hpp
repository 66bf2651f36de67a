#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Checks that fields can belong to a dataset: at least one, with distinct names, and samples that
/// have bytes.
/// @param who Begins the message: "map".
/// @return Bytes of one sample of each field.
/// @throws usage_error naming the field at fault.
std::vector<std::size_t> checked_row_bytes(std::string_view who, std::span<const field> fields);

/// A dataset with some of another's fields, in the order given; with no names, the other itself.
/// @throws usage_error if there is no such field, or one is named twice.
[[nodiscard]] dataset_ptr choose_fields(dataset_ptr of, const std::vector<std::string>& names);

/// Indices of the named fields among all. @param who Begins the message: "open".
/// @throws as above.
[[nodiscard]] std::vector<std::size_t> places_of(const char* who, const std::vector<field>& all,
                                                 const std::vector<std::string>& names);

/// The same dataset with the fields at these indices only. Uses the dataset's own way of leaving
/// others out, if it has one; otherwise reads all fields and drops the unwanted ones.
/// @param places Indices of its fields, in the order wanted; at least one, none twice.
[[nodiscard]] dataset_ptr with_fields(const dataset_ptr& of, std::span<const std::size_t> places);

/// The same, though all fields are read.
[[nodiscard]] dataset_ptr picked(const dataset_ptr& of, std::span<const std::size_t> places);

}  // namespace feedline::detail
