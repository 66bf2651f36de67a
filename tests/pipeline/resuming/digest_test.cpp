/// `loader::order_digest`: one number for all ranks of a run, and another one for every other run.

#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

std::uint64_t digest_of(const dataset_ptr& data, const sampler& order,
                        const loader_options& options) {
  return loader{data, order, make_host_device(), options}.order_digest();
}

loader_options rank_of(int rank, int world, std::uint64_t batch_size = 8) {
  return {.batch_size = batch_size, .shard = {.rank = rank, .world = world}, .readers = 0};
}

}  // namespace

TEST_CASE("digest: all ranks of a run have the same one, whatever they read with",
          "[loader][shard][host]") {
  const auto rows = make_identity_rows(1000, 8);
  const std::uint64_t first = digest_of(rows, shuffle{.seed = 1}, rank_of(0, 3));
  for (const int rank : {1, 2}) {
    loader_options options = rank_of(rank, 3);
    options.readers = rank;
    options.expert.staging_slots = 8;
    options.epochs = 7;
    CHECK(digest_of(rows, shuffle{.seed = 1}, options) == first);
  }
}

TEST_CASE("digest: it does not change while batches are taken, or after a seek",
          "[loader][shard][host]") {
  const auto rows = make_identity_rows(100, 8);
  loader loader{rows, shuffle{.seed = 1}, make_host_device(), rank_of(0, 2)};
  const std::uint64_t before = loader.order_digest();
  loader_state state = loader.state();
  for (const batch& each : loader.epoch(0)) {
    CHECK(loader.order_digest() == before);
    state = loader.state();
    if (each.index() == 2) break;
  }
  loader.seek(state);
  CHECK(loader.order_digest() == before);
}

TEST_CASE("digest: ranks with other data, orders, sizes or options have another one",
          "[loader][shard][host]") {
  const auto rows = make_identity_rows(1000, 8);
  const loader_options options = rank_of(0, 2);
  std::vector<std::uint64_t> digests{
      digest_of(rows, shuffle{.seed = 1}, options),
      digest_of(rows, shuffle{.seed = 2}, options),
      digest_of(rows, sequential{}, options),
      digest_of(make_identity_rows(1001, 8), shuffle{.seed = 1}, options),
      digest_of(make_identity_rows(1000, 16), shuffle{.seed = 1}, options),
      digest_of(rows, shuffle{.seed = 1}, rank_of(0, 2, 16)),
      digest_of(rows, shuffle{.seed = 1}, rank_of(0, 4, 4)),  // the same global batch
  };
  loader_options other = options;
  other.partial_batch = partial_batch::drop;
  digests.push_back(digest_of(rows, shuffle{.seed = 1}, other));
  other = options;
  other.seed = 5;
  digests.push_back(digest_of(rows, shuffle{.seed = 1}, other));
  other = options;
  other.errors = {.action = error_action::substitute, .substitute = 3};
  digests.push_back(digest_of(rows, shuffle{.seed = 1}, other));
  other.errors.substitute = 4;
  digests.push_back(digest_of(rows, shuffle{.seed = 1}, other));
  for (std::size_t i = 0; i < digests.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(i, j);
      CHECK(digests[i] != digests[j]);
    }
}

namespace {

/// Its order of an epoch is known once that epoch is asked for. @param shift Makes other orders.
struct order_of_asked {
  std::uint64_t shift = 0;
  std::shared_ptr<std::set<std::uint64_t>> asked = std::make_shared<std::set<std::uint64_t>>();

  std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    asked->insert(epoch);
    for (std::uint64_t i = 0; i < out.size(); ++i)
      out[i] = {(first.value + i + epoch + shift) % samples};
  }
  std::uint64_t digest(std::uint64_t /*samples*/, std::uint64_t epoch) const {
    asked->insert(epoch);
    return 1000 * shift + epoch;
  }
};

}  // namespace

TEST_CASE(
    "digest: a sampler's own one is in states within an epoch, and no other epoch is asked for",
    "[loader][host]") {
  const auto rows = make_identity_rows(100, 8);
  const order_of_asked order;
  loader first{rows, order, make_host_device(), rank_of(0, 1)};
  epoch_range third = first.epoch(3);
  auto step = third.begin();
  ++step;
  loader_state within = first.state();
  CHECK(within.order == 3);
  CHECK(*order.asked == std::set<std::uint64_t>{3});

  loader second{rows, order_of_asked{}, make_host_device(), rank_of(0, 1)};
  second.seek(within);
  CHECK((*second.epoch(3).begin()).index() == within.batch);
  loader other{rows, order_of_asked{.shift = 1}, make_host_device(), rank_of(0, 1)};
  CHECK(message_of<usage_error>([&] { other.seek(within); }).find("fingerprints of the order") !=
        std::string::npos);
  within.batch = 0;
  other.seek(within);  // nothing of the epoch was taken, so any order may follow
  CHECK(first.order_digest() != other.order_digest());
}
