#include "detail/threads.hpp"
#include "formats/kept_index.hpp"
#include "formats/table/line_index.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t byte_order_mark_bytes = 3;
constexpr std::size_t head_numbers = 4;  ///< begin, and three counts

/// Kind of index: its form and the quote that it was made with.
std::string kind_of(std::optional<char> quote) {
  return "FLLINES1" + (quote ? std::string{"q"} + *quote : std::string{"--"});
}

/// Whether these are offsets of the text in rising order.
bool are_ends(const std::vector<std::uint64_t>& ends, std::uint64_t begin, std::uint64_t bytes) {
  return ends.empty() || (ends.front() > begin && ends.back() <= bytes &&
                          std::ranges::adjacent_find(ends, std::greater_equal<>{}) == ends.end());
}

std::optional<line_index> kept_lines(const byte_file& of, std::optional<char> quote,
                                     const std::string& folder) {
  const auto numbers = find_kept_index(of, kind_of(quote), folder);
  return numbers ? line_index_of(*numbers, of.size()) : std::nullopt;
}

}  // namespace

std::vector<std::uint64_t> numbers_of(const line_index& index) {
  std::vector<std::uint64_t> numbers{index.begin, index.ends.size(), index.blank.size(),
                                     index.inner.size()};
  for (const auto* const part : {&index.ends, &index.blank, &index.inner})
    numbers.insert(numbers.end(), part->begin(), part->end());
  return numbers;
}

std::optional<line_index> line_index_of(std::span<const std::uint64_t> numbers,
                                        std::uint64_t bytes) {
  if (numbers.size() < head_numbers) return std::nullopt;
  line_index index{.begin = numbers[0], .ends = {}, .blank = {}, .inner = {}};
  if (index.begin > bytes || (index.begin != 0 && index.begin != byte_order_mark_bytes))
    return std::nullopt;
  std::span<const std::uint64_t> left = numbers.subspan(head_numbers);
  std::size_t next_count = 1;
  for (auto* const part : {&index.ends, &index.blank, &index.inner}) {
    const std::uint64_t count = numbers[next_count++];
    if (count > left.size()) return std::nullopt;
    part->assign(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(count));
    left = left.subspan(static_cast<std::size_t>(count));
    if (!are_ends(*part, index.begin, bytes)) return std::nullopt;
  }
  const auto last = [&](const std::vector<std::uint64_t>& ends) {
    return ends.empty() ? index.begin : ends.back();
  };
  if (!left.empty() || std::max(last(index.ends), last(index.blank)) != bytes) return std::nullopt;
  return index;
}

std::vector<line_index> index_lines(const std::vector<byte_file_ptr>& files,
                                    std::optional<char> quote, const std::string& folder,
                                    std::string_view who) {
  if (folder.empty()) return index_lines(files, quote);
  std::vector<std::optional<line_index>> kept(files.size());
  parallel_for(files.size(),
               [&](std::size_t i) { kept[i] = kept_lines(*files[i], quote, folder); });
  std::vector<byte_file_ptr> others;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!kept[i]) others.push_back(files[i]);
  std::vector<line_index> made = index_lines(others, quote);
  std::vector<line_index> all;
  for (std::size_t i = 0, next = 0; i < files.size(); ++i) {
    if (!kept[i]) {
      kept[i] = std::move(made[next++]);
      keep_index(*files[i], kind_of(quote), folder, numbers_of(*kept[i]), who);
    }
    all.push_back(*std::move(kept[i]));
  }
  return all;
}

}  // namespace feedline::detail
