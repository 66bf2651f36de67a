#include "formats/npy/npz_file.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "io/file_system.hpp"
#include "io/range_source.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace feedline::detail {

npz_file::npz_file(const std::string& path, const npz_options& options)
    : options_{options}, file_{open_file(path)}, archive_{open_zip_archive(file_)} {}

dataset_ptr npz_file::open(const std::vector<std::string>& names) const {
  std::vector<wanted_member> wanted = names.empty() ? all() : find(names);
  if (names.empty())
    leave_out_others(wanted);
  else
    for (wanted_member& member : wanted) look_at(member);
  require_equal_samples(wanted);
  require_memory(wanted);
  std::vector<rows_field> columns;
  for (const wanted_member& member : wanted) try {
      columns.push_back(column(member));
    } catch (const dataset_error& refusal) {
      if (!names.empty()) throw;
      throw dataset_error{refusal.where(), refusal.message() + beside(member)};
    }
  file_->require_unchanged();
  if (const auto others = left_out(); names.empty() && !others.empty())
    log()->warn("{}: members that are no arrays (.npy) are left out: {}", printable(file_->name()),
                list_names(others));
  return make_rows_dataset("file dataset", std::move(columns));
}

array_ptr npz_file::array(const std::string& name) const {
  wanted_member member = find({name}).front();
  look_at(member, true);
  const std::uint64_t bytes = archive_->members()[member.number].bytes;
  array_ptr array = member.place ? open_npy_box_array(file_, *member.place, bytes, member.name)
                                 : read_npy_box_array(*archive_->open(member.number, member.name),
                                                      bytes, member.name);
  file_->require_unchanged();
  return array;
}

dataset_error npz_file::error(const std::string& message) const {
  return {{.path = file_->name(), .field = {}}, message};
}

std::vector<listed_field> npz_file::list_fields() const {
  std::vector<listed_field> listed;
  for (wanted_member& member : all()) {
    listed_field& field = listed.emplace_back(listed_field{.name = member.name.field});
    try {
      look_at(member);
      field.samples = member.header.extents.front();
      field.spec = member.header.to_field(field.name);
    } catch (const dataset_error& refusal) {
      field.refusal = refusal.message();
    }
  }
  for (const std::string& name : left_out()) {
    listed_field& other = listed.emplace_back();
    other.name = name;
    other.left_out = "no array: its name does not end in .npy";
  }
  file_->require_unchanged();
  return listed;
}

bool npz_file::has_members(std::initializer_list<const char*> names) const {
  return std::ranges::all_of(names, [&](const std::string name) {
    return std::ranges::count(archive_->members(), name + ".npy", &zip_member::name) == 1;
  });
}

std::string npz_file::three_letters(const std::string& name) const {
  constexpr std::size_t length = 3;
  const wanted_member member = find({name}).front();
  const auto from = archive_->open(member.number, member.name);
  constexpr std::size_t most = 4096;  // more is no such text
  std::string bytes(most, '\0');
  bytes.resize(from->read(std::as_writable_bytes(std::span{bytes})));
  const auto header_has = [&](const char* words) { return bytes.find(words) != bytes.npos; };
  if (!header_has("'shape': ()")) return {};
  const bool is_wide = header_has("'descr': '<U3'");
  const std::size_t size = is_wide ? 4 * length : length;
  if ((!is_wide && !header_has("'descr': '|S3'")) || bytes.size() < size) return {};
  std::string text = bytes.substr(bytes.size() - size);
  std::erase(text, '\0');
  return text;
}

std::string_view npz_file::field_of(const zip_member& member) const {
  std::string_view name = member.name;
  if (name.ends_with(npy_suffix)) name.remove_suffix(npy_suffix.size());
  return name;
}

npz_file::wanted_member npz_file::want(std::size_t number) const {
  const auto& members = archive_->members();
  const std::string& name = members[number].name;
  if (std::ranges::count(members, name, &zip_member::name) > 1)
    throw error("holds several members named '" + name +
                "'; remove all but one (zip -d removes them all), or write the archive again "
                "with numpy.savez");
  return {number,
          {file_->name(), std::string{field_of(archive_->members()[number])},
           " (the byte is the member's)"}};
}

std::vector<npz_file::wanted_member> npz_file::all() const {
  std::vector<wanted_member> wanted;
  for (std::size_t i = 0; i < archive_->members().size(); ++i)
    if (archive_->members()[i].name.ends_with(npy_suffix)) wanted.push_back(want(i));
  if (wanted.empty()) throw error("holds no arrays: no member's name ends in .npy");
  return wanted;
}

