#include "hdf5/format/heap_search.hpp"
#include "hdf5/library/library_dataset.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// All but the row, the samples, and the records around the values. @param type Of any kind.
hdf5_sequences describe_sequence(const hdf5_session& hdf5, hid_t type) {
  hdf5_sequences sequence;
  if (!is_variable_length(hdf5, type)) {
    auto element = describe_type(hdf5, type);
    sequence.element.refusal = element.refusal.empty()
                                   ? "its values are all of one length: open_hdf5 reads them"
                                   : std::move(element.refusal);
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

}  // namespace

bool is_variable_length(const hdf5_session& /*hdf5*/, hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  return type_class == H5T_VLEN || (type_class == H5T_STRING && H5Tis_variable_str(type) > 0);
}

hdf5_sequences find_sequences(const hdf5_session& hdf5, const hdf5_file& file,
                              const std::string& name, const hdf5_opened& dataset,
                              const std::string& member) {
  const hdf5_space_id space{H5Dget_space(dataset.id.get())};
  const hdf5_type_id& records = dataset.values.type;
  if (!records || !space) throw file.unreadable(hdf5, name, "its type cannot be read");
  if (!member.empty() && !has_members(hdf5, records.get()))
    throw file.no_such_member(hdf5, name, member);
  const std::size_t row_bytes = hdf5_heap_search::row_bytes(dataset.values.address_bytes);
  hdf5_sequences found;
  auto row = describe_values(hdf5, dataset.values, name, member, [&](hid_t type, bool in_array) {
    found = describe_sequence(hdf5, type);
    if (in_array && is_variable_length(hdf5, type))
      found.element.refusal =
          "its records lie in an array, so that a sample would be several sequences";
    return hdf5_element{.shape = {row_bytes},
                        .memory = hdf5_type_id{H5Tcreate(H5T_OPAQUE, row_bytes)},
                        .refusal = found.element.refusal,
                        .indirect = found.element.indirect};
  });
  if (!row.refusal.empty()) throw file.error(name, row.refusal);
  found.memory = in_records_like(hdf5, row.memory.get(), std::move(found.memory));
  found.row = std::move(row);
  const auto extents = extents_of(hdf5, file, name, space.get());
  if (extents.size() != 1)
    throw file.error(name, "has " + std::to_string(extents.size()) +
                               " dimensions, so that a sample would be several sequences; one of "
                               "one dimension can be read, a sequence a sample");
  found.samples = extents[0];
  return found;
}

}  // namespace feedline::detail
