/// Moving leases on sources: each ends once, where it is destroyed or assigned over, and has its
/// stream wait for its own copy then.

#include <feedline/backend/device.hpp>
#include <feedline/results/ring.hpp>

#include "device/owned.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/wrapped_device.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t bytes = 64;

/// Writes down the ends of copies, and what the consumer's stream is made to wait for.
class listening_device final : public wrapped_device {
 public:
  explicit listening_device(const scripted& on) : wrapped_device{on.device}, stream_{on.stream} {}

  void record(event_handle event, stream_ref stream) override {
    if (stream != stream_) copied.push_back(event);
    wrapped_device::record(event, stream);
  }
  void wait(stream_ref stream, event_handle event) override {
    if (stream == stream_) waited.push_back(event);
    wrapped_device::wait(stream, event);
  }

  std::vector<event_handle> copied;  ///< event of each push
  std::vector<event_handle> waited;

 private:
  stream_ref stream_;
};

/// A ring, and leases on what is pushed to it.
struct leasing {
  [[nodiscard]] source_lease push() {
    return results.push(source.data(), bytes, on.stream).value();
  }

  const scripted on{};
  std::shared_ptr<listening_device> device = std::make_shared<listening_device>(on);
  detail::device_memory source{on.device, memory_kind::device, bytes};
  result_ring results{device, {.slot_bytes = bytes, .slots = 4}};
};

using events = std::vector<event_handle>;

}  // namespace

TEST_CASE("source lease: one that is assigned over ends there, and the new one later",
          "[results][host]") {
  leasing from;
  {
    source_lease lease = from.push();
    source_lease next = from.push();
    CHECK(from.device->waited.empty());
    lease = std::move(next);
    CHECK(from.device->waited == events{from.device->copied.at(0)});
  }
  CHECK(from.device->waited == from.device->copied);
}

TEST_CASE("source lease: one that is assigned to itself stays valid, and ends once",
          "[results][host]") {
  leasing from;
  {
    source_lease lease = from.push();
    source_lease& itself = lease;
    lease = std::move(itself);
    CHECK(from.device->waited.empty());
  }
  CHECK(from.device->waited == from.device->copied);
}

TEST_CASE("source lease: a moved-from lease holds nothing, and may be assigned another",
          "[results][host]") {
  leasing from;
  std::optional<source_lease> first{from.push()};
  source_lease kept{std::move(*first)};
  *first = from.push();  // ends nothing
  CHECK(from.device->waited.empty());
  source_lease second{std::move(*first)};
  first.reset();
  CHECK(from.device->waited.empty());
  kept = std::move(second);
  second = from.push();
  CHECK(from.device->waited == events{from.device->copied.at(0)});
}

TEST_CASE("source lease: one that holds nothing ends the one that it is assigned to",
          "[results][host]") {
  leasing from;
  source_lease lease = from.push();
  source_lease other = from.push();
  const source_lease kept{std::move(other)};
  lease = std::move(other);  // NOLINT(bugprone-use-after-move): that is the point
  CHECK(from.device->waited == events{from.device->copied.at(0)});
  lease = from.push();
  CHECK(from.device->waited == events{from.device->copied.at(0)});
}

TEST_CASE("source lease: the memory of its ring goes when it is assigned over", "[results][host]") {
  leasing from;
  const auto allocated = [&] { return from.on.device->allocated_bytes(memory_kind::staging); };
  const std::size_t before = allocated();
  std::optional<result_ring> gone{std::in_place, from.device,
                                  result_options{.slot_bytes = bytes, .slots = 2}};
  source_lease lease = gone->push(from.source.data(), bytes, from.on.stream).value();
  from.on.device->drain();
  gone.reset();
  CHECK(allocated() > before);  // the lease's
  lease = from.push();
  CHECK(allocated() == before);
}
