/// Downloads of epochs where there is a cache, by the server's count.

#include <feedline/dataset/subset.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shard.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "sampler/chunk_order.hpp"
#include "unit/remote/cache/cached_rows.hpp"

#include <cstdint>
#include <span>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Rows that are larger than a gap that is fetched with what is around it.
constexpr cached_rows large{.rows = 512, .row_bytes = 147456, .block_bytes = 1048576};

bool is_near(double part, double expected, double within = 0.01) {
  return part >= expected - within && part <= expected + within;
}

}  // namespace

TEST_CASE("remote cache: with room for half of the data each epoch of a shuffle fetches half",
          "[remote][host]") {
  const temporary_directory folder;
  const bool in_memory = GENERATE(false, true);
  const mounted_remote mounted{in_memory ? large.with_memory(large.blocks() / 2)
                                         : large.with_folder(folder, large.blocks() / 2)};
  http_server server;
  large.put(server, "/a.npy");
  loader loader{open(server.address("/a.npy")),
                shuffle{},
                make_host_device(),
                {.batch_size = 4, .readers = 2}};
  const auto parts = large.parts_of_epochs(loader, server, 5);
  CAPTURE(parts, to_string(remote_counts()));
  CHECK(is_near(parts[0], 1));
  for (std::size_t epoch = 1; epoch < parts.size(); ++epoch) CHECK(is_near(parts[epoch], 0.5));
}

TEST_CASE("remote cache: with room for half of the data each epoch of windows fetches half",
          "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{large.with_folder(folder, large.blocks() / 2)};
  http_server server;
  large.put(server, "/a.npy");
  loader loader{open(server.address("/a.npy")),
                detail::chunk_order{7, 8, 16},
                make_host_device(),
                {.batch_size = 4, .readers = 2}};
  const auto parts = large.parts_of_epochs(loader, server, 5);
  CAPTURE(parts, to_string(remote_counts()));
  CHECK(is_near(parts[0], 1));
  for (std::size_t epoch = 1; epoch < parts.size(); ++epoch) CHECK(is_near(parts[epoch], 0.5));
}

/// Four quarters of the data in turn, each for two epochs: an order that changes what is needed.
struct quarters {
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const { return samples / 4; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {epoch / 2 % 4 * (samples / 4) + first.value + i};
  }
};

TEST_CASE("remote cache: blocks that are needed last go for those that are needed sooner",
          "[remote][host]") {
  const temporary_directory folder;
  const bool in_memory = GENERATE(false, true);
  const std::uint64_t kept = large.blocks() / 4 + 2;
  const mounted_remote mounted{in_memory ? large.with_memory(kept)
                                         : large.with_folder(folder, kept)};
  http_server server;
  large.put(server, "/a.npy");
  loader loader{open(server.address("/a.npy")),
                quarters{},
                make_host_device(),
                {.batch_size = 4, .readers = 2}};
  const auto parts = large.parts_of_epochs(loader, server, 8);
  CAPTURE(parts, to_string(remote_counts()));
  for (std::size_t epoch = 0; epoch < parts.size(); ++epoch)
    CHECK(is_near(parts[epoch], epoch % 2 == 0 ? 0.25 : 0, 0.03));
}

TEST_CASE("remote cache: a sequence of twice its size fetches half of each epoch",
          "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{large.with_folder(folder, large.blocks() / 2)};
  http_server server;
  large.put(server, "/a.npy");
  loader loader{open(server.address("/a.npy")),
                sequential{},
                make_host_device(),
                {.batch_size = 4, .readers = 2}};
  const auto parts = large.parts_of_epochs(loader, server, 3);
  CAPTURE(parts, to_string(remote_counts()));
  CHECK(is_near(parts[0], 1));
  CHECK(is_near(parts[1], 0.5));
  CHECK(is_near(parts[2], 0.5));
}

TEST_CASE("remote cache: data that fits is fetched in the first epoch alone", "[remote][host]") {
  const cached_rows rows;
  const temporary_directory folder;
  http_server server;
  rows.put(server, "/a.npy");
  for (const bool is_first : {true, false}) {
    const mounted_remote mounted{rows.with_folder(folder, rows.blocks() + 2)};
    loader loader{open(server.address("/a.npy")),
                  shuffle{},
                  make_host_device(),
                  {.batch_size = 8, .readers = 2}};
    const auto parts = rows.parts_of_epochs(loader, server, 3);
    CAPTURE(is_first, parts, to_string(remote_counts()));
    CHECK(is_near(parts[0], is_first ? 1 : 0, 0.02));
    CHECK(parts[1] == 0);
    CHECK(parts[2] == 0);
  }
}

TEST_CASE("remote cache: what no later epoch needs is not kept", "[remote][host]") {
  const cached_rows rows;
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, rows.blocks() + 2)};
  http_server server;
  rows.put(server, "/a.npy");
  loader loader{open(server.address("/a.npy")),
                shuffle{},
                make_host_device(),
                {.batch_size = 8, .epochs = 1, .readers = 2}};
  detail::object_cache::settle_all();
  const auto before = remote_counts().cache.stored;
  CHECK(rows.read_epoch(loader, 0, rows.content()));
  CHECK(remote_counts().cache.stored <= before + 1);  // the block of the header
}

TEST_CASE("remote cache: blocks with few needed rows are not fetched whole", "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{large.with_folder(folder, large.blocks() + 2)};
  http_server server;
  large.put(server, "/a.npy");
  std::vector<sample_index> few;
  for (std::uint64_t row = 0; row < large.rows; row += 8) few.push_back({row});
  loader loader{subset(open(server.address("/a.npy")), few),
                shuffle{},
                make_host_device(),
                {.batch_size = 4, .readers = 2}};
  detail::object_cache::settle_all();
  const std::uint64_t before = server.body_bytes();
  for (batch& each : loader.epoch(0)) (void)each;
  CHECK(server.body_bytes() - before < large.bytes() / 4);
}
