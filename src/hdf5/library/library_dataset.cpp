// Over 250 lines: one class, and what the library says about its dataset.

#include "hdf5/library/library_dataset.hpp"

#include "detail/byte_order.hpp"
#include "hdf5/format/heap_search.hpp"
#include "hdf5/library/member.hpp"
#include "hdf5/library/storage.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace feedline::detail {
namespace {

std::string last_part(const std::string& path) {
  const auto end = path.find_last_not_of('/');
  const auto name = path.substr(0, end == std::string::npos ? 0 : end + 1);
  return name.substr(name.find_last_of('/') + 1);
}

/// Whether the values themselves, not only parts of them, are sequences or strings of variable
/// length.
bool is_variable_length(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  return type_class == H5T_VLEN || (type_class == H5T_STRING && H5Tis_variable_str(type) > 0);
}

/// Describes the values of a field, which must all have one length.
hdf5_element describe_fixed(const hdf5_session& hdf5, hid_t type, bool in_array) {
  if (in_array || !is_variable_length(type)) return describe_type(hdf5, type);
  return {.refusal =
              "its values are of variable length: open_hdf5_ragged reads them, and pad or "
              "pack make batches of them"};
}

/// Sets all members but the row, the samples, and the records around the values. @param type Any
/// type.
hdf5_sequences describe_sequence(const hdf5_session& hdf5, hid_t type) {
  hdf5_sequences sequence;
  if (!is_variable_length(type)) {
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
    sequence.element.refusal = "its values are sequences, whose elements cannot be read: " +
                               std::move(sequence.element.refusal);
  return sequence;
}

}  // namespace

std::string field_name_of(const hdf5_field& chosen) {
  return chosen.name.empty() ? last_part(chosen.dataset) : chosen.name;
}

std::vector<hsize_t> extents_of(const hdf5_session& hdf5, const hdf5_file& file,
                                const std::string& name, hid_t space) {
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_NULL) throw file.error(name, "is empty (a null dataspace): it holds no samples");
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  if ((kind != H5S_SIMPLE && kind != H5S_SCALAR) || rank < 0)
    throw file.unreadable(hdf5, name, "its dimensions cannot be read");
  for (int i = 1; i < rank; ++i)
    if (extents[static_cast<std::size_t>(i)] == 0)
      throw file.error(name,
                       "a sample would hold nothing: dimension " + std::to_string(i) + " is 0");
  return {extents.begin(), extents.begin() + rank};
}

/// Reports why a dataset's type or dimensions cannot be read. HDF5 1.14 opens the sources of a
/// virtual dataset to find its dimensions: then the error names the source.
[[noreturn]] void refuse_unreadable(const hdf5_session& hdf5, const hdf5_file& file,
                                    const std::string& name, hid_t dataset) {
  const auto words = file.unreadable(hdf5, name, "its type cannot be read");
  (void)require_library_can_read(hdf5, file, name, dataset);
  throw words;
}

std::size_t sample_bytes_of(const hdf5_file& file, const std::string& name, const field& spec) try {
  return sample_bytes(spec);
} catch (const usage_error& overflow) {
  throw file.error(name, overflow.what());
}

hdf5_properties_id with_small_buffer(const hdf5_session& /*hdf5*/, hid_t dataset,
                                     hid_t memory_type) {
  constexpr std::size_t usual_bytes = std::size_t{64} << 10;
  const hdf5_type_id type{H5Dget_type(dataset)};
  // Room for at least one value, which may be somewhat larger in the file than the library says.
  const std::size_t value_bytes = 2 * std::max(H5Tget_size(type.get()), H5Tget_size(memory_type));
  hdf5_properties_id transfer{H5Pcreate(H5P_DATASET_XFER)};
  H5Pset_buffer(transfer.get(), std::max(usual_bytes, value_bytes), nullptr, nullptr);
  return transfer;
}

hdf5_opened_ptr make_opened(const hdf5_session& hdf5, const hdf5_file& file,
                            hdf5_dataset_id dataset) {
  hdf5_values values{.type = hdf5_type_id{H5Dget_type(dataset.get())},
                     .address_bytes = address_bytes_of(hdf5, dataset.get())};
  if (values.type) values.layout = layout_in_file(hdf5, values.type.get(), values.address_bytes);
  return std::make_shared<const hdf5_opened>(
      hdf5_opened{file.driver(), std::move(dataset), std::move(values)});
}

std::string fault_of_files(const hdf5_session& /*hdf5*/, const std::string& path,
                           const hdf5_driver* driver, std::span<const hdf5_needed_file> files,
                           std::uint64_t first, std::uint64_t last) {
  const auto in_words = [&](const dataset_error& fault) {
    return (fault.path() == path ? "" : "its file " + fault.path() + ' ') + fault.message();
  };
  try {
    if (driver != nullptr)
      if (const auto fault = driver->fault()) return in_words(*fault);
    for (const hdf5_needed_file& each : files)
      if (each.first <= last && each.last >= first) each.file->require_unchanged();
  } catch (const dataset_error& change) {
    return in_words(change);
  }
  return {};
}

