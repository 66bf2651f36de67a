#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/open.hpp>

#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/open/folder_kind.hpp"
#include "formats/open/format_table.hpp"
#include "io/file_kind.hpp"
#include "io/file_magic.hpp"
#include "io/file_system.hpp"
#include "io/gzip_source.hpp"
#ifdef FEEDLINE_HAS_REMOTE
#include "remote/mount_once.hpp"
#endif

#include <system_error>

#include <algorithm>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

using paths = std::vector<std::string>;

/// Bytes that are looked at: enough for CIFAR's first labels to tell something.
constexpr std::size_t head_bytes = std::size_t{64} << 10;

/// Mounts remote files if a path is an address. Paths of this machine need none of it.
void mount_remote([[maybe_unused]] const paths& files) {
#ifdef FEEDLINE_HAS_REMOTE
  const auto is_address = [](const std::string& path) { return path.find("://") != path.npos; };
  if (std::ranges::any_of(files, is_address)) detail::mount_remote_files_once();
#endif
}

std::vector<std::byte> head_of(const detail::byte_file& file) {
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(head_bytes, file.size())));
  file.read(0, head);
  return head;
}

/// The first decompressed bytes of a gzip file, as far as its first bytes have them: a head of many
/// small members has less content than bytes.
std::vector<std::byte> unpacked(std::span<const std::byte> head, const std::string& path) {
  constexpr std::size_t max_bytes = std::size_t{48} << 10;
  constexpr std::size_t piece_bytes = 64;
  detail::memory_source packed{head.subspan(2)};
  detail::gzip_source content{packed, head.first(2), {path, {}}};
  std::vector<std::byte> bytes(max_bytes);
  std::size_t count = 0;
  try {
    for (std::size_t got = piece_bytes; got == piece_bytes && count + piece_bytes <= max_bytes;
         count += got)
      got = content.read(std::span{bytes}.subspan(count, piece_bytes));
  } catch (
      const dataset_error&) {  // the head ends, or the file is damaged: its format reports that
    if (count == 0) throw;
  }
  bytes.resize(count);
  return bytes;
}

const detail::format_entry* format_of(const detail::probed_file& probed) {
  for (const detail::format_entry& entry : detail::format_table())
    if (entry.is != nullptr && entry.is(probed)) return &entry;
  if (probed.is_compressed) return nullptr;
  for (const detail::format_entry& entry : detail::format_table())
    if (entry.may_be != nullptr && entry.may_be(probed)) return &entry;
  return nullptr;
}

/// Null: unknown.
const detail::format_entry* format_of(const std::string& path) {
  // A web server's folders are not known as such: they are nothing, or a page that lists them.
  const bool is_address = path.find("://") != std::string::npos;
  const bool has_folders_name = path.ends_with(".zarr") || path.ends_with(".zarr/");
  if (is_address && has_folders_name)  // to ask for the folder first would be a request more
    if (const auto* const zarr = detail::find_format("zarr"); zarr != nullptr)
      if (zarr->is_folder(path)) return zarr;
  const detail::entry_kind kind = detail::kind_of_entry(path);
  if (kind == detail::entry_kind::folder ||
      (is_address && (kind != detail::entry_kind::file || has_folders_name)))
    for (const detail::format_entry& entry : detail::format_table())
      if (entry.is_folder != nullptr && entry.is_folder(path)) return &entry;
  const detail::byte_file_ptr file = detail::open_file(path);
  const std::vector<std::byte> head = head_of(*file);
  const bool is_compressed = detail::is_gzip(head);
  const std::vector<std::byte> content = is_compressed ? unpacked(head, path) : head;
  return format_of(detail::probed_file{
      .file = *file, .head = head, .is_compressed = is_compressed, .content = content});
}

/// The kind of a gzip file by its decompressed beginning.
std::string described_gzip(std::span<const std::byte> head, const std::string& path) {
  if (const detail::file_kind* const kind = detail::find_file_kind(unpacked(head, path)))
    return "it is a gzip file that holds " + std::string{kind->name} +
           "; decompress it (gunzip), then " + std::string{kind->advice};
  return "it is compressed, and not IDX; decompress it";
}

std::string described(std::span<const std::byte> head, const std::string& path) {
  if (head.empty()) return "it is empty";
  if (detail::is_jpeg(head) || detail::is_png(head))
    return "it is a single image; open the folder that holds a folder of images for each class";
  if (detail::is_gzip(head)) return described_gzip(head, path);
  const detail::file_kind* const kind = detail::find_file_kind(head);
  const bool is_plain_zip =
      detail::is_zip(head) && kind != nullptr && kind->name.starts_with("a zip archive");
  if (is_plain_zip) return "it is a zip archive, but not one of NumPy arrays; unpack it";
  if (kind != nullptr) return "it is " + std::string{kind->name} + "; " + std::string{kind->advice};
  return "it begins with " + detail::to_hex(head.first(std::min<std::size_t>(head.size(), 8)));
}

