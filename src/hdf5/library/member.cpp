#include "hdf5/library/member.hpp"

#include "detail/text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

/// The type of a type's values, without arrays around them. If there are no arrays, nothing is
/// copied, because the library takes long to copy a record of many members.
class without_arrays {
 public:
  explicit without_arrays(hid_t type) : type_{type} {
    while (H5Tget_class(type_) == H5T_ARRAY) {
      inner_ = hdf5_type_id{H5Tget_super(type_)};
      type_ = inner_.get();
    }
  }
  [[nodiscard]] hid_t get() const noexcept { return type_; }

 private:
  hid_t type_;
  hdf5_type_id inner_ = {};
};

unsigned count_members(hid_t record) {
  return static_cast<unsigned>(std::max(H5Tget_nmembers(record), 0));
}

std::string name_of(hid_t record, unsigned member) {
  char* const text = H5Tget_member_name(record, member);
  std::string name{text != nullptr ? text : ""};
  H5free_memory(text);
  return name;
}

/// A record of one member, with its name in the other record.
hdf5_type_id record_of(hid_t others, unsigned member, const hdf5_type_id& type) {
  hdf5_type_id record{H5Tcreate(H5T_COMPOUND, H5Tget_size(type.get()))};
  H5Tinsert(record.get(), name_of(others, member).c_str(), 0, type.get());
  return record;
}

void collect_paths(const hdf5_session& hdf5, hid_t type, const std::string& before, unsigned depth,
                   std::vector<std::string>& paths) {
  const without_arrays record{type};
  for (unsigned i = 0; i < count_members(record.get()); ++i) {
    const std::string path = before + name_of(record.get(), i);
    const hdf5_type_id member{H5Tget_member_type(record.get(), i)};
    if (!has_members(hdf5, member.get()) || describe_type(hdf5, member.get()).refusal.empty())
      paths.push_back(path);
    else if (depth < max_nested_records)
      collect_paths(hdf5, member.get(), path + '/', depth + 1, paths);
  }
}

/// Nested members, by their numbers, the outermost first.
using member_steps = std::vector<unsigned>;

/// @param steps Receives the path to the member.
bool find_member(const hdf5_session& hdf5, hid_t type, std::string_view path, member_steps& steps) {
  if (!has_members(hdf5, type)) return false;
  const without_arrays record{type};
  if (const int i = H5Tget_member_index(record.get(), std::string{path}.c_str()); i >= 0) {
    steps.push_back(static_cast<unsigned>(i));
    return true;
  }
  if (path.find('/') == std::string_view::npos) return false;
  std::vector<std::pair<std::size_t, unsigned>> beginnings;  // lengths of names, and members
  for (unsigned i = 0; i < count_members(record.get()); ++i) {
    const std::string name = name_of(record.get(), i);
    if (path.starts_with(name) && path[name.size()] == '/') beginnings.emplace_back(name.size(), i);
  }
  std::ranges::sort(beginnings, std::greater{});
  for (const auto& [length, i] : beginnings) {
    const hdf5_type_id member{H5Tget_member_type(record.get(), i)};
    steps.push_back(i);
    if (find_member(hdf5, member.get(), path.substr(length + 1), steps)) return true;
    steps.pop_back();
  }
  // Slashes at the ends and doubled ones are ignored, as in paths of datasets.
  if (path.starts_with('/')) return find_member(hdf5, type, path.substr(1), steps);
  if (path.ends_with('/')) return find_member(hdf5, type, path.substr(0, path.size() - 1), steps);
  return false;
}

hdf5_element refuse_records(const hdf5_session& hdf5, hid_t type, const std::string& path) {
  const auto members = member_paths(hdf5, type);
  std::string refusal =
      "its values are records (HDF5 type class 'compound'), and a field is one member of "
      "theirs";
  if (!members.empty())
    refusal += ": name it as in '" + path + (path.ends_with('/') ? "" : "/") + members.front() +
               "'; they have " + list_names(members);
  return {.refusal = std::move(refusal)};
}

bool lies_within(std::size_t offset, std::size_t bytes, std::size_t record_bytes) {
  return bytes <= record_bytes && offset <= record_bytes - bytes;
}

