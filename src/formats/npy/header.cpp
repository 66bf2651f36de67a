#include "formats/npy/header.hpp"

#include "detail/arithmetic.hpp"
#include "detail/log.hpp"
#include "formats/npy/literal.hpp"
#include "formats/npy/type.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t version_bytes = 2;

/// No type that serves makes a header a tenth as long; a length beyond is a claim not worth memory.
constexpr std::uint64_t longest_header_bytes = std::uint64_t{1} << 20;

/// Reads what must be there.
template <std::size_t Bytes>
std::array<std::byte, Bytes> read_some(byte_source& file, std::uint64_t& offset,
                                       const file_field& name) {
  std::array<std::byte, Bytes> bytes{};
  const std::size_t got = file.read(bytes);
  offset += got;
  if (got < Bytes) throw name.error(offset, "cut short within the header; get the file anew");
  return bytes;
}

template <std::size_t Bytes>
std::uint64_t little_endian(const std::array<std::byte, Bytes>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = Bytes; i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

/// Reads all before the dictionary. @return How many bytes long that is announced to be.
std::uint64_t read_preamble(byte_source& file, std::uint64_t& offset, const file_field& name) {
  std::array<std::byte, magic.size()> begin{};
  const std::size_t got = file.read(begin);
  if (!is_npy(std::span{begin}.first(got)))
    throw name.error(0,
                     "not a NumPy file: it does not begin with \\x93NUMPY; check that this is the "
                     "right file");
  offset = got;
  const auto version = read_some<version_bytes>(file, offset, name);
  const auto major = std::to_integer<unsigned>(version[0]);
  const auto minor = std::to_integer<unsigned>(version[1]);
  if (major < 1 || major > 3 || minor != 0)
    throw name.error(magic.size(), "version " + std::to_string(major) + "." +
                                       std::to_string(minor) +
                                       " of the format is not known (1.0, 2.0 and 3.0 are); save "
                                       "the array again with numpy.save");
  const std::uint64_t length_offset = offset;
  const std::uint64_t length = major == 1 ? little_endian(read_some<2>(file, offset, name))
                                          : little_endian(read_some<4>(file, offset, name));
  if (length > longest_header_bytes)
    throw name.error(length_offset, "the header announces to be " + std::to_string(length) +
                                        " bytes long; no array of numbers needs more than " +
                                        std::to_string(longest_header_bytes) +
                                        ", so the file is damaged, get it anew");
  return length;
}

void set_type(npy_header& header, const npy_literal& literal, const file_field& name) {
  const auto parsed = parse_npy_type(literal.descr);
  if (const auto* reason = std::get_if<std::string>(&parsed))
    throw name.error(literal.descr_offset, *reason);
  const auto& known = std::get<npy_type>(parsed);
  header.type = known.type;
  header.is_swapped = size_bytes(known.type) > 1 && known.order != std::endian::native;
}

void set_extents(npy_header& header, const npy_literal& literal, const file_field& name) {
  header.extents = literal.shape;
  if (header.extents.empty())
    throw name.error(literal.shape_offset,
                     "the array is a single number; a dataset needs a dimension that counts its "
                     "samples");
  if (header.extents.front() == 0)
    throw name.error(literal.shape_offset,
                     "the array, " + header.describe() + ", holds zero samples");
  std::size_t bytes = size_bytes(header.type);
  for (const std::uint64_t extent : header.extents) {
    if (extent == 0)
      throw name.error(literal.shape_offset, "a dimension of the array, " + header.describe() +
                                                 ", is 0, so a sample would hold nothing");
    const auto product = checked_multiply<std::size_t>(bytes, extent);
    // Checked to the end, so that a 0 behind is told as such.
    bytes = product && bytes != 0 ? *product : 0;
  }
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() - header.header_bytes)
    throw name.error(literal.shape_offset, "the header announces " + header.describe() +
                                               ", more bytes than 64 bits can count; the file is "
                                               "damaged, get it anew");
  header.payload_bytes = bytes;
}

}  // namespace

bool is_npy(std::span<const std::byte> head) noexcept {
  if (head.size() < magic.size()) return false;
  return std::equal(magic.begin(), magic.end(), head.begin(), [](char expected, std::byte found) {
    return static_cast<std::byte>(expected) == found;
  });
}

field npy_header::to_field(std::string name) const {
  return {std::move(name), type, {extents.begin() + 1, extents.end()}};
}

std::string npy_header::describe() const {
  return to_string(field{{}, type, extents}).substr(2);  // without the name and ": "
}

npy_header read_npy_header(byte_source& file, const file_field& name) {
  std::uint64_t offset = 0;
  const std::uint64_t length = read_preamble(file, offset, name);
  std::string text(length, '\0');
  const std::size_t got = file.read(std::as_writable_bytes(std::span{text}));
  if (got < length)
    throw name.error(offset + got, "cut short within the header; get the file anew");

  const npy_literal literal = parse_npy_literal(text, offset, name);
  npy_header header;
  header.header_bytes = offset + length;
  set_type(header, literal, name);
  set_extents(header, literal, name);
  header.is_fortran = literal.fortran_order && header.extents.size() > 1;
  return header;
}

void require_npy_room(const npy_header& header, std::uint64_t size, const file_field& name) {
  if (size < header.end())
    throw name.error(size, "cut short: the header announces " + header.describe() +
                               ", so it should be " + std::to_string(header.end()) +
                               " bytes, but it ends here; get the file anew");
}

void warn_of_bytes_behind(const npy_header& header, std::uint64_t size, const file_field& name) {
  if (size <= header.end()) return;
  const auto warning = name.error(
      header.end(), std::to_string(size - header.end()) + " bytes follow the array, " +
                        header.describe() +
                        ", and are not read, as numpy.load does not read them; if they are more "
                        "arrays, save each to a file of its own");
  log()->warn("{}", warning.what());
}

void require_npy_size(const npy_header& header, std::uint64_t size, const file_field& name) {
  require_npy_room(header, size, name);
  if (size > header.end())
    throw name.error(header.end(),
                     "over-long: the header announces " + header.describe() +
                         ", so it should end here, but it is " + std::to_string(size) +
                         " bytes; save each array to a file of its own, or get the file anew");
}

}  // namespace feedline::detail
