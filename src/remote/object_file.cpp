#include "remote/object_file.hpp"

#include <feedline/remote/mount.hpp>

#include "io/far_reads.hpp"
#include "remote/request/awaited.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

/// A gap up to this size is fetched with its neighbours: a request costs about as much.
constexpr std::uint64_t max_gap = std::uint64_t{128} << 10;
/// A larger part is requested in several, which are in flight at once.
constexpr std::uint64_t max_request = std::uint64_t{8} << 20;
/// Reads up to this size may be members of a walk through the object.
constexpr std::uint64_t small_read = std::uint64_t{256} << 10;
/// The next step of a walk lies within this distance.
constexpr std::uint64_t max_step = std::uint64_t{1} << 20;
/// So many steps in a row are a walk.
constexpr int steps_of_walk = 2;
/// Each window of a walk is so many times as large as the one before, up to a limit: a walk through
/// 10 MB takes four of them, and 128 MB take eight.
constexpr std::uint64_t window_growth = 4;
constexpr std::uint64_t max_window = std::uint64_t{32} << 20;
/// After this time a window is dropped.
constexpr auto window_life = 5s;

bool shows_changes(const object_pin& pin) {
  return pin.has_strong_tag() || !pin.last_modified.empty();
}

/// Nothing is kept of objects whose changes could not be seen.
std::shared_ptr<const object_identity> identity_of(const object_access& access,
                                                   const object_pin& pin,
                                                   const std::string& version) {
  if (!access.cache || !shows_changes(pin) || pin.size == 0) return nullptr;
  (void)object_cache::of_this_process(access.cache);  // before loaders begin
  return std::make_shared<const object_identity>(
      identify(access.target->url, version, pin.size, access.cache->block_bytes));
}

std::string version_of(const object_pin& pin) {
  return std::to_string(pin.size) + " " + (pin.etag.empty() ? pin.last_modified : pin.etag);
}

}  // namespace

void object_file::window::copy(const byte_read& part) const noexcept {
  std::memcpy(part.out.data(), bytes.data() + (part.offset - begin), part.out.size());
}

std::shared_ptr<const object_file> object_file::try_open(const std::string& name,
                                                         object_access access,
                                                         answer_verdict& fault,
                                                         std::uint64_t head) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(head));
  awaited opening;
  opening.submit(access.target, {.what = wanted_bytes::kind::opening, .bytes = head},
                 std::span{bytes});
  opening.wait();
  const remote_transfer& ended = *opening.all().front();
  fault = ended.fault;
  if (fault.fault != remote_fault::none) return nullptr;
  bytes.resize(static_cast<std::size_t>(ended.got));
  bytes.shrink_to_fit();
  return std::make_shared<const object_file>(name, std::move(access), pin_of(ended.answer),
                                             std::move(bytes),
                                             ended.latency >= in_flight_limit::near);
}

object_file::object_file(const std::string& name, object_access access, object_pin pin,
                         std::vector<std::byte> head, bool is_far)
    : byte_file{name, pin.size, {}},  // `request` joins parts, without a copy
      access_{std::move(access)},
      pin_{std::move(pin)},
      is_far_{is_far},
      identity_{identity_of(access_, pin_, version_of(pin_))} {
  walk_.get().kept = std::make_shared<const window>(window{.begin = 0, .bytes = std::move(head)});
  set_hints_are_requests();
}

object_file::~object_file() {
  ahead_store::forget(this);
}

std::string object_file::version() const {
  return version_of(pin_);
}

bool object_file::has_version() const noexcept {
  return shows_changes(pin_);
}

std::string object_file::stable_name() const {
  const object_identity its = identify(access_.target->url, {}, 0, 1);  // in any version
  return its.text + "\n" + std::to_string(its.hash);
}

std::string object_file::index_folder() const {
  return identity_ && access_.cache->folder ? access_.cache->folder->path() : std::string{};
}

object_identity object_file::identity_in_any_cache() const {
  return identify(access_.target->url, version(), size(), remote_cache_options{}.block_bytes);
}

std::shared_ptr<const object_file::window> object_file::kept_window() const {
  walk& its = walk_.get();
  const std::lock_guard lock{its.mutex};
  if (its.kept && its.kept->bytes.size() < size() &&
      std::chrono::steady_clock::now() > its.kept->made + window_life)
    its.kept.reset();
  return its.kept;
}

/// A walk ends at the object's end: there may be thousands of objects, so the rest of its window
/// goes. The last bytes stay, because they may be read again.
void object_file::copy_kept(const window& kept, const byte_read& part) const {
  kept.copy(part);
  if (part.end() != size() || kept.bytes.size() <= head_bytes) return;
  std::shared_ptr<const window> last;
  if (part.out.size() <= head_bytes)
    last = std::make_shared<const window>(
        window{.begin = part.offset, .bytes = {part.out.begin(), part.out.end()}});
  walk& its = walk_.get();
  const std::lock_guard lock{its.mutex};
  if (its.kept.get() == &kept) its.kept = std::move(last);
}

