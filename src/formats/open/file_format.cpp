#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include "detail/arithmetic.hpp"
#include "formats/npy/header.hpp"
#include "formats/npy/npz_magic.hpp"
#include "formats/records/cifar_format.hpp"
#include "formats/tar/header.hpp"
#include "formats/tokens/shard.hpp"
#include "io/file_magic.hpp"
#include "io/file_source.hpp"
#include "io/gzip_source.hpp"
#include "io/random_file.hpp"

#include <system_error>

#include <algorithm>
#include <array>

namespace feedline {
namespace {

/// Bytes that are looked at: enough for CIFAR's first labels to tell something.
constexpr std::size_t head_bytes = std::size_t{64} << 10;

constexpr std::array<unsigned char, 8> hdf5_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/// Two zeros, one of the element types, a number of dimensions.
bool is_idx(std::span<const std::byte> head) {
  if (head.size() < 4 || head[0] != std::byte{} || head[1] != std::byte{}) return false;
  const auto type = std::to_integer<unsigned>(head[2]);
  return (type == 8 || type == 9 || (type >= 0x0b && type <= 0x0e)) && head[3] != std::byte{};
}

/// And as long as its dimensions say. CIFAR's records may begin as an IDX file does, but for that.
bool is_whole_idx(std::span<const std::byte> head, std::uint64_t file_bytes) {
  if (!is_idx(head)) return false;
  const auto dimensions = std::to_integer<std::size_t>(head[3]);
  const auto type = std::to_integer<unsigned>(head[2]);
  const std::size_t header_bytes = 4 + 4 * dimensions;
  if (head.size() < header_bytes) return false;
  std::uint64_t payload = type < 0x0b ? 1 : type == 0x0b ? 2 : type == 0x0e ? 8 : 4;
  for (std::size_t at = 4; at < header_bytes; at += 4) {
    std::uint64_t extent = 0;
    for (const std::byte byte : head.subspan(at, 4))
      extent = extent << 8U | std::to_integer<std::uint64_t>(byte);
    const auto product = detail::checked_multiply(payload, extent);
    if (!product) return false;
    payload = *product;
  }
  return payload == file_bytes - header_bytes;
}

/// Behind a user block of 512, 1024, 2048, … bytes.
bool has_hdf5_behind(const detail::random_file& file) {
  std::array<std::byte, hdf5_signature.size()> bytes{};
  for (std::uint64_t at = 512; at <= file.size() / 2 && file.size() - at >= bytes.size(); at *= 2) {
    file.read(at, bytes);
    if (detail::begins_with(std::span<const std::byte>{bytes}, hdf5_signature)) return true;
  }
  return false;
}

/// What a file that gzip compressed holds: an IDX file, or nothing that is read so.
file_format identify_compressed(const std::filesystem::path& path) {
  const detail::file_field name{path.string(), {}};
  detail::file_source file{name};
  std::array<std::byte, 2> magic{};
  const std::size_t got = file.read(magic);
  detail::gzip_source content{file, std::span{magic}.first(got), name};
  std::array<std::byte, detail::tar_block_bytes> head{};
  const auto begin = std::span{head}.first(content.read(head));
  if (is_idx(begin)) return file_format::idx;
  return detail::is_tar(begin) ? file_format::tar : file_format::unknown;
}

}  // namespace

std::string_view to_string(file_format format) noexcept {
  switch (format) {
    case file_format::unknown:
      return "unknown";
    case file_format::hdf5:
      return "HDF5";
    case file_format::npy:
      return "NumPy array";
    case file_format::npz:
      return "NumPy archive";
    case file_format::idx:
      return "IDX";
    case file_format::tar:
      return "tar shard";
    case file_format::tokens:
      return "token shard";
    case file_format::cifar10:
      return "CIFAR-10 batch";
    case file_format::cifar100:
      return "CIFAR-100 batch";
    case file_format::image_folder:
      return "folder of images";
  }
  return "unknown";
}

file_format identify(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return file_format::image_folder;
  const detail::random_file file{path};
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(head_bytes, file.size())));
  file.read(0, head);
  if (detail::begins_with(std::span<const std::byte>{head}, hdf5_signature))
    return file_format::hdf5;
  if (detail::is_npy(head)) return file_format::npy;
  if (detail::is_npz(head)) return file_format::npz;
  if (detail::is_tar(head)) return file_format::tar;
  if (detail::is_token_shard(head)) return file_format::tokens;
  if (detail::is_gzip(head)) return identify_compressed(path);
  if (is_whole_idx(head, file.size())) return file_format::idx;
  if (has_hdf5_behind(file)) return file_format::hdf5;
  if (detail::is_cifar(detail::cifar10, head, file.size())) return file_format::cifar10;
  if (detail::is_cifar(detail::cifar100, head, file.size())) return file_format::cifar100;
  if (is_idx(head)) return file_format::idx;
  return file_format::unknown;
}

}  // namespace feedline
