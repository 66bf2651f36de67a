#include "formats/lmdb/tree.hpp"

#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/lmdb/page.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::size_t meta_bytes = 152;  // a page's head, and the description after it
constexpr unsigned several_values = 4;   // MDB_DUPSORT

/// The description of the file on one of its first two pages.
struct lmdb_meta {
  std::uint64_t page_bytes = 0;
  std::uint64_t transaction = 0;
  lmdb_database main;
};

dataset_error damaged(const byte_file& file, std::uint64_t at, const std::string& why) {
  return {{.path = file.name(), .field = {}, .sample = {}, .offset = at},
          why + "; get the file again"};
}

/// Empty if there is none at this offset.
std::optional<lmdb_meta> read_meta(const byte_file& file, std::uint64_t at) {
  constexpr std::uint64_t known_version = 1;
  if (file.size() < meta_bytes || at > file.size() - meta_bytes) return std::nullopt;
  std::vector<std::byte> bytes(meta_bytes);
  file.read(at, bytes);
  const std::span<const std::byte> all{bytes};
  const auto number = [&](std::size_t offset, std::size_t size) {
    return little_endian(all.subspan(offset, size));
  };
  if (number(16, 4) != 0xbeefc0de) return std::nullopt;
  if (number(20, 4) != known_version)
    throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = at + 20},
                        "is of version " + std::to_string(number(20, 4)) +
                            " of LMDB's format, and feedline reads 1, which LMDB 0.9 writes; dump "
                            "and load it (mdb_dump, mdb_load)"};
  const std::uint64_t page_bytes = number(40, 4);
  if (page_bytes < 256 || page_bytes > 65536 || !std::has_single_bit(page_bytes))
    throw damaged(file, at + 40, "has pages of " + std::to_string(page_bytes) + " bytes");
  return lmdb_meta{.page_bytes = page_bytes,
                   .transaction = number(144, 8),
                   .main = lmdb_database::read(all.subspan(88, lmdb_database::bytes))};
}

/// The newer one of both descriptions.
lmdb_meta newest_meta(const byte_file& file) {
  const auto first = read_meta(file, 0);
  if (!first) throw damaged(file, 0, "is no LMDB file, or its first page is damaged");
  const auto second = read_meta(file, first->page_bytes);
  return second && second->transaction > first->transaction ? *second : *first;
}

/// Walks over the pages of a database, from the first key to the last.
class tree_walk {
 public:
  tree_walk(const byte_file& file, std::uint64_t page_bytes)
      : file_{file}, page_bytes_{page_bytes}, pages_{file.size() / page_bytes} {}

  /// @param use Is given each node of a leaf and its page.
  template <class Use>
  void walk(const lmdb_database& of, const Use& use) {
    if (of.root == lmdb_database::no_root) return;
    read_ = 0;
    visit({of.root}, 0, use);
  }

  /// Location of a leaf's value in the file.
  [[nodiscard]] byte_range value_of(const lmdb_node& node, const lmdb_page& page,
                                    std::uint64_t page_number) const {
    std::uint64_t begin = page_number * page_bytes_ + node.data;
    if ((node.flags & lmdb_page::big_data) != 0) {
      const std::uint64_t number = little_endian(page.part(node.data, 8));
      if (number >= pages_ ||
          node.size > file_.size() - number * page_bytes_ - lmdb_page::head_bytes)
        page.refuse("it leads to a value of " + std::to_string(node.size) + " bytes on page " +
                    std::to_string(number) + ", which is not within the file");
      begin = number * page_bytes_ + lmdb_page::head_bytes;
    }
    return {begin, begin + node.size};
  }

 private:
  static constexpr unsigned max_depth = 32;