bool object_file::read_walking(const byte_read& part) const {
  if (part.out.size() > small_read) return false;
  window next{.begin = part.offset};
  walk& its = walk_.get();
  {
    const std::lock_guard lock{its.mutex};
    const bool is_step = part.offset >= its.last_end && part.offset - its.last_end <= max_step;
    its.steps = is_step ? its.steps + 1 : 0;
    const bool goes_on = its.steps >= steps_of_walk;
    its.grown = goes_on ? std::min(window_growth * its.grown, max_window) : head_bytes;
    // The next block may be kept.
    const std::uint64_t end =
        identity_
            ? std::min(size(), (part.end() / identity_->block_bytes + 1) * identity_->block_bytes)
            : size();
    const std::uint64_t bytes = std::min(its.grown, end - part.offset);
    its.last_end =
        goes_on ? part.offset + std::max<std::uint64_t>(bytes, part.out.size()) : part.end();
    if (!goes_on || bytes <= part.out.size()) return false;
    next.bytes.resize(static_cast<std::size_t>(bytes));
  }
  const byte_read whole{next.begin, next.bytes};
  request({&whole, 1});
  next.copy(part);
  auto kept = std::make_shared<const window>(std::move(next));
  const std::lock_guard lock{its.mutex};
  its.kept = std::move(kept);
  return true;
}

void object_file::do_read(std::span<const byte_read> parts) const {
  const auto kept = kept_window();
  std::vector<byte_read> left;
  std::vector<byte_read> awaited;
  for (const byte_read& part : parts) {
    if (kept && kept->has(part))
      copy_kept(*kept, part);
    else if (identity_)
      read_blocks(part, left, awaited);
    else if (!read_ahead(part))
      left.push_back(part);
  }
  if (left.size() != 1 || !read_walking(left.front())) request(left);
  for (const byte_read& piece : awaited) await_block(piece);
}

/// Parts that are neither kept nor fetched ahead, requested.
class object_file::begun final : public begun_read {
 public:
  begun(const object_file& of, std::span<const byte_read> parts) : of_{of} {
    of_.submit(parts, all_);
  }
  void finish() override { of_.require_come(all_); }

 private:
  const object_file& of_;
  awaited all_;
};

/// With a cache the parts are read when they are to be there: blocks may come from a disk.
std::unique_ptr<begun_read> object_file::do_begin_read(std::span<const byte_read> parts) const {
  if (identity_) return nullptr;
  const auto kept = kept_window();
  std::vector<byte_read> left;
  for (const byte_read& part : parts) {
    if (part.out.empty()) continue;
    if (kept && kept->has(part))
      copy_kept(*kept, part);
    else if (!read_ahead(part))
      left.push_back(part);
  }
  return std::make_unique<begun>(*this, left);
}

bool object_file::read_ahead(const byte_read& part) const {
  answer_verdict fault;
  const auto outcome = ahead_store::of_this_process().read(this, part, fault);
  if (outcome == ahead_store::outcome::failed) refuse(part.offset, fault);
  return outcome == ahead_store::outcome::read;
}

void object_file::request(std::span<const byte_read> parts) const {
  awaited all;
  submit(parts, all);
  require_come(all);
}

void object_file::submit(std::span<const byte_read> parts, awaited& all) const {
  const auto submit_one = [&](std::uint64_t begin, landing into) {
    const std::uint64_t bytes = into.bytes();
    all.submit(access_.target, {wanted_bytes::kind::range, begin, bytes, pin_}, std::move(into));
  };
  for (std::size_t i = 0; i < parts.size();) {
    const std::uint64_t begin = parts[i].offset;
    if (parts[i].out.size() > max_request) {
      auto out = parts[i++].out;
      for (std::uint64_t at = begin; !out.empty();) {
        const auto some = out.first(std::min(out.size(), static_cast<std::size_t>(max_request)));
        submit_one(at, some);
        at += some.size();
        out = out.subspan(some.size());
      }
      continue;
    }
    landing into{parts[i++].out};
    for (; i < parts.size(); ++i) {
      const byte_read& next = parts[i];
      const std::uint64_t end = begin + into.bytes();
      const bool is_near =
          next.offset >= end && next.offset - end <= max_gap && next.end() - begin <= max_request;
      if (!is_near) break;
      into.skip(next.offset - end);
      into.add(next.out);
    }
    submit_one(begin, std::move(into));
  }
}

void object_file::require_come(awaited& all) const {
  all.wait();
  for (const transfer_ptr& each : all.all())
    if (each->fault.fault != remote_fault::none) refuse(each->wanted.begin, each->fault);
}

void object_file::do_will_need(std::span<const byte_range> ranges) const noexcept try {
  if (access_.max_ahead_bytes == 0) return;
  if (identity_) {
    for (const byte_range& range : ranges) block_will_need(range);
    return;
  }
  // Bytes of a near server are requested when they are read: then they land in the reader's memory.
  if (!is_far_) return;
  for (const byte_range& range : ranges)
    ahead_store::of_this_process().fetch(this, access_.target, pin_, range,
                                         access_.max_ahead_bytes);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

void object_file::refuse(std::uint64_t offset, const answer_verdict& fault) const {
  if (fault.fault == remote_fault::changed) {
    was_changed_.store(true);
    throw error({}, fault.words);
  }
  throw error(offset, "cannot be read: " + fault.words);
}

}  // namespace feedline::detail
