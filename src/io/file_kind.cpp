#include "io/file_kind.hpp"

#include "detail/byte_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace feedline::detail {
namespace {

using head_bytes = std::span<const std::byte>;

bool has_at(head_bytes head, std::size_t offset, std::string_view magic) {
  return head.size() >= offset + magic.size() &&
         std::equal(magic.begin(), magic.end(), head.begin() + static_cast<std::ptrdiff_t>(offset),
                    [](char wanted, std::byte byte) { return std::byte(wanted) == byte; });
}

template <std::size_t Size>
constexpr std::string_view magic_of(const char (&text)[Size]) {  // NOLINT(modernize-avoid-c-arrays)
  return {text, Size - 1};                                       // may hold zeros
}

std::uint64_t number_at(head_bytes head, std::size_t offset, std::size_t size) {
  return head.size() < offset + size ? 0 : little_endian(head.subspan(offset, size));
}

/// RFC 1952: the method deflate, and no reserved flag.
bool is_deflated(head_bytes head) {
  return has_at(head, 0, magic_of("\x1f\x8b\x08")) && head.size() > 3 &&
         std::to_integer<unsigned>(head[3]) < 0x20;
}

bool is_bzip2(head_bytes head) {
  return has_at(head, 0, "BZh") && has_at(head, 4, "1AY&SY");
}

/// Its first block may follow a user block, as in MATLAB's files.
bool is_hdf5(head_bytes head) {
  constexpr std::string_view magic = magic_of("\x89HDF\r\n\x1a\n");
  return has_at(head, 0, magic) || has_at(head, 512, magic);
}

bool is_old_tar(head_bytes head) {
  return has_at(head, 257, "ustar");
}

/// Its second marker begins so, too.
bool is_jpeg_file(head_bytes head) {
  return has_at(head, 0, "\xff\xd8\xff") && head.size() > 3 && head[3] >= std::byte{0xc0};
}

bool is_webp(head_bytes head) {
  return has_at(head, 0, "RIFF") && has_at(head, 8, "WEBP");
}

bool is_lmdb(head_bytes head) {
  return number_at(head, 0, 8) == 0 && has_at(head, 16, magic_of("\xde\xc0\xef\xbe"));
}

/// The length of a JSON object, and its first bytes.
bool is_safetensors(head_bytes head) {
  const std::uint64_t length = number_at(head, 0, 8);
  return length >= 2 && length < (std::uint64_t{1} << 32) && has_at(head, 8, "{\"");
}

/// Protocol 4 or 5, and a frame's length.
bool is_pickle(head_bytes head) {
  return (has_at(head, 0, magic_of("\x80\x04\x95")) || has_at(head, 0, magic_of("\x80\x05\x95"))) &&
         head.size() > 10 && number_at(head, 3, 8) < (std::uint64_t{1} << 40);
}

/// A continuation mark, the length of a message's metadata in multiples of 8, and its root table.
bool is_arrow_stream(head_bytes head) {
  const std::uint64_t length = number_at(head, 4, 4);
  return has_at(head, 0, "\xff\xff\xff\xff") && length != 0 && length % 8 == 0 &&
         length < (std::uint64_t{1} << 24) && number_at(head, 8, 4) < length &&
         number_at(head, 8, 4) >= 4;
}

/// How many bytes a character of UTF-8 takes that begins so; 0: none does.
std::size_t character_bytes(unsigned lead) {
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/// UTF-8 without control characters, long enough to be no chance.
bool is_text(head_bytes head) {
  constexpr std::size_t least_bytes = 24;
  if (head.size() < least_bytes) return false;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t count = character_bytes(std::to_integer<unsigned>(head[at]));
    if (count == 0) return false;
    const auto rest = head.subspan(at + 1).first(std::min(count, head.size() - at) - 1);
    if (!std::ranges::all_of(rest,
                             [](std::byte b) { return (b & std::byte{0xc0}) == std::byte{0x80}; }))
      return false;
    at += count;
  }
  return true;
}

bool is_json(head_bytes head) {
  return is_text(head) && (has_at(head, 0, "{") || has_at(head, 0, "["));
}

constexpr std::string_view to_arrays =
    "save its values as arrays (.npy, HDF5), or write a dataset class of your own";
constexpr std::string_view to_folder =
    "open the folder that holds a folder of images for each class";
constexpr std::string_view to_numbers = "save its values, or its tokens, as arrays with numpy.save";

/// A kind, and its first bytes or a function that recognizes them.
struct known_kind {
  file_kind kind;
  std::string_view magic = {};
  bool (*is)(head_bytes head) = nullptr;
};

constexpr auto known = std::to_array<known_kind>({
    {{"a gzip file", "decompress it (gunzip)"}, {}, is_deflated},
    {{"a Zstandard file", "decompress it (unzstd)"}, magic_of("\x28\xb5\x2f\xfd")},
    {{"a bzip2 file", "decompress it (bunzip2)"}, {}, is_bzip2},
    {{"an xz file", "decompress it (unxz)"},
     magic_of("\xfd"
              "7zXZ\0")},
    {{"an LZ4 file", "decompress it (unlz4)"}, magic_of("\x04\x22\x4d\x18")},
    {{"a zip archive, as of .npz and PyTorch's files",
      "open_npz reads arrays of numpy.savez; unpack others"},
     magic_of("PK\3\4")},
    {{"an HDF5 file", "open_hdf5 reads it"}, {}, is_hdf5},
    {{"a NumPy array", "open_npy reads it"}, magic_of("\x93NUMPY")},
    {{"a tar archive", "open_tar reads it"}, {}, is_old_tar},
    {{"a Parquet file", to_arrays}, "PAR1"},
    {{"an Arrow or Feather file", to_arrays}, magic_of("ARROW1\0\0")},
    {{"a stream of Arrow, as Hugging Face's data sets are", to_arrays}, {}, is_arrow_stream},
    {{"an Avro file", to_arrays}, "Obj\1"},
    {{"an SQLite database", to_arrays}, "SQLite format 3"},
    {{"an LMDB database", to_arrays}, {}, is_lmdb},
    {{"a safetensors file", to_arrays}, {}, is_safetensors},
    {{"a pickle, as Python and PyTorch write them",
      "feedline never unpickles; save arrays with numpy.save"},
     {},
     is_pickle},
    {{"a file of torch.save", "feedline never unpickles; save arrays with numpy.save"},
     magic_of("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9")},
    {{"Megatron's index of tokens", "open_tokens reads it with the .bin file beside it"},
     magic_of("MMIDIDX\0\0")},
    {{"an index of Megatron's older format (TNTIDX)",
      "make it again with Megatron's preprocess_data.py, which writes MMIDIDX"},
     magic_of("TNTIDX\0\0")},
    {{"a JPEG image", to_folder}, {}, is_jpeg_file},
    {{"a PNG image", to_folder}, magic_of("\x89PNG\r\n\x1a\n")},
    {{"a GIF image", "convert it to PNG or JPEG"}, "GIF8"},
    {{"a WebP image", "convert it to PNG or JPEG"}, {}, is_webp},
    {{"a PDF", "extract what is to be read"}, "%PDF-"},
    {{"JSON text", to_numbers}, {}, is_json},
    {{"text", to_numbers}, {}, is_text},
});

}  // namespace

const file_kind* find_file_kind(head_bytes head) noexcept {
  const auto* const found = std::ranges::find_if(known, [head](const known_kind& each) {
    return each.is != nullptr ? each.is(head) : has_at(head, 0, each.magic);
  });
  return found == known.end() ? nullptr : &found->kind;
}

}  // namespace feedline::detail