std::vector<std::string> npz_file::left_out() const {
  std::vector<std::string> others;
  for (const zip_member& member : archive_->members())
    if (!member.name.ends_with(npy_suffix) && !member.name.ends_with('/'))
      others.push_back(member.name);
  return others;
}

std::vector<npz_file::wanted_member> npz_file::find(const std::vector<std::string>& names) const {
  const auto& members = archive_->members();
  std::vector<wanted_member> wanted;
  for (const std::string& name : names) {
    auto found = std::ranges::find(members, name, &zip_member::name);
    if (found == members.end())
      found = std::ranges::find(members, name + std::string{npy_suffix}, &zip_member::name);
    if (found == members.end()) {
      std::vector<std::string> all;
      for (const auto& member : members) all.emplace_back(field_of(member));
      throw error("has no member '" + name + "'; there are: " + list_names(all));
    }
    wanted.push_back(want(static_cast<std::size_t>(found - members.begin())));
  }
  return wanted;
}

void npz_file::leave_out_others(std::vector<wanted_member>& wanted) const {
  std::optional<dataset_error> first;
  std::erase_if(wanted, [&](wanted_member& member) {
    try {
      look_at(member);
      return false;
    } catch (const npy_not_a_field& refusal) {
      log()->warn("{}: left out: {}", printable(file_->name()), printable(refusal.what()));
      if (!first) first = refusal;
      return true;
    } catch (const dataset_error& refusal) {
      throw dataset_error{refusal.where(), refusal.message() + beside(member)};
    }
  });
  if (wanted.empty()) throw dataset_error{*first};
}

void npz_file::look_at(wanted_member& member, bool any_shape) const {
  const zip_member& claimed = archive_->members()[member.number];
  if (claimed.is_encrypted)
    throw member.name.error(0, "the member is encrypted; save the archive without a password");
  member.place = archive_->place(member.number, member.name);
  if (member.place) {
    range_source head{file_, *member.place, claimed.bytes};
    member.header = read_npy_header(head, member.name, any_shape);
  } else {
    member.header =
        read_npy_header(*archive_->open(member.number, member.name), member.name, any_shape);
  }
  member.header.require_room(claimed.bytes, member.name);
}

std::string npz_file::beside(const wanted_member& unreadable) const {
  std::vector<std::string> others;
  for (const wanted_member& each : all())
    if (each.number != unreadable.number) others.push_back(each.name.field);
  if (others.empty()) return {};
  return "; to open the archive without this member, name fields, of " + list_names(others);
}

void npz_file::require_equal_samples(const std::vector<wanted_member>& wanted) const {
  const wanted_member& first = wanted.front();
  for (const wanted_member& member : wanted) {
    if (member.header.extents.front() == first.header.extents.front()) continue;
    std::string all;
    for (const wanted_member& one : wanted)
      all += (all.empty() ? "" : ", ") + one.name.field + ": " + one.header.describe();
    throw error("'" + member.name.field + "' and '" + first.name.field +
                "' differ in their first dimension, which counts the samples; name the members "
                "that belong together, of " +
                all);
  }
}

void npz_file::require_memory(const std::vector<wanted_member>& wanted) const {
  const std::size_t allowed = options_.max_bytes != 0 ? options_.max_bytes : machine_memory_bytes();
  std::size_t needed = 0;
  for (const wanted_member& member : wanted) {
    if (member.place && member.header.rows_lie_together()) continue;
    if (!__builtin_add_overflow(needed, member.header.payload_bytes, &needed) && needed <= allowed)
      continue;
    throw member.name.error(
        0, "the members that are compressed or in Fortran order take more than the " +
               std::to_string(allowed) + " bytes of memory allowed: this one, " +
               member.header.describe() + ", " + std::to_string(member.header.payload_bytes) +
               "; set max_bytes, or save with numpy.savez, whose members are read from the file");
  }
}

rows_field npz_file::column(const wanted_member& member) const {
  const std::uint64_t bytes = archive_->members()[member.number].bytes;
  if (member.place) return open_npy_array(file_, *member.place, bytes, member.name);
  return read_npy_array(*archive_->open(member.number, member.name), bytes, member.name);
}

#ifndef FEEDLINE_HAS_LIBZIP
std::unique_ptr<zip_archive> open_zip_archive(byte_file_ptr file) {
  throw dataset_error{{.path = file->name(), .field = {}},
                      "is to be read as a zip archive, but this feedline was built without libzip; "
                      "install libzip-dev and build it again, or unpack the archive and use "
                      "open_npy"};
}
#endif

}  // namespace feedline::detail
