#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>

#include "support/checks/message_of.hpp"
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

using strings = std::vector<std::string>;

/// The error of opening a file with this text, or of reading its last sample; without the path.
/// @param open Is given the file's path, and returns a dataset.
template <class Open>
[[nodiscard]] std::string refusal_of(std::string_view text, const Open& open) {
  const temporary_directory folder;
  const std::string file = write_text(folder, "x", text);
  const std::string message = message_of<dataset_error>([&] {
    const dataset_ptr data = open(file);
    (void)read_sample(*data, {data->size() - 1});
  });
  return message.starts_with(file) ? message.substr(file.size()) : message;
}

/// The fields, as messages show them.
[[nodiscard]] inline strings shown_fields(const dataset& of) {
  strings shown;
  for (const field& each : of.fields()) shown.push_back(to_string(each));
  return shown;
}

}  // namespace feedline::test
