#include <feedline/error.hpp>

#include "formats/npy/zip_archive.hpp"
#include "formats/zarr/stores/store.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

/// Members of an archive that are stored uncompressed, as zarr-python's ZipStore does by default:
/// they are parts of the file.
class zip_store final : public zarr_store {
 public:
  explicit zip_store(byte_file_ptr file) : zarr_store{file->name()}, file_{std::move(file)} {
    const auto archive = open_zip_archive(file_);
    const auto& members = archive->members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const zip_member& member = members[i];
      if (member.name.ends_with('/')) continue;
      const file_field where{file_->name(), {}};
      part found{.bytes = member.bytes};
      if (member.bytes != 0) {
        if (const auto begin = archive->place(i, where))
          found.begin = *begin;
        else
          found.is_packed = true;
      }
      // An archive may hold a member several times, if its array was written again: the last one
      // counts, as for Python's zipfile.
      parts_.insert_or_assign(member.name, found);
    }
  }

  std::optional<std::string> text(const std::string& key) const override {
    std::vector<std::byte> bytes;
    if (!read(key, max_text_bytes, bytes)) return std::nullopt;
    return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::vector<folder_entry> list(const std::string& key) const override {
    std::vector<folder_entry> entries;
    const std::string prefix = key.empty() ? "" : key + '/';
    for (auto at = parts_.lower_bound(prefix); at != parts_.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      const std::string_view rest = std::string_view{at->first}.substr(prefix.size());
      const std::size_t end = rest.find('/');
      if (end == rest.npos) {
        entries.push_back({std::string{rest}, false, at->second.bytes});
      } else if (entries.empty() || !entries.back().is_folder ||
                 entries.back().name != rest.substr(0, end)) {
        entries.push_back({std::string{rest.substr(0, end)}, true});
      }
    }
    return entries;
  }

  std::optional<zarr_object> open(const std::string& key) const override {
    const auto found = parts_.find(key);
    if (found == parts_.end()) return std::nullopt;
    require_plain(key, found->second);
    return zarr_object{file_, found->second.begin, found->second.bytes};
  }

  bool read_whole(const std::string& key, std::uint64_t max_bytes,
                  const file_system::room& memory) const override {
    const auto object = open(key);
    if (!object) return false;
    if (object->bytes > max_bytes)
      throw dataset_error{{.path = path_of(key), .field = {}},
                          "has " + std::to_string(object->bytes) + " bytes, where no more than " +
                              std::to_string(max_bytes) + " can be right"};
    file_->read(object->begin, memory(static_cast<std::size_t>(object->bytes)));
    return true;
  }

  void will_need(const std::string& key, std::uint64_t /*max_bytes*/) const noexcept override {
    if (const auto found = parts_.find(key); found != parts_.end())
      file_->will_need(found->second.begin, found->second.bytes);
  }
  bool is_cold() const noexcept override { return file_->is_cold(); }
  byte_file_ptr file() const override { return file_; }

 private:
  struct part {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    bool is_packed = false;
  };

  void require_plain(const std::string& key, const part& found) const {
    if (found.is_packed)
      throw dataset_error{
          {.path = path_of(key), .field = {}},
          "is compressed or encrypted by the archive itself, so that it cannot be read in parts; "
          "write the archive with zarr.storage.ZipStore(compression=zipfile.ZIP_STORED), or by "
          "`zip -0`, or unpack it"};
  }

  byte_file_ptr file_;
  std::map<std::string, part, std::less<>> parts_ = {};
};

}  // namespace

zarr_store_ptr open_zarr_zip(byte_file_ptr file) {
  return std::make_shared<const zip_store>(std::move(file));
}

}  // namespace feedline::detail
