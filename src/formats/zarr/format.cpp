#include <feedline/error.hpp>

#include "detail/threads.hpp"
#include "formats/open/format_entry.hpp"
#include "formats/zarr/whole_store.hpp"
#include "io/file_magic.hpp"
#include "io/file_system.hpp"
#ifdef FEEDLINE_HAS_JSON
#include "formats/zarr/hierarchy.hpp"
#endif

#include <algorithm>
#include <array>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::array<std::string_view, 5> documents{"zarr.json", ".zgroup", ".zarray", ".zmetadata",
                                                    ".zattrs"};

bool is_store(const std::string& path) {
  const file_system_ptr files = file_system_of(path);
  const auto is_there = [&](std::string_view name) {
    return files->kind_of(path + '/' + std::string{name}) == entry_kind::file;
  };
  if (path.find("://") == std::string::npos) return std::ranges::any_of(documents, is_there);
  // All at once: each is a request.
  std::array<bool, documents.size()> found{};
  parallel_for(
      documents.size(), [&](std::size_t i) { found[i] = is_there(documents[i]); },
      documents.size());
  return std::ranges::count(found, true) != 0;
}

/// The name of a zip archive's first member; empty for other files.
std::string_view first_member(std::span<const std::byte> head) {
  constexpr std::size_t header_bytes = 30;
  constexpr std::size_t length_at = 26;
  if (!is_zip(head) || head.size() < header_bytes) return {};
  const std::size_t length = std::to_integer<std::size_t>(head[length_at]) |
                             std::to_integer<std::size_t>(head[length_at + 1]) << 8U;
  const auto name = head.subspan(header_bytes, std::min(length, head.size() - header_bytes));
  return {reinterpret_cast<const char*>(name.data()), name.size()};
}

/// zarr-python writes metadata first.
bool is_archive(const probed_file& file) {
  const std::string_view name = first_member(file.head);
  return std::ranges::find(documents, name.substr(name.find_last_of('/') + 1)) != documents.end();
}

/// Other programs pack the members in any order.
bool may_be_archive(const probed_file& file) {
  if (!is_zip(file.head)) return false;
#ifdef FEEDLINE_HAS_JSON
  try {
    return is_zarr(*open_zarr_store(file.file.name()));
  } catch (const dataset_error&) {  // other formats have their say
    return false;
  }
#else
  return false;
#endif
}

}  // namespace

format_entry zarr_format() {
  return {.name = "zarr",
          .known_as = "Zarr stores (folders or zip archives)",
          .is = is_archive,
          .may_be = may_be_archive,
          .open =
              [](const std::vector<std::string>& paths, const open_options& options) {
                return open_each(paths,
                                 [&](const auto& path) { return open_whole_zarr(path, options); });
              },
          .list = list_whole_zarr,
          .is_folder = is_store,
          .takes_like = true};
}

#ifndef FEEDLINE_HAS_JSON
namespace {

[[noreturn]] void refuse_zarr(const std::string& path) {
  throw dataset_error{{.path = path, .field = {}},
                      "a Zarr store, and this feedline was built without nlohmann-json; install "
                      "nlohmann-json3-dev, and build feedline again"};
}

}  // namespace

dataset_ptr open_whole_zarr(const std::string& path, const open_options&) {
  refuse_zarr(path);
}

std::vector<listed_field> list_whole_zarr(const std::string& path, const open_options&) {
  refuse_zarr(path);
}
#endif

}  // namespace feedline::detail

#ifndef FEEDLINE_HAS_JSON
namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_zarr(const std::string& store, std::vector<zarr_field>, const zarr_options&) {
  detail::refuse_zarr(store);
}

std::vector<array_ptr> open_zarr_arrays(const std::string& store, const std::vector<std::string>&,
                                        const zarr_options&) {
  detail::refuse_zarr(store);
}

array_ptr open_zarr_array(const std::string& store, const std::string&, const zarr_options&) {
  detail::refuse_zarr(store);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
#endif
