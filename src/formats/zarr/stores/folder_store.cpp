#include <feedline/error.hpp>

#include "detail/threads.hpp"
#include "formats/zarr/stores/store.hpp"
#include "io/read_forecast.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace feedline::detail {
namespace {

class folder_store final : public zarr_store {
 public:
  explicit folder_store(const std::string& path)
      : zarr_store{without_slashes(path)},
        files_{file_system_of(path)},
        is_remote_{path.find("://") != std::string::npos} {}

  std::optional<std::string> text(const std::string& key) const override {
    std::vector<std::byte> bytes;
    if (!read(key, max_text_bytes, bytes)) return std::nullopt;
    return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// Web servers have no lists: their folders are not known as such. It may take a request, so it
  /// is asked for once, and only where a list is wanted.
  bool can_list() const noexcept override try {
    if (!is_remote_) return true;
    std::call_once(asked_,
                   [this] { can_list_ = files_->kind_of(name() + '/') == entry_kind::folder; });
    return can_list_;
  } catch (...) {  // short of memory
    return false;
  }

  std::vector<folder_entry> list(const std::string& key) const override {
    const std::string folder = path_of(key);
    if (files_->kind_of(folder) == entry_kind::nothing) return {};
    auto entries = files_->list(folder);
    constexpr std::size_t few = 256;
    const auto measure = [&](std::size_t i) {
      folder_entry& entry = entries[i];
      if (!entry.is_folder && !entry.bytes)
        entry.bytes = files_->size_of(folder + '/' + entry.name);
    };
    // Each size is a call of the system, or a request.
    if (is_remote_ && entries.size() > 1)
      parallel_for(entries.size(), measure, 32);
    else if (entries.size() > few)
      parallel_for(divide(entries.size(), few), [&](std::size_t part) {
        for (std::size_t i = part * few; i < std::min(entries.size(), (part + 1) * few); ++i)
          measure(i);
      });
    else
      for (std::size_t i = 0; i < entries.size(); ++i) measure(i);
    return entries;
  }

  std::optional<zarr_object> open(const std::string& key) const override {
    const std::string path = path_of(key);
    if (files_->kind_of(path) == entry_kind::nothing) return std::nullopt;
    byte_file_ptr file = files_->open(path);
    const std::uint64_t bytes = file->size();
    return zarr_object{std::move(file), 0, bytes};
  }

  bool read_whole(const std::string& key, std::uint64_t max_bytes,
                  const file_system::room& memory) const override {
    const std::string path = path_of(key);
    const auto room = [&](std::size_t bytes) {
      if (bytes > max_bytes)
        throw dataset_error{{.path = path, .field = {}},
                            "has " + std::to_string(bytes) + " bytes, where no more than " +
                                std::to_string(max_bytes) + " can be right"};
      return memory(bytes);
    };
    // Looking first would be a call, or a request, more for each object that is there.
    try {
      if (!files_->read_whole(path, room).was_in_memory) is_cold_.store(true, relaxed);
    } catch (const dataset_error&) {
      if (files_->kind_of(path) == entry_kind::nothing) return false;
      throw;
    }
    return true;
  }

  void will_need(const std::string& key, std::uint64_t max_bytes) const noexcept override try {
    // Whole files are not ranges that a cache keeps.
    if (range_recorder::of_this_thread() == nullptr)
      files_->will_need_whole(path_of(key), max_bytes);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }
  bool is_cold() const noexcept override { return is_remote_ || is_cold_.exchange(false, relaxed); }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;

  static std::string without_slashes(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  }
  static std::size_t divide(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

  file_system_ptr files_;
  const bool is_remote_;
  mutable std::once_flag asked_;
  mutable bool can_list_ = false;
  mutable std::atomic<bool> is_cold_{true};  ///< a read had to wait since this was asked
};

}  // namespace

zarr_store_ptr open_zarr_store(const std::string& path) {
  const bool is_remote = path.find("://") != std::string::npos;
  // A web server may have a page for a folder.
  if (is_remote && !path.ends_with(".zip")) return std::make_shared<const folder_store>(path);
  const entry_kind kind = kind_of_entry(path);
  if (kind == entry_kind::nothing && !is_remote)
    throw dataset_error{{.path = path, .field = {}},
                        "there is no such file or folder; check its name"};
  if (kind == entry_kind::file) return open_zarr_zip(open_file(path));
  return std::make_shared<const folder_store>(path);
}

}  // namespace feedline::detail
