#include "formats/tar/scanner.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

/// Headers of small members stand close together: several come with one read.
constexpr std::size_t window_bytes = 8192;
/// Names and pax records are not longer.
constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 20;
/// How far after the end of the archive other content is looked for.
constexpr std::uint64_t max_tail_bytes = std::uint64_t{1} << 20;

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

tar_scanner::tar_scanner(std::uint64_t file_bytes, std::string path, read_at read, tar_rules rules)
    : file_bytes_{file_bytes}, name_{std::move(path), {}}, read_{std::move(read)}, rules_{rules} {
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(tar_block_bytes, file_bytes_)));
  if (!head.empty()) read_(0, head);
  refuse_compressed(head, name_);
}

std::optional<tar_member> tar_scanner::next() {
  while (!is_done_) {
    const std::uint64_t at = at_;
    tar_block block;
    if (!read_block(block)) {
      require_end(at);
      continue;
    }
    tar_header header = parse_tar_header(block, at, name_);
    if (std::string_view{"LKxX"}.find(header.type) != std::string_view::npos) has_local_ = true;
    switch (header.type) {
      case 'L':
        local_.name = read_payload(header, at);
        break;
      case 'K':
        local_.link = read_payload(header, at);
        break;
      case 'x':
      case 'X':  // Solaris's
      case 'g':
        parse_pax(read_payload(header, at), at, header.type == 'g' ? global_ : local_);
        break;
      default:
        if (auto member = to_member(std::move(header), at)) return member;
    }
  }
  return std::nullopt;
}

/// @return Whether there is a header, and not the end of the archive.
bool tar_scanner::read_block(tar_block& block) {
  if (file_bytes_ - at_ < block.size()) {
    if (at_ == 0) throw name_.error(0, "not a tar archive: it is shorter than a header");
    if (rules_ == tar_rules::lenient && at_ == file_bytes_) return false;
    throw name_.error(
        at_,
        "cut short: the archive ends here without the two blocks of zeros that end one; "
        "get it again, or, if the program that wrote it left them out, open it with "
        "tar_options::lenient");
  }
  if (at_ < window_begin_ || at_ + block.size() > window_begin_ + window_.size()) {
    window_.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, file_bytes_ - at_)));
    window_begin_ = at_;
    read_(at_, window_);
  }
  std::memcpy(block.data(), window_.data() + (at_ - window_begin_), block.size());
  return !is_zero(block);
}

/// Reads the data after an extension's header, and moves past it.
std::string tar_scanner::read_payload(const tar_header& header, std::uint64_t at) {
  if (header.size > max_payload_bytes)
    throw name_.error(at, "a header of names claims " + std::to_string(header.size) +
                              " bytes; the archive is damaged, get it again");
  require_within(header.size, at, "a header of names");
  std::string payload(static_cast<std::size_t>(header.size), '\0');
  read_(at + tar_block_bytes, std::as_writable_bytes(std::span{payload}));
  pass(header.size);
  if (header.type == 'L' || header.type == 'K')
    payload.resize(std::min(payload.find('\0'), payload.size()));
  return payload;
}

/// Records "LENGTH KEY=VALUE\n", LENGTH being that of the whole record.
void tar_scanner::parse_pax(std::string_view records, std::uint64_t at, extension& into) const {
  const auto damaged = [&] {
    return name_.error(at, "the pax header here is damaged; get the archive again");
  };
  while (!records.empty()) {
    const std::size_t blank = records.find(' ');
    if (blank == std::string_view::npos) throw damaged();
    const auto length = decimal(records.substr(0, blank));
    if (!length || *length > records.size() || *length < blank + 2) throw damaged();
    const auto record = records.substr(0, static_cast<std::size_t>(*length)).substr(blank + 1);
    const std::size_t equals = record.find('=');
    if (record.back() != '\n' || equals == std::string_view::npos) throw damaged();
    const auto key = record.substr(0, equals);
    const auto value = record.substr(equals + 1, record.size() - equals - 2);
    if (key == "path") into.name = value;
    if (key == "linkpath") into.link = value;
    if (key == "size" && !(into.size = decimal(value)))
      throw name_.error(
          at, "the pax header's size is not a number; the archive is damaged, get it again");
    if (key.starts_with("GNU.sparse."))
      throw name_.error(at,
                        "a sparse member, which feedline does not read; make the archive without "
                        "tar's --sparse");
    records.remove_prefix(static_cast<std::size_t>(*length));
  }
}

