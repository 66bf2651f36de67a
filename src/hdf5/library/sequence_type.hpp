#pragma once

#include "hdf5/library/file.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/member.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/library/type.hpp"

#include <cstdint>
#include <string>

namespace feedline::detail {

/// Whether values are sequences or strings of variable length, themselves: not parts of them.
[[nodiscard]] bool is_variable_length(const hdf5_session& hdf5, hid_t type);

/// Values of variable length of a dataset, or of a member of its records, each a sample: how they
/// appear as runs of elements.
struct hdf5_sequences {
  hdf5_element element = {};  ///< one element
  hdf5_element row = {};      ///< what stands in the file for a value: where it is, as bytes
  hdf5_type_id memory = {};   ///< what the library is to read values as: `hvl_t`, or `char*`
  bool is_string = false;
  std::uint64_t samples = 0;
};

/// @throws hdf5_error if they are none, have not one dimension, or other elements than fields.
[[nodiscard]] hdf5_sequences find_sequences(const hdf5_session& hdf5, const hdf5_file& file,
                                            const std::string& name, const hdf5_opened& dataset,
                                            const std::string& member);

}  // namespace feedline::detail
