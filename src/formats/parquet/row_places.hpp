#pragma once

#include <cstdint>
#include <vector>

namespace feedline::detail {

/// A sample of a request: where it is stored, and its index in the request.
struct row_place {
  std::uint32_t group;
  std::uint32_t in_request;
  std::uint64_t row;  ///< in the row group
};

/// Sorts rows by their row groups; those of a group keep their order. Orders of chunks read few
/// groups at a time, whose rows are counted instead of compared with one another.
/// @param memory Used for the result; its content is lost.
void sort_by_group(std::vector<row_place>& places, std::vector<row_place>& memory);

}  // namespace feedline::detail
