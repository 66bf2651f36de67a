#pragma once

#include <feedline/dataset/dataset.hpp>

#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::test {

/// Writes a text into a file. @return Its path.
[[nodiscard]] inline std::string write_text(const temporary_directory& folder,
                                            std::string_view name, std::string_view text) {
  return folder.write(name, std::as_bytes(std::span{text})).string();
}

/// The values of a field in a sample.
template <class T>
[[nodiscard]] std::vector<T> values_of(const dataset& from, std::uint64_t sample,
                                       std::string_view name) {
  const std::vector<field> fields = from.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name != name) continue;
    const auto bytes = read_sample(from, sample_index{sample})[i];
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  throw std::runtime_error{"no field " + std::string{name}};
}

template <class T>
[[nodiscard]] T value_of(const dataset& from, std::uint64_t sample, std::string_view name) {
  return values_of<T>(from, sample, name).at(0);
}

/// The text of a ragged field of bytes.
[[nodiscard]] inline std::string text_of(const dataset& from, std::uint64_t sample,
                                         std::string_view name) {
  const auto bytes = values_of<char>(from, sample, name);
  const auto length = value_of<std::int32_t>(from, sample, std::string{name} + "_length");
  return {bytes.data(), static_cast<std::size_t>(length)};
}

/// The fields, as messages show them.
[[nodiscard]] inline std::vector<std::string> shown_fields(const dataset& of) {
  std::vector<std::string> shown;
  for (const field& each : of.fields()) shown.push_back(to_string(each));
  return shown;
}

}  // namespace feedline::test
