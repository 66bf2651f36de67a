#include "io/read_forecast.hpp"
#include "remote/cache/block_key.hpp"
#include "remote/cache/keep_order.hpp"
#include "remote/cache/use_times.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/files/memory_file.hpp"

#include <memory>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::block_id;
using detail::identify;
using detail::keep_order;
using detail::use_table;
using detail::use_times;

namespace {

/// Positions that need blocks of one object.
class scripted_forecast final : public detail::read_forecast {
 public:
  scripted_forecast(std::uint64_t positions, std::uint64_t epochs)
      : read_forecast{positions, epochs, false} {}

 private:
  bool do_record(std::uint64_t, std::uint64_t, std::size_t,
                 detail::range_recorder&) noexcept override {
    return true;
  }
};

class scripted_file final : public detail::byte_file, public detail::cached_file {
 public:
  scripted_file() : byte_file{"x", 1000, {}}, identity_{identify("http://h/x", "v", 1000, 100)} {}
  const detail::object_identity* identity() const noexcept override { return &identity_; }
  detail::object_identity identity_in_any_cache() const override { return identity_; }
  const std::shared_ptr<const detail::cache_setting>& cache() const noexcept override {
    return cache_;
  }
  void require_unchanged() const override {}
  std::string version() const override { return "v"; }
  bool is_cold() const noexcept override { return true; }

 private:
  void do_read(std::span<const detail::byte_read>) const override {}
  detail::object_identity identity_;
  std::shared_ptr<const detail::cache_setting> cache_;
};

std::shared_ptr<const use_table> table_of(const scripted_file& file, std::uint64_t epoch,
                                          const std::vector<std::uint64_t>& blocks) {
  auto table = std::make_shared<use_table>(epoch);
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    table->at(at);
    const detail::range_recorder::scope recorded{*table};
    file.will_need(blocks[at] * 100, 100);
  }
  return table;
}

}  // namespace

TEST_CASE("remote cache: the time of a block's next use comes from the order", "[remote]") {
  const scripted_file file;
  const auto forecast = std::make_shared<scripted_forecast>(4, 2);
  use_times times;
  times.add(forecast);
  REQUIRE(times.find_missing());
  CHECK(times.find_missing()->epoch == 0);
  times.add(forecast, table_of(file, 0, {1, 2, 1, 3}));
  times.add(forecast, table_of(file, 1, {3, 3, 2, 2}));
  CHECK(!times.find_missing());  // there are two epochs
  const auto block = [&](std::uint64_t number) {
    return times.ask({file.identity()->hash, number});
  };
  CHECK(block(1).next == 0);
  CHECK(block(2).next == 0.25);
  CHECK(block(2).reuse == 1.5);
  CHECK(block(1).reuse == use_times::never);
  CHECK(block(3).reuse == 1);
  CHECK(!block(7).is_known);
  forecast->reached(0, 1);
  CHECK(times.tick() == 0.25);
  CHECK(block(1).is_in_use);
  CHECK(block(2).reuse_end == 1.75);
  CHECK(!block(2).is_in_use);
  forecast->reached(0, 3);
  (void)times.tick();
  CHECK(!block(1).is_needed);
  CHECK(block(2).next == 0.75);
  CHECK(!block(2).is_in_use);
  forecast->reached(1, 0);
  CHECK(times.tick() == 1);
  CHECK(block(3).next == 0);
  CHECK(!block(1).is_known);
  CHECK(block(2).reuse == use_times::never);
  forecast->end();
  CHECK(times.drop_ended());
  CHECK(!block(3).is_known);
}

TEST_CASE("remote cache: the block that is needed last goes first", "[remote]") {
  keep_order order;
  const auto add = [&](std::uint64_t number, std::optional<double> at) {
    order.set(block_id{1, number}.key(), {.bytes = 1, .id = {1, number}, .needed_at = at});
  };
  add(1, 1.0);
  add(2, 3.0);
  add(3, 2.0);
  add(4, {});
  const auto none = [](const block_id&) { return false; };
  CHECK(order.needed_after(0, none) == block_id{1, 2}.key());
  CHECK(!order.needed_after(3, none));
  CHECK(order.needed_after(0, [](const block_id& block) { return block.number == 2; }) ==
        block_id{1, 3}.key());
  order.advance(2.5,
                [](const block_id& block) { return 10.0 - static_cast<double>(block.number); });
  CHECK(order.needed_after(0, none) == block_id{1, 1}.key());
  order.remove(block_id{1, 1}.key());
  CHECK(order.needed_after(0, none) == block_id{1, 3}.key());
  CHECK(order.size() == 3);
}

TEST_CASE("remote cache: secrets of an address are not in its identity, and what names it is",
          "[remote]") {
  const auto of = [](std::string_view url) { return identify(url, "v", 10, 4); };
  const auto plain = of("https://host/a/b");
  CHECK(of("https://me:secret@host/a/b").hash == plain.hash);
  CHECK(of("https://me:secret@host/a/b").text == plain.text);
  CHECK(of("https://host/a/b?X-Amz-Signature=1&X-Amz-Date=2").hash == plain.hash);
  CHECK(of("https://host/a/b?sig=1&se=2").hash == plain.hash);
  CHECK(of("https://host/a/b?file=1").hash != plain.hash);
  CHECK(of("https://host/a/b?file=1&Signature=3").hash == of("https://host/a/b?file=1").hash);
  CHECK(of("https://host/a/b?file=1").hash != of("https://host/a/b?file=2").hash);
  CHECK(!contains(of("https://host/a/b?token=hidden").text, "hidden"));
  CHECK(of("https://host/a/c").hash != plain.hash);
  CHECK(of("https://host/a@b/c").hash != of("https://b/c").hash);
  CHECK(identify("https://host/a/b", "w", 10, 4).hash != plain.hash);
  CHECK(identify("https://host/a/b", "v", 10, 8).hash != plain.hash);
  CHECK(plain.blocks() == 3);
  CHECK(detail::block_ref{&plain, 2}.bytes() == 2);
}
