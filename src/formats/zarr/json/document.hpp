#pragma once

#include <feedline/error.hpp>

#include "io/byte_source.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace feedline::detail {

using zarr_json = nlohmann::json;

/// An array of a type that no field can have: texts, records. It is left out; other arrays that
/// cannot be read are errors.
class zarr_not_a_field : public dataset_error {
 public:
  using dataset_error::dataset_error;
};

/// Values for the numbers NaN, Infinity and -Infinity, which Python writes into attributes as bare
/// words: texts of these letters, or objects whose one member, without a name, is that text.
enum class zarr_words : bool { texts, objects };

/// Parses a metadata document.
/// @param where Names the document in errors.
/// @throws dataset_error: no JSON, nested too deep, an object with two members of one name.
[[nodiscard]] zarr_json parse_zarr_json(std::string_view text, const file_field& where,
                                        zarr_words words = zarr_words::texts);

/// A JSON value, shortened for a message.
[[nodiscard]] std::string shown(const zarr_json& value);

/// An object of a document, with errors that say which member is wrong, and how. It refers to the
/// document, which must exist as long.
class zarr_members {
 public:
  /// @param what Names the object in messages: "the codec 'gzip'". @throws dataset_error if the
  /// value is no object.
  zarr_members(const zarr_json& object, file_field where, std::string what);

  /// Null if there is none.
  [[nodiscard]] const zarr_json* find(const char* name) const;
  /// @throws dataset_error if there is none.
  [[nodiscard]] const zarr_json& at(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  /// A number from 0 to 2^63 - 1.
  [[nodiscard]] std::uint64_t whole(const char* name) const;
  /// A list of such numbers, at most 32.
  [[nodiscard]] std::vector<std::uint64_t> wholes(const char* name) const;
  /// The same, all at least 1.
  [[nodiscard]] std::vector<std::uint64_t> extents(const char* name) const;
  [[nodiscard]] const zarr_json& object() const noexcept { return *object_; }
  [[nodiscard]] const file_field& where() const noexcept { return where_; }

  [[noreturn]] void refuse(const std::string& message) const;
  /// @throws zarr_not_a_field
  [[noreturn]] void leave_out(const std::string& message) const;
  /// The member's value is not what is wanted.
  [[noreturn]] void refuse_member(const char* name, const std::string& wanted) const;

 private:
  const zarr_json* object_;
  file_field where_;
  std::string what_;
};

}  // namespace feedline::detail
