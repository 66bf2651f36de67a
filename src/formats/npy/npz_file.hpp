#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/open.hpp>

#include "formats/npy/array.hpp"
#include "formats/npy/zip_archive.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// An archive of NumPy's. Its members named `.npy` are arrays.
class npz_file {
 public:
  npz_file(const std::string& path, const npz_options& options);

  /// These members as fields; all that can be fields, if none is named.
  [[nodiscard]] dataset_ptr open(const std::vector<std::string>& names) const;
  [[nodiscard]] array_ptr array(const std::string& name) const;
  /// An error with the archive's path.
  [[nodiscard]] dataset_error error(const std::string& message) const;
  [[nodiscard]] std::vector<listed_field> list_fields() const;
  /// Whether there is one array of each name.
  [[nodiscard]] bool has_members(std::initializer_list<const char*> names) const;
  /// A member that is one text of three letters, of a byte or four each; else nothing.
  [[nodiscard]] std::string three_letters(const std::string& name) const;

 private:
  /// A member that becomes a field, and its header.
  struct wanted_member {
    std::size_t number = 0;
    file_field name;
    std::optional<std::uint64_t> place = {};  ///< in the file, where it can be read there
    npy_header header = {};
  };

  [[nodiscard]] std::string_view field_of(const zip_member& member) const;
  [[nodiscard]] wanted_member want(std::size_t number) const;
  [[nodiscard]] std::vector<wanted_member> all() const;
  /// Members that are no arrays, by their names; folders aside.
  [[nodiscard]] std::vector<std::string> left_out() const;
  [[nodiscard]] std::vector<wanted_member> find(const std::vector<std::string>& names) const;
  /// Drops members that cannot be fields, and tells why; throws if none is left.
  void leave_out_others(std::vector<wanted_member>& wanted) const;
  /// @param any_shape Same as for `read_npy_header`.
  void look_at(wanted_member& member, bool any_shape = false) const;
  /// Advice if a member cannot be read, and others may be.
  [[nodiscard]] std::string beside(const wanted_member& unreadable) const;
  void require_equal_samples(const std::vector<wanted_member>& wanted) const;
  /// A small archive may claim to hold any amount; nothing of it is taken before this.
  void require_memory(const std::vector<wanted_member>& wanted) const;
  [[nodiscard]] rows_field column(const wanted_member& member) const;

  npz_options options_;
  byte_file_ptr file_;
  std::unique_ptr<zip_archive> archive_;
};

}  // namespace feedline::detail
