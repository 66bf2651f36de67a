#pragma once

#include <feedline/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace feedline::detail {

/// The text of a file that describes a set.
/// @throws dataset_error if it cannot be read, or is larger than 1 GiB.
[[nodiscard]] std::string read_index_text(const std::string& path);

/// An object of an index, whose members are checked. It refers to the document, which must exist as
/// long.
class index_object {
 public:
  /// @param path Names the file in errors. @param what Names the object: "shard 3".
  /// @throws dataset_error if the value is no object.
  index_object(const nlohmann::json& value, std::string path, std::string what);

  /// Null if there is none, or it is null.
  [[nodiscard]] const nlohmann::json* find(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  /// Empty if there is none, or it is null.
  [[nodiscard]] std::string text_or_empty(const char* name) const;
  [[nodiscard]] std::uint64_t whole(const char* name) const;
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;
  [[nodiscard]] const nlohmann::json& list(const char* name) const;
  [[nodiscard]] index_object object(const char* name) const;

  [[noreturn]] void refuse(const std::string& message) const;

 private:
  [[nodiscard]] const nlohmann::json& at(const char* name, const char* wanted) const;

  const nlohmann::json* value_;
  std::string path_;
  std::string what_;
};

/// Parses the document. @throws dataset_error: no JSON, or nested more than 64 levels deep.
[[nodiscard]] nlohmann::json parse_index(const std::string& text, const std::string& path);

/// The path of a file beside an index. @param name Its name in the index; it may be in a folder
/// below.
/// @throws dataset_error if it is not below the index's folder.
[[nodiscard]] std::string path_beside(const std::string& index, const std::string& name);

}  // namespace feedline::detail
