#include "remote/object_files.hpp"

#include "remote/manifest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto recent_life = 2s;
constexpr std::size_t max_recent = 256;
constexpr std::uint64_t whole_head_bytes = std::uint64_t{1} << 20;

}  // namespace

std::shared_ptr<const object_file> recent_objects::find(const std::string& path) {
  state& its = state_.get();
  const std::lock_guard lock{its.mutex};
  its.drop_old();
  const auto found = its.entries.find(path);
  if (found == its.entries.end() || found->second.file->was_changed()) return nullptr;
  return found->second.file;
}

void recent_objects::add(const std::string& path, std::shared_ptr<const object_file> opened) {
  state& its = state_.get();
  const std::lock_guard lock{its.mutex};
  its.drop_old();
  if (its.entries.size() >= max_recent) its.entries.erase(its.entries.begin());
  its.entries.insert_or_assign(path, entry{std::move(opened), std::chrono::steady_clock::now()});
}

void recent_objects::state::drop_old() {
  const auto oldest = std::chrono::steady_clock::now() - recent_life;
  std::erase_if(entries, [&](const auto& each) { return each.second.opened < oldest; });
}

object_access object_files::access_to(const std::string& path) const {
  return {std::make_shared<const remote_target>(target_of(path)), max_ahead_bytes_, cache_};
}

std::shared_ptr<const object_file> object_files::try_open(const std::string& path,
                                                          answer_verdict& fault) const {
  if (const auto known = mounted_manifest())
    if (const object_pin* const pin = known->find(path)) {
      fault = {};
      return std::make_shared<const object_file>(path, access_to(path), *pin,
                                                 std::vector<std::byte>{});
    }
  if (auto found = recent_.find(path)) return found;
  auto opened = object_file::try_open(path, access_to(path), fault);
  if (opened) recent_.add(path, opened);
  return opened;
}

void object_files::refuse(const std::string& path, const answer_verdict& fault) {
  throw dataset_error{{.path = path, .field = {}}, "cannot be opened: " + fault.words};
}

byte_file_ptr object_files::open(const std::string& path, file_access) const {
  answer_verdict fault;
  if (auto opened = try_open(path, fault)) return opened;
  refuse(path, fault);
}

whole_file object_files::read_whole(const std::string& path, const room& memory) const {
  answer_verdict fault;
  const auto known = mounted_manifest();
  const bool is_listed = known && known->find(path) != nullptr;
  // One that was just opened, to see whether it is there, is not asked for again.
  auto file = is_listed ? try_open(path, fault) : recent_.find(path);
  const bool is_known = file != nullptr;
  if (!file && !is_listed)
    file = object_file::try_open(path, access_to(path), fault, whole_head_bytes);
  if (!file) refuse(path, fault);
  if (file->size() > max_whole_bytes)
    throw dataset_error{{.path = path, .field = {}},
                        "has " + std::to_string(file->size()) + " bytes, and more than " +
                            std::to_string(max_whole_bytes) + " are not read"};
  const auto bytes = memory(static_cast<std::size_t>(file->size()));
  // The first bytes came with the opening, if it was for this.
  const std::size_t head =
      is_known ? 0 : std::min(bytes.size(), static_cast<std::size_t>(whole_head_bytes));
  file->read(0, bytes.first(head));
  file->read(head, bytes.subspan(head));
  return {bytes, false};
}

}  // namespace feedline::detail
