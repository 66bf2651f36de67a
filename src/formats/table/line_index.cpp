#include "formats/table/line_index.hpp"

#include "detail/threads.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;
constexpr std::size_t bytes_before = 2;  // a line's end, to tell lines without content

/// The end of a line.
struct line_end {
  std::uint64_t at = 0;  ///< after it
  bool is_blank = false;
};

/// The lines that end in a piece of a file. It is not known yet whether the piece begins within
/// quotes.
struct piece_lines {
  std::array<std::vector<line_end>, 2> ends;  ///< after an even and an odd number of quotes
  bool is_odd = false;                        ///< number of quotes
};

/// Counts the quotes before each line end in turn.
class quote_counter {
 public:
  quote_counter(const char* begin, const char* end, std::optional<char> quote)
      : end_{end}, quote_{quote} {
    find_next(begin);
  }

  /// @return Whether the number of quotes before this byte is odd.
  bool is_odd_before(const char* place) {
    while (next_ < place) {
      is_odd_ = !is_odd_;
      find_next(next_ + 1);
    }
    return is_odd_;
  }

 private:
  void find_next(const char* from) {
    const void* const found =
        quote_ && from < end_ ? std::memchr(from, *quote_, static_cast<std::size_t>(end_ - from))
                              : nullptr;
    next_ = found == nullptr ? end_ : static_cast<const char*>(found);
  }

  const char* end_;
  std::optional<char> quote_;
  const char* next_ = nullptr;
  bool is_odd_ = false;
};

/// @param bytes The piece, after `before` bytes that are before it. @param at Offset of the piece.
piece_lines scan_piece(std::string_view bytes, std::size_t before, std::uint64_t at,
                       std::optional<char> quote) {
  piece_lines found;
  const char* const begin = bytes.data() + before;
  const char* const end = bytes.data() + bytes.size();
  quote_counter quotes{begin, end, quote};
  const auto is_line_end = [&](const char* place) {
    return place < bytes.data() || *place == '\n';  // before the file's first byte is a line's end
  };
  for (const char* from = begin; from < end;) {
    const void* const next = std::memchr(from, '\n', static_cast<std::size_t>(end - from));
    if (next == nullptr) break;
    const auto* const place = static_cast<const char*>(next);
    const char* const last = place > bytes.data() && place[-1] == '\r' ? place - 2 : place - 1;
    found.ends[std::size_t{quotes.is_odd_before(place)}].push_back(
        {at + static_cast<std::uint64_t>(place + 1 - begin), is_line_end(last)});
    from = place + 1;
  }
  found.is_odd = quotes.is_odd_before(end);
  return found;
}

void require_text(const byte_file& file, std::string_view head) {
  const auto refuse = [&](const char* why) {
    throw dataset_error{{.path = file.name(), .field = {}}, why};
  };
  if (head.starts_with("\x1f\x8b"))
    refuse("is compressed by gzip twice; decompress it once (gunzip)");
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff"))
    refuse("is UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
}

std::uint64_t begin_of_text(const byte_file& file) {
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(3, file.size())), '\0');
  file.read(0, std::as_writable_bytes(std::span{head}));
  require_text(file, head);
  return head == "\xef\xbb\xbf" ? 3 : 0;
}

piece_lines read_piece(const byte_file& file, std::uint64_t begin, std::uint64_t at,
                       std::optional<char> quote) {
  const auto before = static_cast<std::size_t>(std::min<std::uint64_t>(at - begin, bytes_before));
  std::string bytes(static_cast<std::size_t>(std::min(piece_bytes, file.size() - at) + before),
                    '\0');
  file.read(at - before, std::as_writable_bytes(std::span{bytes}));
  return scan_piece(bytes, before, at - begin, quote);
}

/// Puts the lines of a file's pieces together.
line_index join_pieces(const byte_file& file, std::uint64_t begin, std::span<piece_lines> pieces) {
  line_index index{.begin = begin, .ends = {}, .blank = {}, .inner = {}};
  bool is_quoted = false;
  std::uint64_t last = begin;  // end of the last line
  for (piece_lines& piece : pieces) {
    for (const line_end& each : piece.ends[std::size_t{is_quoted}]) {
      (each.is_blank ? index.blank : index.ends).push_back(begin + each.at);
      last = begin + each.at;
    }
    for (const line_end& each : piece.ends[std::size_t{!is_quoted}])
      index.inner.push_back(begin + each.at);
    is_quoted ^= piece.is_odd;
    piece = {};
  }
  if (last < file.size()) index.ends.push_back(file.size());
  return index;
}

}  // namespace

std::uint64_t line_index::line_of(std::size_t record) const noexcept {
  const byte_range at = this->record(record);
  const auto count_up_to = [](const std::vector<std::uint64_t>& in, std::uint64_t end) {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(in, end) - in.begin());
  };
  return 1 + record + count_up_to(blank, at.end - 1) + count_up_to(inner, at.begin);
}

std::vector<line_index> index_lines(const std::vector<byte_file_ptr>& files,
                                    std::optional<char> quote) {
  struct piece_place {
    std::size_t file = 0;
    std::uint64_t at = 0;
  };
  std::vector<std::uint64_t> begins(files.size());
  parallel_for(files.size(), [&](std::size_t i) { begins[i] = begin_of_text(*files[i]); });
  std::vector<piece_place> places;
  std::vector<std::size_t> first_piece;
  for (std::size_t i = 0; i < files.size(); ++i) {
    first_piece.push_back(places.size());
    for (std::uint64_t at = begins[i]; at < files[i]->size(); at += piece_bytes)
      places.push_back({i, at});
  }
  first_piece.push_back(places.size());
  std::vector<piece_lines> pieces(places.size());
  parallel_for(places.size(), [&](std::size_t i) {
    const piece_place& each = places[i];
    pieces[i] = read_piece(*files[each.file], begins[each.file], each.at, quote);
  });
  std::vector<line_index> indexes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i]->require_unchanged();
    const std::span own{pieces.data() + first_piece[i], first_piece[i + 1] - first_piece[i]};
    indexes.push_back(join_pieces(*files[i], begins[i], own));
  }
  return indexes;
}

}  // namespace feedline::detail