void tar_scanner::require_within(std::uint64_t size, std::uint64_t at,
                                 const std::string& what) const {
  const std::uint64_t begin = at + tar_block_bytes;  // within the file: the header was read
  if (size <= file_bytes_ - begin) return;
  throw name_.error(at,
                    what + " claims " + std::to_string(size) + " bytes, but the file ends " +
                        std::to_string(file_bytes_ - begin) +
                        " bytes after its header: cut short, or damaged; get the archive again");
}

/// Moves past a header and the data after it, padded to whole blocks.
void tar_scanner::pass(std::uint64_t payload) {
  const std::uint64_t end = at_ + tar_block_bytes + payload;
  const std::uint64_t padding = (tar_block_bytes - payload % tar_block_bytes) % tar_block_bytes;
  at_ = end + std::min(padding, file_bytes_ - end);
}

std::optional<tar_member> tar_scanner::to_member(tar_header header, std::uint64_t at) {
  extension known = std::exchange(local_, {});
  has_local_ = false;
  if (!known.name) known.name = global_.name ? global_.name : std::move(header.name);
  if (!known.link) known.link = global_.link ? global_.link : std::move(header.link);
  if (!known.size) known.size = global_.size ? global_.size : header.size;
  const std::string quoted = "member " + quoted_tar_name(*known.name);
  if (header.type == 'S')
    throw name_.error(at, quoted +
                              " is sparse, which feedline does not read; make the archive without "
                              "tar's --sparse");
  if (header.type == 'M')
    throw name_.error(at, quoted + " continues from another volume; make the archive in one piece");

  const bool has_payload = header.type < '1' || header.type > '6';  // whatever the header claims
  const std::uint64_t size = has_payload ? *known.size : 0;
  require_within(size, at, quoted);
  pass(size);
  const bool is_old_folder = header.type == '\0' && known.name->ends_with('/');
  if (header.type == '5' || header.type == 'V' || header.type == 'D' || is_old_folder)
    return std::nullopt;

  tar_member member{{}, at, at + tar_block_bytes, size};
  std::string_view name = *known.name;
  if (const char* const why = make_tar_name_relative(name, rules_))
    throw name_.error(at, quoted + " " + why);
  member.name = name;
  const auto is_one_of = [&](std::string_view types) {
    return types.find(header.type) != types.npos;
  };
  if (is_one_of("12"))
    member.instead = (header.type == '1' ? "a hard link to " : "a symbolic link to ") +
                     quoted_tar_name(*known.link);
  else if (is_one_of("346"))
    member.instead = "a device or a pipe";
  else if (header.type != '\0' && !is_one_of("07"))
    member.instead = "of the unknown type " + quoted_tar_name({&header.type, 1});
  return member;
}

/// The archive ends with two blocks of zeros, or with one that is the file's last; zeros may
/// follow. Lenient: with the file, and another archive may follow.
void tar_scanner::require_end(std::uint64_t at) {
  if (at == 0) throw name_.error(0, "not a tar archive: it begins with zeros");
  if (has_local_)
    throw name_.error(
        at, "the archive ends after a header of names, with no member after it; get it again");
  if (rules_ == tar_rules::lenient) {
    global_ = {};  // another archive has its own
    for (tar_block block; file_bytes_ - at_ >= block.size(); at_ += block.size())
      if (read_block(block)) return;
    is_done_ = true;
    return;
  }
  std::vector<std::byte> tail(static_cast<std::size_t>(std::min(file_bytes_ - at, max_tail_bytes)));
  read_(at, tail);
  const auto other = std::ranges::find_if(tail, [](std::byte byte) { return byte != std::byte{}; });
  if (other != tail.end())
    throw name_.error(
        at + static_cast<std::uint64_t>(other - tail.begin()),
        "the archive ended at byte " + std::to_string(at) +
            ", but something follows: give archives that were joined with cat as shards "
            "of their own, or open them with tar_options::lenient");
  is_done_ = true;
}

}  // namespace feedline::detail