  /// @param numbers Pages of one level, in the order of their keys.
  template <class Use>
  void visit(const std::vector<std::uint64_t>& numbers, unsigned depth, const Use& use) {
    const auto size = static_cast<std::size_t>(page_bytes_);
    // A few pages that name one page many times claim memory for all, and a ring is read forever.
    if (numbers.size() > pages_ - read_ || depth == max_depth)
      throw damaged(file_, 0,
                    "the tree of keys is damaged: it leads to more pages than the " +
                        std::to_string(pages_) + " of the file, or is more than " +
                        std::to_string(max_depth) + " deep");
    read_ += numbers.size();
    std::vector<std::byte> memory(numbers.size() * size);
    std::vector<byte_read> parts;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] >= pages_)
        throw damaged(file_, 0,
                      "the tree of keys is damaged: it leads to page " +
                          std::to_string(numbers[i]) + ", and the file has " +
                          std::to_string(pages_));
      parts.push_back({numbers[i] * page_bytes_, std::span{memory}.subspan(i * size, size)});
    }
    file_.read(parts);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto bytes = std::span<const std::byte>{memory}.subspan(i * size, size);
      const lmdb_page page{file_, bytes, numbers[i], numbers[i] * page_bytes_};
      if (!page.is_branch()) {
        for (std::size_t k = 0; k < page.count(); ++k) use(page.node(k), page, numbers[i]);
        continue;
      }
      std::vector<std::uint64_t> children;
      for (std::size_t k = 0; k < page.count(); ++k) children.push_back(page.node(k).child);
      visit(children, depth + 1, use);
    }
  }

  const byte_file& file_;
  std::uint64_t page_bytes_;
  std::uint64_t pages_;
  std::uint64_t read_ = 0;
};

std::string_view key_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The main database, or one that it names.
lmdb_database choose_database(const byte_file& file, tree_walk& tree, const lmdb_database& main,
                              const std::string& wanted) {
  constexpr std::size_t max_named = 4096;
  std::vector<std::string> names;
  std::vector<lmdb_database> named;
  bool has_values = false;
  if (main.root != lmdb_database::no_root && (main.entries <= max_named || !wanted.empty()))
    tree.walk(main, [&](const lmdb_node& node, const lmdb_page& page, std::uint64_t) {
      if ((node.flags & lmdb_page::sub_data) == 0 || (node.flags & lmdb_page::dup_data) != 0) {
        has_values = true;
        return;
      }
      if (node.size != lmdb_database::bytes) page.refuse("a database in it is not of 48 bytes");
      if (names.size() == max_named) page.refuse("the file has more than 4096 databases");
      names.emplace_back(key_text(node.key));
      named.push_back(lmdb_database::read(page.part(node.data, lmdb_database::bytes)));
    });
  if (wanted.empty() && names.empty()) return main;
  if (wanted.empty() && names.size() == 1 && !has_values) return named.front();
  const auto found = std::ranges::find(names, wanted);
  if (wanted.empty())
    throw dataset_error{{.path = file.name(), .field = {}},
                        "has several databases: " + list_names(names) +
                            (has_values ? ", and values of its own" : "") +
                            "; name one in lmdb_options::database (open_lmdb)"};
  if (found == names.end())
    throw dataset_error{
        {.path = file.name(), .field = {}},
        "has no database '" + printable(wanted) + "'; there are: " + list_names(names)};
  return named[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

bool is_lmdb_head(std::span<const std::byte> head) noexcept {
  constexpr std::size_t looked_at = 20;
  return head.size() >= looked_at && little_endian(head.first(8)) == 0 &&
         little_endian(head.subspan(16, 4)) == 0xbeefc0de;
}

void read_lmdb_entries(const byte_file& file, const std::string& database,
                       const use_lmdb_entry& use) {
  const lmdb_meta meta = newest_meta(file);
  tree_walk tree{file, meta.page_bytes};
  const lmdb_database chosen = choose_database(file, tree, meta.main, database);
  if ((chosen.flags & several_values) != 0)
    throw dataset_error{{.path = file.name(), .field = {}},
                        "has several values for a key (MDB_DUPSORT), which feedline does not read; "
                        "write each with a key of its own"};
  std::uint64_t entries = 0;
  tree.walk(chosen, [&](const lmdb_node& node, const lmdb_page& page, std::uint64_t number) {
    if ((node.flags & (lmdb_page::sub_data | lmdb_page::dup_data)) != 0)
      page.refuse("a value in it is a database");
    ++entries;
    use(key_text(node.key), tree.value_of(node, page, number));
  });
  if (entries != chosen.entries)
    throw damaged(file, 0,
                  "says that it has " + std::to_string(chosen.entries) + " keys, but has " +
                      std::to_string(entries));
}

}  // namespace feedline::detail