/// An error about a file of unknown format: what it looks like, or its first bytes.
dataset_error unknown_format(const std::string& path) {
  std::string known;
  for (const detail::format_entry& entry : detail::format_table())
    known += (known.empty() ? "" : ", ") + std::string{entry.known_as};
  return {
      {.path = path, .field = {}},
      "of no format that is known by its content: " +
          described(head_of(*detail::open_file(path)), path) + ". Known are " + known +
          "; records of a fixed size and tokens without a header are opened by open_records and "
          "open_tokens"};
}

/// @throws dataset_error that names the kind of a folder that does not hold images by class.
void require_no_foreign_folder(const std::string& path) {
  if (const auto kind = detail::find_folder_kind(path))
    throw dataset_error{{.path = path, .field = {}}, "is " + kind->name + "; " + kind->advice};
}

/// The format of all files: the one that options name, or as their content tells.
const detail::format_entry& format_of(const paths& files, const open_options& options) {
  if (!options.format.empty()) {
    if (const auto* const named = detail::find_format(options.format)) return *named;
    std::string known;
    for (const detail::format_entry& entry : detail::format_table())
      known.append(known.empty() ? "" : ", ").append(entry.name);
    throw usage_error{"open: open_options::format is '" + options.format +
                      "', which is not a format; known are " + known +
                      "; or leave it out, so that the content tells"};
  }
  const detail::format_entry* first = nullptr;
  for (const std::string& path : files) {
    const detail::format_entry* const format = format_of(path);
    if (format == nullptr) throw unknown_format(path);
    // A format with documents of its own in its folders is sure.
    if (format->is_folder != nullptr && format->is == nullptr) require_no_foreign_folder(path);
    if (first == nullptr) first = format;
    if (format != first)
      throw dataset_error{{.path = path, .field = {}},
                          "of the format " + std::string{format->name} + ", but " + files.front() +
                              " is of the format " + std::string{first->name} +
                              "; files that are opened together are of one format"};
  }
  return *first;
}

}  // namespace

std::string detect_format(const std::string& path) {
  mount_remote({path});
  const detail::format_entry* const format = format_of(path);
  return format == nullptr ? std::string{} : std::string{format->name};
}

dataset_ptr open(const std::string& path, const open_options& options) {
  return open(paths{path}, options);
}

std::vector<listed_field> list_fields(const std::string& file, const open_options& options) {
  mount_remote({file});
  const paths files{file};  // named, so that g++ 13 and later see that no reference dangles
  const detail::format_entry& format = format_of(files, options);
  if (format.list != nullptr) return format.list(file, options);
  open_options all = options;
  all.fields = {};
  all.tokens_per_sample = std::max<std::uint64_t>(1, options.tokens_per_sample);
  return detail::list_opened(*format.open({file}, all));
}

dataset_ptr open(const paths& patterns, const open_options& options) {
  if (patterns.empty()) throw usage_error{"open: there is no path"};
  mount_remote(patterns);
  const paths files = expand_paths(patterns);
  const detail::format_entry& format = format_of(files, options);
  const std::string is_of =
      detail::printable(files.front()) + " is of the format " + std::string{format.name};
  if (!options.like.empty() && (!format.takes_like || !options.fields.empty()))
    throw usage_error{
        "open: open_options::like chooses datasets of HDF5 files, instead of fields; " +
        (format.takes_like ? std::string{"give one of both"} : is_of)};
  if (options.tokens_per_sample != 0 && !format.takes_tokens)
    throw usage_error{"open: open_options::tokens_per_sample is for shards of tokens, but " +
                      is_of + "; leave it out"};
  if (!options.pad.empty() && !format.takes_pad)
    throw usage_error{"open: open_options::pad is for ragged fields of records, but " + is_of +
                      "; leave it out"};
  if (!options.columns.empty() && !format.takes_columns)
    throw usage_error{"open: open_options::columns is for tables, but " + is_of + "; leave it out"};
  if (!options.fill_nulls.empty() && !format.takes_fill_nulls)
    throw usage_error{"open: open_options::fill_nulls is for columns of Parquet files, but " +
                      is_of + "; leave it out"};
  return format.open(files, options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
