#include "detail/arithmetic.hpp"
#include "hdf5/library/member.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace feedline::detail {
namespace {

/// Size of a value: a length, the address of a heap, an index in it. (HDF5 File Format
/// Specification 3.0, III.K)
std::optional<std::size_t> variable_bytes(std::size_t address_bytes) {
  if (address_bytes == 0) return std::nullopt;
  return 4 + address_bytes + 4;
}

/// Size of one value.
std::optional<std::size_t> bytes_in_file(const hdf5_session& hdf5, hid_t type,
                                         std::size_t address_bytes, unsigned depth) {
  const std::size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_TIME:
    case H5T_BITFIELD:
    case H5T_OPAQUE:
    case H5T_ENUM:
      return bytes;
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? variable_bytes(address_bytes) : bytes;
    case H5T_VLEN:
      return variable_bytes(address_bytes);
    case H5T_COMPOUND:
      return layout_in_file(hdf5, type, address_bytes, depth + 1).bytes;
    case H5T_ARRAY: {
      if (depth == max_nested_records) return std::nullopt;
      const hdf5_type_id each{H5Tget_super(type)};
      const std::size_t each_bytes = H5Tget_size(each.get());
      const auto each_in_file = bytes_in_file(hdf5, each.get(), address_bytes, depth + 1);
      if (!each_in_file || each_bytes == 0) return std::nullopt;
      return checked_multiply<std::size_t>(bytes / each_bytes, *each_in_file);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::size_t address_bytes_of(const hdf5_session& /*hdf5*/, hid_t dataset) {
  const hdf5_file_id file{H5Iget_file_id(dataset)};
  const hdf5_properties_id creation{H5Fget_create_plist(file.get())};
  std::size_t address_bytes = 0;
  std::size_t length_bytes = 0;
  if (H5Pget_sizes(creation.get(), &address_bytes, &length_bytes) < 0) return 0;
  return address_bytes;
}

hdf5_record_layout layout_in_file(const hdf5_session& hdf5, hid_t record, std::size_t address_bytes,
                                  unsigned depth) {
  if (H5Tget_class(record) != H5T_COMPOUND) return {};
  const auto members = static_cast<unsigned>(std::max(H5Tget_nmembers(record), 0));
  hdf5_record_layout layout{.offsets = std::vector<std::optional<std::size_t>>(members)};
  if (depth == max_nested_records) return layout;
  const auto holds = [&](H5T_class_t kind) { return H5Tdetect_class(record, kind) != 0; };
  const bool as_in_memory = !holds(H5T_VLEN) && !holds(H5T_STRING) && !holds(H5T_REFERENCE);
  std::vector<unsigned> by_offset(members);
  std::iota(by_offset.begin(), by_offset.end(), 0U);
  const auto offset_of = [&](unsigned i) { return H5Tget_member_offset(record, i); };
  std::ranges::stable_sort(by_offset, {}, offset_of);
  std::optional<std::size_t> moved = 0;   // shift by: members before this one; modulo 2^64
  std::optional<std::size_t> passed = 0;  // those, and members that begin at the same offset
  std::size_t last = 0;
  for (const unsigned i : by_offset) {
    const std::size_t offset = offset_of(i);
    if (offset != last) moved = passed;
    last = offset;
    if (moved) layout.offsets[i] = offset + *moved;
    if (as_in_memory || !passed || offset >= H5Tget_size(record)) continue;
    const hdf5_type_id member{H5Tget_member_type(record, i)};
    const auto bytes = bytes_in_file(hdf5, member.get(), address_bytes, depth);
    if (bytes)
      *passed += *bytes - H5Tget_size(member.get());
    else
      passed.reset();
  }
  if (passed) layout.bytes = H5Tget_size(record) + *passed;
  return layout;
}

}  // namespace feedline::detail
