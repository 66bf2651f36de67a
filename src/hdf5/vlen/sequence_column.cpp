#include "hdf5/vlen/sequence_column.hpp"

#include "detail/arithmetic.hpp"
#include "hdf5/format/metadata.hpp"

#include <string>
#include <utility>

namespace feedline::detail {
namespace {

using layout = hdf5_storage_layout::layout;

/// Whether values that were never written are something else than empty.
bool fills(const hdf5_session& /*hdf5*/, hid_t dataset, const hdf5_sequence_type& type) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (H5Pfill_value_defined(creation.get(), &defined) < 0) return true;
  if (defined != H5D_FILL_VALUE_USER_DEFINED) return false;
  union {
    hvl_t sequence;
    char* text;
  } value{.sequence = {}};
  if (H5Pget_fill_value(creation.get(), type.memory.get(), &value) < 0) return true;
  const bool is_empty =
      type.is_string ? value.text == nullptr || *value.text == '\0' : value.sequence.len == 0;
  const hdf5_space_id one{H5Screate(H5S_SCALAR)};
  H5Dvlen_reclaim(type.memory.get(), one.get(), H5P_DEFAULT, &value);
  return !is_empty;
}

}  // namespace

hdf5_sequence_column::hdf5_sequence_column(const hdf5_session& hdf5, const hdf5_file& file,
                                           const hdf5_field& chosen)
    : name_{chosen.dataset} {
  std::string member;
  opened_ = make_opened(hdf5, file.open_dataset(hdf5, name_, &member));
  hdf5_sequences found = find_sequences(hdf5, file, name_, *opened_, member);
  type_ = std::move(found.type);
  samples_ = found.samples;
  element_ = {field_name_of(chosen), type_.element.type, type_.element.shape};
  try {
    element_bytes_ = sample_bytes(element_);
  } catch (const usage_error& overflow) {
    throw file.error(name_, overflow.what());
  }
}

hdf5_resolved_field hdf5_sequence_column::find_rows(const hdf5_session& hdf5,
                                                    const hdf5_file& file) const {
  const std::size_t row_bytes = H5Tget_size(type_.row.memory.get());
  hdf5_resolved_field found{.name = name_,
                            .spec = {element_.name, element_type::u8, {row_bytes}},
                            .samples = samples_,
                            .row_bytes = row_bytes,
                            .storage = examine_storage(hdf5, file, name_, id(), type_.row)};
  if (found.storage.refusal.empty() && fills(hdf5, id(), type_))
    found.storage.refusal = "it has a fill value of its own";
  hdf5_open_context common;
  find_file_and_chunks(hdf5, id(), common, found);
  if (found.storage.refusal.empty() && found.file) found.storage.refusal = fault_of_rows(found);
  return found;
}

/// Why rows or the values that they lead to may be something else than feedline takes them for.
std::string hdf5_sequence_column::fault_of_rows(const hdf5_resolved_field& found) const {
  try {
    hdf5_metadata metadata{*found.file};
    if (has_cache_image(metadata)) return "its file's metadata is in a cache image";
    if (hdf5_heap_search::row_bytes(metadata.offset_bytes()) != found.row_bytes)
      return "its file's addresses are of another size than the library says";
  } catch (const hdf5_metadata_error& unknown) {
    return std::string{"its file's front cannot be read without it: "} + unknown.what();
  }
  if (found.storage.stored == layout::contiguous &&
      H5Dget_storage_size(id()) !=
          checked_multiply<std::uint64_t>(samples_, found.storage.stored_bytes).value_or(0))
    return "its rows are of another size than the file's addresses let expect";
  return {};
}

}  // namespace feedline::detail
