/// Arguments and options that a queue and its loader refuse.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/queue/queue_dataset.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/queue/queued_samples.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <string>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

TEST_CASE("queue: what it cannot do is refused", "[loader][host]") {
  const queue_ptr queue = make_queue();
  const auto refusal = [&](const sampler& order, const loader_options& options) {
    return message_of<usage_error>([&] {
      (void)loader{queue, order, make_host_device(), options};
    });
  };
  const std::string begin = "a loader of a queue: ";
  CHECK(refusal(shuffle{}, {}) == begin +
                                      "the sampler is not sequential: samples come in the "
                                      "order in which they were put");
  CHECK(contains(refusal(sequential{}, {.shard = {0, 2}}), "make a queue in each process"));
  CHECK(contains(refusal(sequential{}, {.partial_batch = partial_batch::drop}), "is not keep"));
  CHECK(contains(refusal(sequential{}, {.readers = 0}), "readers is 0: one reader takes"));
  CHECK(contains(refusal(sequential{}, {.placement = placement::resident}), "is resident"));
  CHECK(contains(refusal(sequential{}, {.expert = {.batches_per_slot = 2}}), "leave it out"));
  CHECK(contains(refusal(sequential{}, {.expert = {.request_bytes = 4096}}), "request_bytes"));
  CHECK(contains(refusal(sequential{}, {.expert = {.tuning = {.max_readers = 2}}}), "tuning"));
  loader first = make_loader(queue);
  CHECK(refusal(sequential{}, {}) ==
        "another loader reads this queue: one at a time delivers its samples");
  CHECK(contains(message_of<usage_error>([&] {
                   std::array<std::byte, 24> row{};
                   std::array<std::byte, 8> id{};
                   const std::array<std::span<std::byte>, 2> out{id, row};
                   const sample_index sample{0};
                   queue->read({&sample, 1}, out);
                 }),
                 "give the queue itself to a loader"));
  const std::array<std::byte, 8> id{};
  const std::array<std::span<const std::byte>, 1> one{id};
  const std::array<std::span<const std::byte>, 2> short_row{id, id};
  CHECK(message_of<usage_error>([&] { (void)queue->put(one); }) ==
        "queue_dataset::put: the sample has 1 values, but the queue has 2 fields");
  CHECK(message_of<usage_error>([&] { (void)queue->put(short_row); }) ==
        "queue_dataset::put: field 'row' has 8 bytes, but row: uint8[24] takes 24");
  CHECK(contains(message_of<usage_error>([] { (void)make_queue({.capacity = 0}); }),
                 "capacity is 0"));
  CHECK(contains(message_of<usage_error>([] {
                   (void)make_queue({.capacity = std::numeric_limits<std::size_t>::max()});
                 }),
                 "2^63 bytes or more: lower it"));
  CHECK(contains(message_of<usage_error>([] { (void)make_queue({.max_delay = -1us}); }),
                 "max_delay is -1 us"));
  CHECK_THROWS_AS(queue_producer{nullptr}, usage_error);
}
