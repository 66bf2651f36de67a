#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace programs {

/// The program that reports a message.
enum class program : std::uint8_t { convert, doctor };

/// "feedline-convert" or "feedline-doctor".
[[nodiscard]] std::string_view name_of(program speaker) noexcept;

/// A message of the library as a program says it: members of the library's options become the
/// program's own, "open_options::fields" for example "--fields". Where a program has no such option
/// the message says so. Functions are called the library's. Paths and names of fields stay as they
/// are.
[[nodiscard]] std::string in_words_of(program speaker, std::string_view message);

}  // namespace programs
