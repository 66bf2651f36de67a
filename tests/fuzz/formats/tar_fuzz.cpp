/// Fuzz target of the tar reader: any bytes are an archive, whose members and samples lie within
/// it, or a dataset_error that says where. As checksums stop nearly every change, each input is
/// read a second time with those of its headers set right.

#include <feedline/error.hpp>

#include "formats/tar/shards.hpp"
#include "support/files/tar_bytes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

using namespace feedline;

namespace {

using byte_vector = std::vector<std::byte>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "tar_fuzz: does not hold: %s\n", what);
  std::abort();
}

detail::tar_scanner scanner_of(const byte_vector& file,
                               detail::tar_rules rules = detail::tar_rules::strict) {
  return {file.size(), "fuzz.tar",
          [&](std::uint64_t offset, std::span<std::byte> out) {
            require(offset <= file.size() && out.size() <= file.size() - offset,
                    "only bytes of the file are asked for");
            if (!out.empty()) std::memcpy(out.data(), file.data() + offset, out.size());
          },
          rules};
}

void require_useful(const dataset_error& error) {
  require(error.path() == "fuzz.tar", "an error names the file");
  require(error.offset().has_value(), "an error names the byte");
  require(!error.message().empty() && error.message().find('\0') == std::string::npos,
          "an error says what is wrong");
}

void check_member(const detail::tar_member& member, std::uint64_t last_end,
                  std::uint64_t file_bytes) {
  require(member.header >= last_end && member.header % 512 == 0, "members follow one another");
  require(member.offset == member.header + 512, "content follows its header");
  require(member.offset <= file_bytes && member.size <= file_bytes - member.offset,
          "a member lies within the file");
  std::string_view name = member.name;
  require(detail::make_tar_name_relative(name, detail::tar_rules::strict) == nullptr &&
              name == member.name,
          "a name leads nowhere");
}

/// @return Whether the walk came to the end of the archive.
bool walk(const byte_vector& file, detail::tar_rules rules) {
  std::uint64_t last_end = 0;
  try {
    auto members = scanner_of(file, rules);
    while (const auto member = members.next()) {
      check_member(*member, last_end, file.size());
      last_end = member->offset + member->size;
    }
    require(!members.next(), "an archive ends once");
    require(detail::is_tar(file), "what can be walked over is an archive");
    return true;
  } catch (const dataset_error& error) {
    require_useful(error);
    return false;
  }
}

void index(const byte_vector& file, bool skip_incomplete, bool can_be_walked) {
  const std::vector<tar_field> fields{{"image", {"jpg", "png"}, {}}, {"label", {"cls"}, {}}};
  try {
    auto members = scanner_of(file);
    const auto index =
        detail::index_members([&] { return members.next(); }, "fuzz.tar", fields, skip_incomplete);
    require(can_be_walked, "what was indexed could be walked over");
    std::uint64_t bytes = 0;
    for (std::uint64_t sample = 0; sample < index.size(); ++sample) {
      require(!index.key(sample).empty(), "a sample has a key");
      require(index.places(sample).size() == fields.size(), "a sample has all fields");
      for (const auto& [offset, size] : index.places(sample)) {
        require(offset <= file.size() && size <= file.size() - offset, "they lie within the file");
        bytes += size;
      }
    }
    require(bytes == index.payload_bytes, "bytes are counted");
  } catch (const dataset_error& error) {
    require_useful(error);
  }
}

void check(const byte_vector& file) {
  const bool can_be_walked = walk(file, detail::tar_rules::strict);
  const bool can_be_walked_leniently = walk(file, detail::tar_rules::lenient);
  require(can_be_walked_leniently || !can_be_walked, "lenient rules accept what strict ones do");
  index(file, false, can_be_walked);
  index(file, true, can_be_walked);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  byte_vector file{bytes.begin(), bytes.end()};
  check(file);
  for (std::size_t at = 0; at + 512 <= file.size(); at += 512)
    if (std::memcmp(file.data() + at + 257, "ustar", 5) == 0) test::set_tar_checksum(file, at);
  check(file);
  return 0;
}
