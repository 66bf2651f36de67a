#include "dataset/hdf5_sequence_type.hpp"

#include <string>
#include <utility>

namespace feedline::detail {

bool is_variable_length(const hdf5_session& /*hdf5*/, hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  return type_class == H5T_VLEN || (type_class == H5T_STRING && H5Tis_variable_str(type) > 0);
}

hdf5_sequence_type describe_sequence(const hdf5_session& hdf5, hid_t type) {
  hdf5_sequence_type sequence;
  if (!is_variable_length(hdf5, type)) {
    sequence.element.refusal = "its values are all of one length: open_hdf5 reads them";
    return sequence;
  }
  sequence.is_string = H5Tget_class(type) == H5T_STRING;
  if (sequence.is_string) {
    sequence.element.memory = hdf5_type_id{H5Tcopy(H5T_NATIVE_UINT8)};
    sequence.memory = hdf5_type_id{H5Tcopy(type)};
    return sequence;
  }
  const hdf5_type_id base{H5Tget_super(type)};
  sequence.element = describe_type(hdf5, base.get());
  if (sequence.element.refusal.empty())
    sequence.memory = hdf5_type_id{H5Tvlen_create(sequence.element.memory.get())};
  else
    sequence.element.refusal =
        "its values are sequences, and of their elements this is to be "
        "said: " +
        std::move(sequence.element.refusal);
  return sequence;
}

}  // namespace feedline::detail
