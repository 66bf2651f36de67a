#pragma once

#include <feedline/device/assembly.hpp>

#include "cuda/assembly_part.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// A part of an assembly with all that any kind of part needs.
struct planned_part {
  assembly_part part;
  conversion by;  ///< unless it copies or keeps
};

/// The parts that one field makes.
struct field_parts {
  static constexpr std::size_t most = 3;

  std::array<planned_part, most> parts;
  std::size_t count = 0;
};

/// @throws usage_error if something has more than a kernel counts: 2^31 samples, or runs times their
/// samples, or elements or bytes of a row.
[[nodiscard]] slot_frame plan_frame(const assembly& work);

/// Cuts a field's share of the work into parts, each with the widest vectors and the number of blocks
/// that suit it; `first_block` is the launch's to say. @throws as `plan_frame`.
void plan_field(const assembly& work, std::size_t place, field_parts& parts);

/// Whether all fields are copied as they are: a lighter kernel does.
[[nodiscard]] bool only_copies(const assembly& work) noexcept;

}  // namespace feedline::detail
