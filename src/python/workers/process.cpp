#include "python/workers/process.hpp"

#include <feedline/error.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

/// Destinations that workers cannot map are written through memory of at most this size, or of one
/// sample.
constexpr std::size_t max_aside_bytes = std::size_t{4} << 20;
constexpr std::size_t row_alignment = 64;

std::size_t sample_bytes_of(std::span<const std::size_t> row_bytes) noexcept {
  std::size_t bytes = 0;
  for (const std::size_t each : row_bytes) bytes += each;
  return std::max<std::size_t>(bytes, 1);
}

/// @return A descriptor that can be read once the process has ended; -1 if there is none.
int opened_process(long pid) noexcept {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  return -1;
#endif
}

}  // namespace

worker_process::worker_process(unsigned number, nb::handle start, held_objects& among)
    : number_{number}, control_{sizeof(worker_progress)} {
  new (control_.data()) worker_progress;
  new_connections connections{lanes_a_worker};
  nb::object process = start(number, connections.others());
  auto links = connections.take();
  for (std::size_t each = 0; each < lanes_a_worker; ++each)
    lanes_[each] = std::make_unique<lane_state>(std::move(links[each]));
  pid_ = nb::cast<long>(process.attr("pid"));
  started_ = std::chrono::steady_clock::now();
  if (const auto limit = nb::cast<std::optional<double>>(process.attr("ready_within")))
    ready_within_ = std::chrono::milliseconds{static_cast<std::int64_t>(*limit * 1000)};
  process_ = held_object{std::move(process), among};
  ended_ = opened_process(pid_);
  const auto control = detail::find_shared(control_.data(), control_.size());
  const message_head head{.kind = message_kind::control, .region_bytes = control->region_bytes};
  std::vector<std::byte> message;
  append(message, head);
  (void)lanes_[0]->link->send(message, control->descriptor);  // if it has ended, `make` says so
}

worker_process::~worker_process() {
  if (ended_ >= 0) ::close(ended_);
}

std::size_t worker_process::max_samples(std::span<const std::size_t> row_bytes) noexcept {
  return std::clamp<std::size_t>(max_aside_bytes / sample_bytes_of(row_bytes), 1,
                                 max_samples_a_message);
}

worker_process::outcome worker_process::make(std::size_t lane, const read_request& request,
                                             std::span<const std::size_t> row_bytes,
                                             std::optional<std::chrono::milliseconds> patience) {
  lane_state& to = *lanes_[lane];
  const std::size_t count = request.samples.size();
  progress().begun[lane].store(0);
  if (!forget_freed(to)) return outcome::ended;

  message_head head{.kind = message_kind::make,
                    .samples = static_cast<std::uint32_t>(count),
                    .seed = request.context.seed(),
                    .epoch = request.context.epoch().value_or(0),
                    .has_epoch = request.context.epoch() ? 1U : 0U};
  to.message.clear();
  append(to.message, head);
  std::vector<std::pair<std::size_t, std::size_t>> through;  // fields, and where they are aside
  std::size_t aside_bytes = 0;
  std::vector<std::optional<detail::shared_place>> places;
  for (std::size_t field = 0; field < row_bytes.size(); ++field) {
    places.push_back(detail::find_shared(request.out[field].data(), count * row_bytes[field]));
    if (places.back()) continue;
    through.emplace_back(field, aside_bytes);
    aside_bytes += (count * row_bytes[field] + row_alignment - 1) / row_alignment * row_alignment;
  }
  if (aside_bytes > to.aside.size()) to.aside = shared_block{aside_bytes};
  for (const auto& [field, at] : through)
    places[field] = detail::find_shared(to.aside.data() + at, count * row_bytes[field]);
  for (const auto& place : places) {
    if (!announce(to, *place)) return outcome::ended;
    append(to.message, field_place{place->region, place->offset});
  }
  for (const sample_index each : request.samples) append(to.message, each.value);
  for (const sample_index each : request.context.samples()) append(to.message, each.value);
  if (!to.link->send(to.message)) return outcome::ended;

  const outcome answered = wait(lane, patience);
  if (answered == outcome::made)
    for (const auto& [field, at] : through)
      std::memcpy(request.out[field].data(), to.aside.data() + at, count * row_bytes[field]);
  return answered;
}

worker_process::outcome worker_process::wait(std::size_t number,
                                             std::optional<std::chrono::milliseconds> patience) {
  lane_state& of = *lanes_[number];
  const bool is_main = is_first_thread();
  std::size_t before = 0;
  auto since = std::chrono::steady_clock::now();
  for (;;) {
    // A signal may come just before the wait: the main thread looks for them now and then.
    const bool is_starting = ready_within_ && !is_ready();
    const auto slice = is_main || is_starting
                           ? std::min(patience.value_or(until_signals), until_signals)
                           : patience;
    const channel::received got = of.link->receive(of.answer, slice, ended_);
    switch (got.what) {
      case channel::outcome::message: {
        of.answer_bytes = got.bytes;
        std::span<const std::byte> message{of.answer};
        return taken<answer_head>(message).failed != 0 ? outcome::failed : outcome::made;
      }
      case channel::outcome::ended:
        return outcome::ended;
      case channel::outcome::late: {
        if (is_main) locked(run_signal_handlers);
        const auto time = std::chrono::steady_clock::now();
        if (is_starting && !is_ready() && time - started_ > *ready_within_) {
          is_stuck_ = true;
          return outcome::stuck;
        }
        if (!patience || time - since < *patience) break;
        since = time;
        // A request that is not begun waits for the other lane's.
        const std::size_t now = begun(number);
        if (now == before && now != 0) return outcome::late;
        before = now;
        break;
      }
      case channel::outcome::interrupted: {
        locked(run_signal_handlers);
      }
    }
  }
}

bool worker_process::announce(lane_state& to, const detail::shared_place& place) {
  if (std::ranges::find(to.known, place.region) != to.known.end()) return true;
  const message_head head{
      .kind = message_kind::map, .region = place.region, .region_bytes = place.region_bytes};
  std::vector<std::byte> message;
  append(message, head);
  if (!to.link->send(message, place.descriptor)) return false;
  to.known.push_back(place.region);
  return true;
}

bool worker_process::forget_freed(lane_state& to) {
  const std::uint64_t freed = detail::freed_shared_regions();
  if (freed == to.freed) return true;
  bool heard = true;
  std::erase_if(to.known, [&](std::uint64_t region) {
    if (detail::is_shared_region(region)) return false;
    std::vector<std::byte> message;
    append(message, message_head{.kind = message_kind::forget, .region = region});
    heard = heard && to.link->send(message);
    return true;
  });
  to.freed = freed;
  return heard;
}

std::span<const std::byte> worker_process::answer(std::size_t lane) const noexcept {
  return std::span{lanes_[lane]->answer}
      .first(lanes_[lane]->answer_bytes)
      .subspan(sizeof(answer_head));
}

void worker_process::ask_to_end() const noexcept {
  for (const auto& each : lanes_) each->link->shut();
}

std::string worker_process::end(double patience) const {
  const nb::object code = process_.get().attr("end")(patience);
  if (code.is_none()) return "ended";  // others took its exit code
  const int number = nb::cast<int>(code);
  if (number >= 0) return "ended with exit code " + std::to_string(number);
  std::string words = "was killed by signal " + std::to_string(-number);
  if (number == -9) words += " (SIGKILL, which the system sends, too, if memory runs out)";
  return words;
}

std::string worker_process::name() const {
  return "worker " + std::to_string(number_) + " (pid " + std::to_string(pid_) + ")";
}

}  // namespace feedline::python
