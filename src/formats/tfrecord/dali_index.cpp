#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "formats/tfrecord/index.hpp"
#include "io/file_system.hpp"

#include <system_error>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string>

namespace feedline::detail {
namespace {

constexpr std::uint64_t least_bytes = tfrecord_head_bytes + tfrecord_crc_bytes;

/// Takes a number and the character after it off the front of a text.
bool take_number(std::string_view& text, char after, std::uint64_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end == text.data() + text.size() || *end != after) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

/// Whether a record of this size begins here.
bool is_record(const byte_file& file, std::uint64_t begin, std::uint64_t end) {
  std::array<std::byte, tfrecord_head_bytes> head{};
  file.read(begin, head);
  return is_tfrecord_head(head) &&
         little_endian(std::span<const std::byte>{head}.first(8)) == end - begin - least_bytes;
}

/// Whether records that are spread over the file begin and end where an index says.
bool agrees(const byte_file& file, const std::vector<std::uint64_t>& ends) {
  constexpr std::size_t looked_at = 16;
  const std::size_t step = std::max<std::size_t>(1, ends.size() / looked_at);
  for (std::size_t i = 0; i < ends.size(); i += step)
    if (!is_record(file, i == 0 ? 0 : ends[i - 1], ends[i])) return false;
  return is_record(file, ends.size() == 1 ? 0 : ends[ends.size() - 2], ends.back());
}

/// Empty: it is too large for an index of the file, or does not begin like one.
std::string index_text(const std::string& path, const byte_file& of) {
  constexpr std::uint64_t max_line_bytes = 42;  // two numbers of 20 digits
  constexpr std::string_view first = "0 ";
  const byte_file_ptr file = open_file(path);
  if (file->size() < first.size() || file->size() / max_line_bytes > of.size() / least_bytes)
    return {};
  std::string head(first.size(), '\0');
  file->read(0, std::as_writable_bytes(std::span{head}));
  if (head != first) return {};
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  file->read(0, std::as_writable_bytes(std::span{text}));
  file->require_unchanged();
  return text;
}

}  // namespace

std::vector<std::uint64_t> read_dali_index(std::string_view text, const byte_file& of) {
  std::vector<std::uint64_t> ends;
  std::uint64_t last = 0;
  while (!text.empty()) {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    if (!take_number(text, ' ', begin) || !take_number(text, '\n', bytes)) return {};
    if (begin != last || bytes < least_bytes || bytes > of.size() - last) return {};
    ends.push_back(last += bytes);
  }
  if (last != of.size() || ends.empty() || !agrees(of, ends)) return {};
  return ends;
}

std::vector<std::uint64_t> dali_index_beside(const byte_file& of) {
  const std::filesystem::path name = of.name();
  // An ending after the query of an address names no other file.
  const bool has_query =
      of.name().find("://") != std::string::npos && of.name().find('?') != std::string::npos;
  if (name.empty() || name.extension() == ".idx" || has_query) return {};
  std::filesystem::path replaced = name;
  replaced.replace_extension(".idx");
  for (const std::string& path : {name.string() + ".idx", replaced.string()}) {
    if (kind_of_entry(path) != entry_kind::file) continue;
    std::string fault = "it is of another file, or of this one before it changed";
    try {
      auto ends = read_dali_index(index_text(path, of), of);
      if (!ends.empty()) return ends;
    } catch (const dataset_error& error) {
      fault = error.what();
    }
    log()->warn(
        "open_tfrecord: the index {} is not used: {}; the records are found without it. Make it "
        "again with tfrecord2idx, or delete it",
        printable(path), printable(fault));
  }
  return {};
}

}  // namespace feedline::detail
