#include <feedline/arrays/csr.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/open.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/npy/array.hpp"
#include "formats/npy/zip_archive.hpp"
#include "io/file_system.hpp"
#include "io/range_source.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// A member that becomes a field, and its header.
struct wanted_member {
  std::size_t number = 0;
  detail::file_field name;
  std::optional<std::uint64_t> place = {};  ///< in the file, where it can be read there
  detail::npy_header header = {};
};

class npz_file {
 public:
  npz_file(const std::string& path, const npz_options& options)
      : options_{options},
        file_{detail::open_file(path)},
        archive_{detail::open_zip_archive(file_)} {}

  dataset_ptr open(const std::vector<std::string>& names) const {
    std::vector<wanted_member> wanted = names.empty() ? all() : find(names);
    if (names.empty())
      leave_out_others(wanted);
    else
      for (wanted_member& member : wanted) look_at(member);
    require_equal_samples(wanted);
    require_memory(wanted);
    std::vector<detail::rows_field> columns;
    for (const wanted_member& member : wanted) try {
        columns.push_back(column(member));
      } catch (const dataset_error& refusal) {
        if (!names.empty()) throw;
        throw dataset_error{refusal.where(), refusal.message() + beside(member)};
      }
    file_->require_unchanged();
    if (const auto others = left_out(); names.empty() && !others.empty())
      detail::log()->warn("{}: members that are no arrays (.npy) are left out: {}",
                          detail::printable(file_->name()), detail::list_names(others));
    return detail::make_rows_dataset("file dataset", std::move(columns));
  }

  array_ptr array(const std::string& name) const {
    wanted_member member = find({name}).front();
    look_at(member, true);
    const std::uint64_t bytes = archive_->members()[member.number].bytes;
    array_ptr array = member.place
                          ? detail::open_npy_box_array(file_, *member.place, bytes, member.name)
                          : detail::read_npy_box_array(*archive_->open(member.number, member.name),
                                                       bytes, member.name);
    file_->require_unchanged();
    return array;
  }

  /// The format of the sparse matrix that `scipy.sparse.save_npz` wrote: "csr", "coo", …; empty if
  /// the archive has no such matrix, but perhaps members of these names that mean something else.
  std::string sparse_format() const {
    if (!has_members({"data", "format", "shape"})) return {};
    std::string format = three_letters("format");
    const bool has_rows = format == "csr" || format == "csc" || format == "bsr";
    if (has_rows && has_members({"indices", "indptr"})) return format;
    const bool has_places = has_members({"row", "col"}) || has_members({"coords"});
    if (format == "coo" && has_places) return format;
    if (format == "dia" && has_members({"offsets"})) return format;
    return {};
  }

  dataset_error error(const std::string& message) const {
    return {{.path = file_->name(), .field = {}}, message};
  }