hdf5_library_dataset::hdf5_library_dataset(const hdf5_session& hdf5, const hdf5_file& file,
                                           const hdf5_field& chosen, hdf5_opened_ptr opened,
                                           const std::string& member)
    : path_{file.path()},
      name_{chosen.dataset},
      opened_{std::move(opened)},
      space_{H5Dget_space(opened_->id.get())} {
  const hdf5_type_id& type = opened_->values.type;
  if (!type || !space_) refuse_unreadable(hdf5, file, name_, id());
  if (!member.empty() && !has_members(hdf5, type.get()))
    throw file.no_such_member(hdf5, name_, member);
  element_ = describe_values(hdf5, opened_->values, name_, member, [&](hid_t value, bool in_array) {
    return describe_fixed(hdf5, value, in_array);
  });
  if (!element_.refusal.empty()) throw file.error(name_, element_.refusal);
  extents_ = extents_of(hdf5, file, name_, space_.get());

  spec_ = {field_name_of(chosen), element_.type, {}};
  if (!is_single()) spec_.shape.assign(extents_.begin() + 1, extents_.end());
  spec_.shape.insert(spec_.shape.end(), element_.shape.begin(), element_.shape.end());
  samples_ = is_single() ? 1 : extents_[0];
  row_bytes_ = sample_bytes_of(file, name_, spec_);
}

void hdf5_library_dataset::require_readable(const hdf5_session& hdf5, const hdf5_file& file) {
  files_ = require_library_can_read(hdf5, file, name_, id());
  zero_first_ = leaves_gaps(hdf5, file, name_, id());
  if (H5Tget_class(element_.memory.get()) == H5T_COMPOUND)
    transfer_ = with_small_buffer(hdf5, id(), element_.memory.get());
}

std::string hdf5_library_dataset::try_select(const hdf5_session& hdf5,
                                             std::span<const hsize_t> start,
                                             std::span<const hsize_t> step,
                                             std::span<const hsize_t> count,
                                             std::span<std::byte> out) const {
  if (zero_first_) std::memset(out.data(), 0, out.size());
  const hdf5_space_id memory_space{
      is_single() ? H5Screate(H5S_SCALAR)
                  : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr)};
  hdf5_driver* const driver = opened_->driver.get();
  if (driver != nullptr) driver->begin();
  const bool is_read =
      memory_space &&
      (is_single() || H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, start.data(), step.data(),
                                          count.data(), nullptr) >= 0) &&
      H5Dread(id(), element_.memory.get(), memory_space.get(), space_.get(),
              transfer_ ? transfer_.get() : H5P_DEFAULT, out.data()) >= 0;
  std::string words = is_read ? "" : "cannot be read: " + hdf5.last_message();
  const std::uint64_t first = is_single() ? 0 : start[0];
  const std::uint64_t last = is_single() ? 0 : first + (count[0] - 1) * step[0];
  if (std::string fault = fault_of_files(hdf5, path_, driver, files_, first, last); !fault.empty())
    return fault;
  if (is_read) reverse_elements(out, element_.left_swapped_bytes);
  return words;
}

std::string hdf5_library_dataset::try_read(const hdf5_session& hdf5, std::uint64_t first,
                                           std::uint64_t count, std::byte* out) const {
  std::vector<hsize_t> start(extents_.size(), 0);
  std::vector<hsize_t> counts = extents_;
  if (!is_single()) {
    start[0] = first;
    counts[0] = count;
  }
  return try_select(hdf5, start, std::vector<hsize_t>(extents_.size(), 1), counts,
                    {out, static_cast<std::size_t>(count) * row_bytes_});
}

void hdf5_library_dataset::read_box(const hdf5_session& hdf5, std::span<const std::uint64_t> begin,
                                    std::span<const std::uint64_t> count,
                                    std::span<const std::uint64_t> step,
                                    std::span<std::byte> out) const {
  const std::vector<hsize_t> start(begin.begin(), begin.end());
  if (const auto why = try_select(hdf5, start, std::vector<hsize_t>(step.begin(), step.end()),
                                  std::vector<hsize_t>(count.begin(), count.end()), out);
      !why.empty())
    throw hdf5_error{{.path = path_, .field = name_}, why};
}

void hdf5_library_dataset::read_run(const hdf5_session& hdf5, std::uint64_t first,
                                    std::uint64_t count, std::byte* out) const {
  if (try_read(hdf5, first, count, out).empty()) return;
  for (std::uint64_t i = 0; i < count; ++i)  // row by row, to find the sample that fails
    if (const auto why = try_read(hdf5, first + i, 1, out + i * row_bytes_); !why.empty())
      throw hdf5_error{{.path = path_, .field = name_, .sample = first + i}, why};
}

void hdf5_library_dataset::read(const hdf5_session& hdf5, std::span<const sample_index> samples,
                                std::byte* out) const {
  for (std::size_t at = 0; at < samples.size();) {
    const std::uint64_t first = samples[at].value;
    std::size_t count = 1;
    while (at + count < samples.size() && samples[at + count].value == first + count) ++count;
    read_run(hdf5, first, count, out + at * row_bytes_);
    at += count;
  }
}

hdf5_sequences find_sequences(const hdf5_session& hdf5, const hdf5_file& file,
                              const std::string& name, const hdf5_opened& dataset,
                              const std::string& member) {
  const hdf5_space_id space{H5Dget_space(dataset.id.get())};
  const hdf5_type_id& records = dataset.values.type;
  if (!records || !space) refuse_unreadable(hdf5, file, name, dataset.id.get());
  if (!member.empty() && !has_members(hdf5, records.get()))
    throw file.no_such_member(hdf5, name, member);
  const std::size_t row_bytes = hdf5_heap_search::row_bytes(dataset.values.address_bytes);
  hdf5_sequences found;
  auto row = describe_values(hdf5, dataset.values, name, member, [&](hid_t type, bool in_array) {
    found = describe_sequence(hdf5, type);
    if (in_array && is_variable_length(type))
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
  if (extents.size() > 1)
    throw file.error(name, "has " + std::to_string(extents.size()) +
                               " dimensions, so that a sample would be several sequences; one of "
                               "one dimension can be read, a sequence a sample");
  found.samples = extents.empty() ? 1 : extents[0];
  return found;
}

}  // namespace feedline::detail
