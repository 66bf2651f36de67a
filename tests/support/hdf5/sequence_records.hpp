#pragma once

#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::test {

/// A record of values of variable length, in memory.
struct sequence_record {
  std::uint32_t id;
  hvl_t hits;        ///< u16
  const char* name;  ///< may be null
  struct {
    double weight;
    hvl_t boxes;  ///< f32[4]
  } point;
};

[[nodiscard]] detail::hdf5_type_id sequence_record_type();

/// The same in a file, big-endian, in another order: packed, or with `gap` bytes before each member
/// and after the last.
[[nodiscard]] detail::hdf5_type_id stored_record_type(std::size_t gap);

/// Records of various values, some of them empty, and what their members are.
struct sequence_records {
  explicit sequence_records(std::size_t rows);

  std::vector<std::string> texts = {};
  value_vector hits = {};
  value_vector boxes = {};
  value_vector names = {};
  std::vector<sequence_record> records = {};  ///< records that point to the others
};

/// Makes a dataset of `rows` records and writes the first.
void write_records(hdf5_writer& writer, const std::string& name, const sequence_records& values,
                   hid_t type, hsize_t rows, const hdf5_layout& layout = {});

}  // namespace feedline::test
