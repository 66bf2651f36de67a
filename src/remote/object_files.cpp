#include "remote/object_files.hpp"

#include "io/read_forecast.hpp"
#include "remote/manifest.hpp"
#include "remote/objects_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto recent_life = 2s;
constexpr std::size_t max_recent = 256;
constexpr std::uint64_t whole_head_bytes = std::uint64_t{1} << 20;
/// One request brings no more.
constexpr std::uint64_t max_head_bytes = std::uint64_t{8} << 20;

std::span<std::byte> room_for(const std::string& path, std::uint64_t size,
                              const file_system::room& memory) {
  if (size > file_system::max_whole_bytes)
    throw dataset_error{{.path = path, .field = {}},
                        "has " + std::to_string(size) + " bytes, and more than " +
                            std::to_string(file_system::max_whole_bytes) + " are not read"};
  return memory(static_cast<std::size_t>(size));
}

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
  if (!opened) return nullptr;
  is_far_.store(opened->is_far(), std::memory_order_relaxed);
  recent_.add(path, opened);
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

object_files::~object_files() {
  objects_ahead::forget(this);
}

void object_files::will_need_whole(const std::string& path, std::uint64_t max_bytes) const noexcept
    try {
  if (max_ahead_bytes_ == 0 || range_recorder::of_this_thread() != nullptr) return;
  objects_ahead& ahead = objects_ahead::of_this_process();
  if (const auto known = mounted_manifest())
    if (const object_pin* const pin = known->find(path))
      return ahead.fetch(this, path, access_to(path), *pin);
  // A near server is asked when a reader needs the bytes.
  if (!is_far_.load(std::memory_order_relaxed) || recent_.find(path)) return;
  const std::uint64_t usual = max_bytes == 0 ? whole_head_bytes : max_bytes;
  ahead.fetch(this, path, access_to(path), std::min(usual, max_head_bytes));
} catch (...) {  // NOLINT(bugprone-empty-catch): a hint may be dropped
}

bool object_files::read_ahead(const std::string& path, const room& memory,
                              std::span<const std::byte>& out) const {
  const auto found = objects_ahead::of_this_process().take(this, path);
  if (!found) return false;
  std::shared_ptr<const object_file> file = found->file;
  std::size_t got = 0;
  std::span<std::byte> bytes;
  if (file) {
    bytes = room_for(path, file->size(), memory);
  } else {
    const remote_transfer& opening = *found->by;
    if (opening.fault.fault != remote_fault::none) refuse(path, opening.fault);
    const object_pin pin = pin_of(opening.answer);
    bytes = room_for(path, pin.size, memory);
    got = std::min(static_cast<std::size_t>(opening.got), bytes.size());
    std::memcpy(bytes.data(), found->bytes.get(), got);
    if (got < bytes.size())
      file =
          std::make_shared<const object_file>(path, access_to(path), pin, std::vector<std::byte>{});
  }
  if (file) file->read(got, bytes.subspan(got));
  out = bytes;
  return true;
}

whole_file object_files::read_whole(const std::string& path, const room& memory) const {
  if (std::span<const std::byte> bytes; read_ahead(path, memory, bytes)) return {bytes, false};
  answer_verdict fault;
  const auto known = mounted_manifest();
  const bool is_listed = known && known->find(path) != nullptr;
  // One that was just opened, to see whether it is there, is not asked for again.
  auto file = is_listed ? try_open(path, fault) : recent_.find(path);
  const bool is_known = file != nullptr;
  if (!file && !is_listed)
    file = object_file::try_open(path, access_to(path), fault, whole_head_bytes);
  if (!file) refuse(path, fault);
  if (!is_listed) is_far_.store(file->is_far(), std::memory_order_relaxed);
  const auto bytes = room_for(path, file->size(), memory);
  // The first bytes came with the opening, if it was for this.
  const std::size_t head =
      is_known ? 0 : std::min(bytes.size(), static_cast<std::size_t>(whole_head_bytes));
  file->read(0, bytes.first(head));
  file->read(head, bytes.subspan(head));
  return {bytes, false};
}

}  // namespace feedline::detail