hdf5_element refuse_beyond(std::size_t record_bytes) {
  return {.refusal = "it would reach beyond its record of " + std::to_string(record_bytes) +
                     " bytes; the file is damaged: copy it again"};
}

constexpr const char* unknown_place =
    "its records have members of another type too (references), whose size in the file the library "
    "does not tell";

struct field_place {
  const std::string& path;
  std::size_t address_bytes;
  const value_describer& describe;
  bool in_array = false;
};

/// A member in the form in which the library reads it: into a record of only that member, or of a
/// record of only that, …
/// @param layout Layout of the records in the file. @param where Path of the field, for messages,
/// and size of an address in the file.
hdf5_element describe_member(const hdf5_session& hdf5, hid_t type, const hdf5_record_layout& layout,
                             const field_place& where, std::span<const unsigned> steps) {
  if (steps.empty()) {
    auto element = where.describe(type, where.in_array);
    if (!element.refusal.empty() && has_members(hdf5, type) &&
        !describe_type(hdf5, type).refusal.empty())
      return refuse_records(hdf5, type, where.path);
    return element;
  }
  if (H5Tget_class(type) == H5T_ARRAY) {
    const hdf5_type_id record{H5Tget_super(type)};
    const field_place inside{where.path, where.address_bytes, where.describe, true};
    auto element = describe_member(
        hdf5, record.get(), layout_in_file(hdf5, record.get(), where.address_bytes), inside, steps);
    if (element.indirect.empty())
      element.indirect = "its values lie apart: they are members of records in an array";
    return describe_array_of(std::move(element), type);
  }
  const hdf5_type_id member{H5Tget_member_type(type, steps.front())};
  if (!lies_within(H5Tget_member_offset(type, steps.front()), H5Tget_size(member.get()),
                   H5Tget_size(type)))
    return refuse_beyond(H5Tget_size(type));
  auto element =
      describe_member(hdf5, member.get(), layout_in_file(hdf5, member.get(), where.address_bytes),
                      where, steps.subspan(1));
  if (!element.refusal.empty()) return element;
  element.memory = record_of(type, steps.front(), element.memory);
  const auto offset = layout.offsets[steps.front()];
  if (!offset && element.indirect.empty()) element.indirect = unknown_place;
  element.record_offset += offset.value_or(0);
  return element;
}

}  // namespace

bool has_members(const hdf5_session& /*hdf5*/, hid_t type) {
  return H5Tget_class(without_arrays{type}.get()) == H5T_COMPOUND;
}

std::vector<std::string> member_paths(const hdf5_session& hdf5, hid_t type) {
  std::vector<std::string> paths;
  if (has_members(hdf5, type)) collect_paths(hdf5, type, {}, 1, paths);
  return paths;
}

hdf5_type_id in_records_like(const hdf5_session& hdf5, hid_t records, hdf5_type_id type) {
  if (H5Tget_class(records) != H5T_COMPOUND) return type;
  const hdf5_type_id member{H5Tget_member_type(records, 0)};
  const auto inner = in_records_like(hdf5, member.get(), std::move(type));
  return record_of(records, 0, inner);
}

hdf5_element describe_values(const hdf5_session& hdf5, const hdf5_values& values,
                             const std::string& path, std::string_view member,
                             const value_describer& describe) {
  const hid_t type = values.type.get();
  member_steps steps;
  if (!member.empty() && !find_member(hdf5, type, member, steps))
    return {.refusal = "its records have no member '" + std::string{member} + "'; they have " +
                       list_names(member_paths(hdf5, type))};
  const field_place where{path, values.address_bytes, describe};
  auto element = describe_member(hdf5, type, values.layout, where, steps);
  if (steps.empty() || !element.refusal.empty() || !element.indirect.empty()) return element;

  const auto record_bytes = values.layout.bytes;
  if (!record_bytes)
    element.indirect = unknown_place;
  else if (lies_within(element.record_offset, H5Tget_size(element.memory.get()), *record_bytes))
    element.record_bytes = *record_bytes;
  else
    return refuse_beyond(*record_bytes);
  return element;
}

}  // namespace feedline::detail
