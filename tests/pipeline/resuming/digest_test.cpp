/// `loader::order_digest`: one number for all ranks of a run, and another one for every other run.

#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
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
