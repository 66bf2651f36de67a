#pragma once

#include <feedline/dataset/field.hpp>

#include "python/interpreter/held_object.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::python {

/// How the values in a sample of Python's become fields: written once, from sample 0, and followed
/// for every sample. Any thread with the interpreter's lock.
class sample_values {
 public:
  /// @param structure An index into `leaves`, a dict of structures, or a tuple of structures.
  /// @param leaves For each value: its name; the value in sample 0, or its field; and the
  /// length that it is padded to, or None. As `feedline._samples.describe` returns them.
  /// @param among Gets the Python objects that this holds.
  sample_values(nb::handle structure, nb::handle leaves, held_objects& among);

  [[nodiscard]] const std::vector<field>& fields() const noexcept { return fields_; }
  [[nodiscard]] const std::vector<std::size_t>& row_bytes() const noexcept { return row_bytes_; }
  /// The arguments from which another process makes the same object.
  [[nodiscard]] nb::tuple arguments() const;

  /// Writes the values of a sample.
  /// @param sample Its index, for errors. @param rows For each field: where its value goes.
  /// @throws dataset_error if the sample is not as sample 0 was; nb::python_error.
  void write(nb::handle values, std::uint64_t sample, std::span<std::byte* const> rows) const;

 private:
  struct leaf {
    std::size_t field = 0;
    std::size_t bytes = 0;
    std::optional<std::uint64_t> padded_to;  ///< then the next field has the value's length
  };
  struct node {
    std::optional<std::size_t> leaf;
    bool is_dict = false;
    std::vector<held_object> keys;  ///< a dict's
    std::vector<node> parts;
  };

  [[nodiscard]] static node node_of(nb::handle structure, held_objects& among);
  void add_leaf(nb::handle described);
  void write(const node& at, nb::handle value, std::uint64_t sample,
             std::span<std::byte* const> rows) const;
  void write_leaf(const leaf& to, nb::handle value, std::uint64_t sample,
                  std::span<std::byte* const> rows) const;
  [[noreturn]] void refuse(const leaf& to, const field& found, std::uint64_t sample) const;

  held_object structure_;
  held_object leaves_;
  node root_;
  std::vector<leaf> leaf_list_;
  std::vector<field> fields_;
  std::vector<std::size_t> row_bytes_;
};

}  // namespace feedline::python
