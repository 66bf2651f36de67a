#include "formats/tar/kept_members.hpp"

#include "formats/kept_index.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::size_t member_numbers = 5;  ///< three offsets, and two lengths of texts
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::string_view kind_of(tar_rules rules) {
  return rules == tar_rules::strict ? "FLTARS1" : "FLTARL1";
}

std::size_t kept_words(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + word_bytes - 1) / word_bytes);
}

/// Eight characters a number, the first one in its lowest byte.
void put(std::vector<std::uint64_t>& numbers, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at += word_bytes) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < std::min(word_bytes, text.size() - at); ++i)
      word |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << 8 * i;
    numbers.push_back(word);
  }
}

std::string kept_text(std::span<const std::uint64_t> words, std::uint64_t bytes) {
  std::string text;
  text.reserve(static_cast<std::size_t>(bytes));
  for (std::uint64_t i = 0; i < bytes; ++i)
    text += static_cast<char>(
        words[static_cast<std::size_t>(i / word_bytes)] >> 8 * (i % word_bytes) & 0xff);
  return text;
}

}  // namespace

std::vector<std::uint64_t> numbers_of(const std::vector<tar_member>& members) {
  std::vector<std::uint64_t> numbers;
  for (const tar_member& each : members) {
    numbers.insert(numbers.end(),
                   {each.header, each.offset, each.size, each.name.size(), each.instead.size()});
    put(numbers, each.name);
    put(numbers, each.instead);
  }
  return numbers;
}

std::optional<std::vector<tar_member>> members_of(std::span<const std::uint64_t> numbers,
                                                  std::uint64_t bytes) {
  std::vector<tar_member> members;
  std::uint64_t last = 0;  // end of the member before
  while (!numbers.empty()) {
    if (numbers.size() < member_numbers) return std::nullopt;
    tar_member next{.name = {}, .header = numbers[0], .offset = numbers[1], .size = numbers[2]};
    const std::uint64_t name = numbers[3];
    const std::uint64_t instead = numbers[4];
    numbers = numbers.subspan(member_numbers);
    const std::uint64_t room = numbers.size() * word_bytes;
    const bool fits = name <= room && instead <= room &&
                      kept_words(name) + kept_words(instead) <= numbers.size() &&
                      next.header >= last && next.offset > next.header && next.offset <= bytes &&
                      next.size <= bytes - next.offset;
    if (!fits) return std::nullopt;
    next.name = kept_text(numbers, name);
    numbers = numbers.subspan(kept_words(name));
    next.instead = kept_text(numbers, instead);
    numbers = numbers.subspan(kept_words(instead));
    last = next.offset + next.size;
    members.push_back(std::move(next));
  }
  return members;
}

std::optional<std::vector<tar_member>> find_kept_members(const byte_file& of, tar_rules rules,
                                                         const std::string& folder) {
  const auto numbers = find_kept_index(of, kind_of(rules), folder);
  return numbers ? members_of(*numbers, of.size()) : std::nullopt;
}

void keep_members(const byte_file& of, tar_rules rules, const std::string& folder,
                  const std::vector<tar_member>& members) {
  keep_index(of, kind_of(rules), folder, numbers_of(members), "open_tar");
}

}  // namespace feedline::detail