  std::vector<listed_field> list_fields() const {
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

 private:
  bool has_members(std::initializer_list<const char*> names) const {
    return std::ranges::all_of(names, [&](const std::string name) {
      return std::ranges::count(archive_->members(), name + ".npy", &detail::zip_member::name) == 1;
    });
  }

  /// A member that is one text of three letters, of a byte or four each; else nothing.
  std::string three_letters(const std::string& name) const {
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

  std::string_view field_of(const detail::zip_member& member) const {
    std::string_view name = member.name;
    if (name.ends_with(detail::npy_suffix)) name.remove_suffix(detail::npy_suffix.size());
    return name;
  }

  wanted_member want(std::size_t number) const {
    const auto& members = archive_->members();
    const std::string& name = members[number].name;
    if (std::ranges::count(members, name, &detail::zip_member::name) > 1)
      throw error("holds several members named '" + name +
                  "'; remove all but one (zip -d removes them all), or write the archive again "
                  "with numpy.savez");
    return {number,
            {file_->name(), std::string{field_of(archive_->members()[number])},
             " (the byte is the member's)"}};
  }

  std::vector<wanted_member> all() const {
    std::vector<wanted_member> wanted;
    for (std::size_t i = 0; i < archive_->members().size(); ++i)
      if (archive_->members()[i].name.ends_with(detail::npy_suffix)) wanted.push_back(want(i));
    if (wanted.empty()) throw error("holds no arrays: no member's name ends in .npy");
    return wanted;
  }

  /// Members that are no arrays, by their names; folders aside.
  std::vector<std::string> left_out() const {
    std::vector<std::string> others;
    for (const detail::zip_member& member : archive_->members())
      if (!member.name.ends_with(detail::npy_suffix) && !member.name.ends_with('/'))
        others.push_back(member.name);
    return others;
  }

  std::vector<wanted_member> find(const std::vector<std::string>& names) const {
    const auto& members = archive_->members();
    std::vector<wanted_member> wanted;
    for (const std::string& name : names) {
      auto found = std::ranges::find(members, name, &detail::zip_member::name);
      if (found == members.end())
        found = std::ranges::find(members, name + std::string{detail::npy_suffix},
                                  &detail::zip_member::name);
      if (found == members.end()) {
        std::vector<std::string> all;
        for (const auto& member : members) all.emplace_back(field_of(member));
        throw error("has no member '" + name + "'; there are: " + detail::list_names(all));
      }
      wanted.push_back(want(static_cast<std::size_t>(found - members.begin())));
    }
    return wanted;
  }

  /// Drops members that cannot be fields, and tells why; throws if none is left.
  void leave_out_others(std::vector<wanted_member>& wanted) const {
    std::optional<dataset_error> first;
    std::erase_if(wanted, [&](wanted_member& member) {
      try {
        look_at(member);
        return false;
      } catch (const detail::npy_not_a_field& refusal) {
        detail::log()->warn("{}: left out: {}", detail::printable(file_->name()),
                            detail::printable(refusal.what()));
        if (!first) first = refusal;
        return true;
      } catch (const dataset_error& refusal) {
        throw dataset_error{refusal.where(), refusal.message() + beside(member)};
      }
    });
    if (wanted.empty()) throw dataset_error{*first};
  }

  /// @param any_shape Same as for `read_npy_header`.
  void look_at(wanted_member& member, bool any_shape = false) const {
    const detail::zip_member& claimed = archive_->members()[member.number];
    if (claimed.is_encrypted)
      throw member.name.error(0, "the member is encrypted; save the archive without a password");
    member.place = archive_->place(member.number, member.name);
    if (member.place) {
      detail::range_source head{file_, *member.place, claimed.bytes};
      member.header = detail::read_npy_header(head, member.name, any_shape);
    } else {
      member.header = detail::read_npy_header(*archive_->open(member.number, member.name),
                                              member.name, any_shape);
    }
    member.header.require_room(claimed.bytes, member.name);
  }

  /// Advice if a member cannot be read, and others may be.
  std::string beside(const wanted_member& unreadable) const {
    std::vector<std::string> others;
    for (const wanted_member& each : all())
      if (each.number != unreadable.number) others.push_back(each.name.field);
    if (others.empty()) return {};
    return "; to open the archive without this member, name fields, of " +
           detail::list_names(others);
  }

  void require_equal_samples(const std::vector<wanted_member>& wanted) const {
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

  /// A small archive may claim to hold any amount; nothing of it is taken before this.
  void require_memory(const std::vector<wanted_member>& wanted) const {
    const std::size_t allowed =
        options_.max_bytes != 0 ? options_.max_bytes : detail::machine_memory_bytes();
    std::size_t needed = 0;
    for (const wanted_member& member : wanted) {
      if (member.place && member.header.rows_lie_together()) continue;
      if (!__builtin_add_overflow(needed, member.header.payload_bytes, &needed) &&
          needed <= allowed)
        continue;
      throw member.name.error(
          0, "the members that are compressed or in Fortran order take more than the " +
                 std::to_string(allowed) + " bytes of memory allowed: this one, " +
                 member.header.describe() + ", " + std::to_string(member.header.payload_bytes) +
                 "; set max_bytes, or save with numpy.savez, whose members are read from the file");
    }
  }

  detail::rows_field column(const wanted_member& member) const {
    const std::uint64_t bytes = archive_->members()[member.number].bytes;
    if (member.place) return detail::open_npy_array(file_, *member.place, bytes, member.name);
    return detail::read_npy_array(*archive_->open(member.number, member.name), bytes, member.name);
  }

  npz_options options_;
  detail::byte_file_ptr file_;
  std::unique_ptr<detail::zip_archive> archive_;
};

}  // namespace

dataset_ptr open_npz(const std::string& file, const std::vector<std::string>& members,
                     const npz_options& options) {
  return npz_file{file, options}.open(members);
}

array_ptr open_npz_array(const std::string& file, const std::string& member) {
  return npz_file{file, {}}.array(member);
}

dataset_ptr open_npz_csr(const std::string& file, std::string field_name) {
  const npz_file archive{file, {}};
  const std::string format = archive.sparse_format();
  if (format.empty())
    throw archive.error(
        "holds no sparse matrix: its members are not those of scipy.sparse.save_npz, which for "
        "'csr' "
        "are data, indices, indptr, shape, and the text format");
  if (format != "csr")
    throw archive.error("holds a sparse matrix of the format '" + format +
                        "', but rows are read from 'csr'; save matrix.tocsr()");
  std::array<std::int64_t, 2> shape{};
  const array_ptr stored = archive.array("shape");
  if (stored->spec().type != element_type::i64 ||
      stored->spec().shape != std::vector<std::uint64_t>{2})
    throw archive.error("its member shape is " + to_string(stored->spec()) +
                        ", but should be two int64; save it by scipy.sparse.save_npz");
  stored->read_all(std::as_writable_bytes(std::span{shape}));
  if (shape[1] < 1)
    throw archive.error("claims a matrix of " + std::to_string(shape[1]) + " columns");
  return make_csr_dataset(std::move(field_name), {.data = archive.array("data"),
                                                  .indices = archive.array("indices"),
                                                  .indptr = archive.array("indptr"),
                                                  .columns = static_cast<std::uint64_t>(shape[1])});
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

namespace feedline::detail {

std::vector<listed_field> list_npz(const std::string& file, const std::string& matrix_name) {
  const npz_file archive{file, {}};
  std::vector<listed_field> listed = archive.list_fields();
  if (archive.sparse_format() != "csr") return listed;
  const dataset_ptr rows = open_npz_csr(file, matrix_name);
  for (listed_field& each : listed) {
    each = listed_field{.name = each.name,
                        .left_out = "a part of the sparse matrix '" + matrix_name + '\''};
  }
  listed.insert(listed.begin(),
                {.name = matrix_name, .samples = rows->size(), .spec = rows->fields().front()});
  return listed;
}

dataset_ptr open_whole_npz(const std::string& file, const std::vector<std::string>& fields,
                           const std::string& matrix_name) {
  const bool is_matrix = fields.empty() || fields == std::vector{matrix_name};
  if (!is_matrix || npz_file{file, {}}.sparse_format().empty()) return open_npz(file, fields);
  return open_npz_csr(file, matrix_name);
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
