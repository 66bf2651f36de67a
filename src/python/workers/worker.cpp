#include <feedline/error.hpp>

#include "python/bindings.hpp"
#include "python/samples/maker.hpp"
#include "python/workers/channel.hpp"
#include "python/workers/protocol.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/stl/vector.h>
#include <poll.h>

namespace feedline::python {
namespace {

using namespace std::chrono_literals;

/// How long a worker may take to end, once the process that started it has ended.
constexpr auto grace = 1s;

/// Memory of the other process, mapped here.
class mapped_region {
 public:
  mapped_region(int descriptor, std::size_t bytes)
      : memory_{::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                       descriptor, 0)},
        bytes_{bytes} {
    ::close(descriptor);
    if (memory_ == MAP_FAILED) throw std::bad_alloc{};
  }
  mapped_region(const mapped_region&) = delete;
  mapped_region& operator=(const mapped_region&) = delete;
  ~mapped_region() { ::munmap(memory_, bytes_); }

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(memory_); }

 private:
  void* memory_;
  std::size_t bytes_;
};

/// The side of a worker process: takes requests, and writes samples into the other process's
/// memory. `feedline._worker` drives it, so that exceptions pass through Python.
class worker_side {
 public:
  worker_side(const std::vector<int>& sockets, sample_maker maker,
              std::shared_ptr<held_objects> held)
      : held_{std::move(held)}, maker_{std::move(maker)} {
    for (const int socket : sockets) lanes_.push_back(std::make_unique<channel>(socket));
    while (!control_)
      if (!take_message(0)) throw usage_error{"the process that started this worker has ended"};
    std::thread{end_with, lanes_.front()->socket()}.detach();
  }

  /// Whether `receive` would not wait.
  [[nodiscard]] bool has_message() const {
    std::vector<pollfd> asked;
    for (const auto& lane : lanes_) asked.push_back({lane->socket(), POLLIN, 0});
    return ::poll(asked.data(), asked.size(), 0) != 0;
  }

  /// Waits for a request. False: the other process has ended the connection.
  bool receive() {
    const interpreter_release release;
    for (;;) {
      std::vector<pollfd> asked;
      for (const auto& lane : lanes_) asked.push_back({lane->socket(), POLLIN, 0});
      if (::poll(asked.data(), asked.size(), -1) < 0 && errno != EINTR) return false;
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        // The lane that was not served last comes first.
        const std::size_t lane = (lane_ + 1 + i) % lanes_.size();
        if (asked[lane].revents == 0) continue;
        is_request_ = false;
        if (!take_message(lane)) return false;
        if (!is_request_) continue;
        lane_ = lane;
        return true;
      }
    }
  }

  /// Makes the samples of the request, and answers.
  void make() {
    std::span<const std::byte> message{message_};
    const auto head = taken<message_head>(message);
    const std::vector<std::size_t>& row_bytes = maker_.values().row_bytes();
    out_.clear();
    for (const std::size_t bytes : row_bytes) {
      const auto place = taken<field_place>(message);
      out_.emplace_back(regions_.at(place.region).data() + place.offset, head.samples * bytes);
    }
    for (std::vector<sample_index>* const each : {&samples_, &loader_samples_}) {
      each->clear();
      for (std::uint32_t i = 0; i < head.samples; ++i)
        each->push_back(sample_index{taken<std::uint64_t>(message)});
    }
    const read_context context =
        head.has_epoch != 0
            ? read_context{head.seed, head.epoch, loader_samples_, feedline::position{0}}
            : read_context{loader_samples_};
    std::atomic<std::uint32_t>& begun = progress()->begun[lane_];
    maker_.make({samples_, out_, context},
                [&](std::size_t place) { begun.store(static_cast<std::uint32_t>(place + 1)); });
    answer({}, false);
  }

  /// Answers that the sample that was begun last cannot be made.
  void refuse(const nb::bytes& raised) {
    answer({reinterpret_cast<const std::byte*>(raised.c_str()), raised.size()}, true);
  }

 private:
  /// Takes a message, and follows it, unless it asks for samples. False: the connection has ended.
  bool take_message(std::size_t lane) {
    const auto [what, bytes, descriptor] = lanes_[lane]->receive(message_);
    if (what != channel::outcome::message) return what == channel::outcome::interrupted;
    std::span<const std::byte> message{message_};
    const auto head = taken<message_head>(message);
    switch (head.kind) {
      case message_kind::make:
        is_request_ = true;
        break;
      case message_kind::forget:
        regions_.erase(head.region);
        break;
      case message_kind::map:
        if (regions_.contains(head.region)) {
          ::close(descriptor);
        } else {
          regions_.try_emplace(head.region, descriptor, head.region_bytes);
        }
        break;
      case message_kind::control:
        control_ = std::make_unique<mapped_region>(descriptor, head.region_bytes);
        progress()->is_ready.store(1);
        break;
    }
    return true;
  }

  [[nodiscard]] worker_progress* progress() const {
    return reinterpret_cast<worker_progress*>(control_->data());
  }

  void answer(std::span<const std::byte> raised, bool failed) {
    answer_.clear();
    append(answer_, answer_head{failed});
    answer_.insert(answer_.end(), raised.begin(), raised.end());
    const interpreter_release release;
    (void)lanes_[lane_]->send(answer_);  // if the connection has ended, `receive` says so
  }

  /// Ends this process if the other one has ended, even while a sample never ends.
  static void end_with(int socket) {
    pollfd asked{socket, 0, 0};
    while (::poll(&asked, 1, -1) < 0 && errno == EINTR) {
    }
    std::this_thread::sleep_for(grace);
    ::_exit(1);
  }

  std::shared_ptr<held_objects> held_;
  sample_maker maker_;
  std::vector<std::span<std::byte>> out_;
  std::vector<sample_index> samples_;
  std::vector<sample_index> loader_samples_;
  std::vector<std::unique_ptr<channel>> lanes_;
  std::size_t lane_ = 0;
  std::map<std::uint64_t, mapped_region> regions_;
  std::unique_ptr<mapped_region> control_;
  std::vector<std::byte> message_ = std::vector<std::byte>(max_message_bytes);
  bool is_request_ = false;  ///< the last message
  std::vector<std::byte> answer_;
};

}  // namespace

void bind_worker_side(nb::module_& module) {
  nb::class_<worker_side>(module, "_WorkerSide", "Used by feedline._worker.")
      .def(
          "__init__",
          [](worker_side* self, const std::vector<int>& sockets, nb::object get, nb::object get_all,
             nb::handle structure, nb::handle leaves, nb::object seed) {
            auto held = std::make_shared<held_objects>();
            sample_maker maker{std::move(get),
                               std::move(get_all),
                               {structure, leaves, *held},
                               std::move(seed),
                               *held};
            new (self) worker_side{sockets, std::move(maker), std::move(held)};
          },
          "sockets"_a, "get"_a, "get_all"_a.none(), "structure"_a, "leaves"_a, "seed"_a.none())
      .def("has_message", &worker_side::has_message)
      .def("receive", &worker_side::receive)
      .def("make", &worker_side::make)
      .def("refuse", &worker_side::refuse, "raised"_a);
}

}  // namespace feedline::python
