#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/loader/loader_state.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

loader_state some_state() {
  return {.epoch = 3,
          .batch = 1200,
          .samples = 1'281'167,
          .fields = {"image: uint8[224, 224, 3]", "a \"label\": int64[]"},
          .positions = 1'281'167,
          .order = 0x00c0ffee00c0ffee,
          .global_batch = 1024,
          .partial_batch = partial_batch::drop,
          .transform_seed = UINT64_MAX,
          .transforms = {"image: float32, flip 0.5"},
          .unreadable = 5,
          .skipped = 4};
}

/// A text of some state, with a part of it replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string text = to_json(some_state());
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  return message_of<usage_error>([&] { (void)loader_state::from_json(text); });
}

std::string refusal_for(const std::string& why) {
  return "loader_state::from_json: the text is no whole state of a loader: " + why +
         "; give it what to_json wrote";
}

}  // namespace

TEST_CASE("loader state: its text is one line of JSON, and reads back as the state",
          "[loader][host]") {
  const loader_state state = some_state();
  CHECK(to_json(state) ==
        R"({"feedline_loader_state": 2, "epoch": 3, "batch": 1200, "samples": 1281167, )"
        R"("fields": ["image: uint8[224, 224, 3]", "a \"label\": int64[]"], )"
        R"("positions": 1281167, "order": "00c0ffee00c0ffee", "global_batch": 1024, )"
        R"("partial_batch": "drop", "transform_seed": "ffffffffffffffff", )"
        R"("transforms": ["image: float32, flip 0.5"], "unreadable": 5, "skipped": 4})");
  CHECK(loader_state::from_json(to_json(state)) == state);
  CHECK(loader_state::from_json(to_json(loader_state{})) == loader_state{});
  for (const auto policy :
       {partial_batch::keep, partial_batch::drop, partial_batch::error, partial_batch::fill}) {
    loader_state other = state;
    other.partial_batch = policy;
    CHECK(loader_state::from_json(to_json(other)) == other);
  }
}

TEST_CASE("loader state: members may stand in any order, as other programs write them",
          "[loader][host]") {
  const loader_state read = loader_state::from_json(R"({
    "transforms": [],
    "batch": 2, "epoch": 1,
    "order": "000000000000000a", "positions": 8,
    "feedline_loader_state": 1,
    "fields": ["gr\u00f6\u00dfe: uint8[]"],
    "partial_batch": "keep", "global_batch": 4, "samples": 8, "transform_seed": "0000000000000000"
  })");
  CHECK(read.epoch == 1);
  CHECK(read.batch == 2);
  CHECK(read.order == 10);
  CHECK(read.fields == std::vector<std::string>{"größe: uint8[]"});
}

// The text is never changed: jobs that run now will be resumed by later versions.
TEST_CASE("loader state: a state of format 1 is read, and its run continues", "[loader][host]") {
  constexpr std::string_view text =
      R"({"feedline_loader_state": 1, "epoch": 2, "batch": 7, "samples": 100, )"
      R"("fields": ["id: uint64[]", "row: uint8[8]"], "positions": 100, "order": )"
      R"("f1e3da4e422b7e9c", "global_batch": 8, "partial_batch": "keep", )"
      R"("transform_seed": "0000000000000005", "transforms": ["row: float32, scale 0.5"]})";
  const loader_state state = loader_state::from_json(text);
  CHECK(state.unreadable == 0);
  CHECK(state.skipped == 0);
  loader_options options{.batch_size = 8, .readers = no_readers, .seed = 5};
  options.transforms = {{.field = "row", .scale = 0.5}};
  loader loader{make_identity_dataset(100, 8), shuffle{.seed = 42}, make_host_device(), options};
  loader.seek(state);
  auto range = loader.epoch(state.epoch);
  const auto batch = range.next().value();
  CHECK(batch.index() == 7);
  const auto ids = batch["id"].values<std::uint64_t>();
  CHECK(std::vector<std::uint64_t>(ids.begin(), ids.end()) ==
        std::vector<std::uint64_t>{69, 87, 10, 36, 12, 92, 94, 75});
}

// Nor is this one.
TEST_CASE("loader state: a state of format 2 is read, with the samples left out before it",
          "[loader][host]") {
  constexpr std::string_view text =
      R"({"feedline_loader_state": 2, "epoch": 2, "batch": 7, "samples": 100, )"
      R"("fields": ["id: uint64[]", "row: uint8[8]"], "positions": 100, "order": )"
      R"("f1e3da4e422b7e9c", "global_batch": 8, "partial_batch": "keep", )"
      R"("transform_seed": "0000000000000000", "transforms": [], "unreadable": 42, "skipped": 42})";
  const loader_state state = loader_state::from_json(text);
  CHECK(to_json(state) == text);
  loader loader{make_identity_dataset(100, 8),
                shuffle{.seed = 42},
                make_host_device(),
                {.batch_size = 8, .errors = {.action = error_action::skip}}};
  loader.seek(state);
  auto range = loader.epoch(state.epoch);
  const auto batch = range.next().value();
  CHECK(batch.index() == 7);
  const auto ids = batch["id"].values<std::uint64_t>();
  CHECK(std::vector<std::uint64_t>(ids.begin(), ids.end()) == std::vector<std::uint64_t>{69, 87});
  CHECK_FALSE(range.next());  // 100 less 42 are 58
}

TEST_CASE("loader state: a newer format is refused, whatever else is in it", "[loader][host]") {
  const std::string expected =
      "loader_state::from_json: the state has format 3, and this version of feedline reads formats "
      "up to 2: resume with the version that wrote it, or a newer one";
  CHECK(refusal(changed("state\": 2", "state\": 3")) == expected);
  CHECK(refusal(R"({"feedline_loader_state": 3, "failed": {"3": 1.5}})") == expected);
}

TEST_CASE("loader state: text that is no state, or a partial one, is refused", "[loader][host]") {
  const std::string whole = to_json(some_state());
  const std::string cut =
      "loader_state::from_json: the text is no whole state of a loader: it ends after ";
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK(refusal(whole.substr(0, length)).find(cut) == 0);
  CHECK(refusal("\x89PNG") == refusal_for("at byte 0 there should be '{'"));
  CHECK(refusal("{}") == refusal_for("it has no 'feedline_loader_state'"));
  CHECK(refusal(R"({"epoch": 3})") == refusal_for("it has no 'feedline_loader_state'"));
  CHECK(refusal(changed("state\": 2", "state\": 0")) ==
        refusal_for("its format is no number from 1"));
  CHECK(refusal(changed("\"batch\": 1200, ", "")) == refusal_for("it has no 'batch'"));
  CHECK(refusal(changed(", \"skipped\": 4", "")) == refusal_for("it has no 'skipped'"));
  CHECK(refusal(changed("\"batch\"", "\"epoch\"")) == refusal_for("it has 'epoch' twice"));
  CHECK(refusal(changed("\"batch\"", "\"bunch\"")) == refusal_for("it has a member 'bunch'"));
  CHECK(refusal(changed("1200", "\"1200\"")) == refusal_for("its 'batch' is not a number"));
  CHECK(refusal(changed("\"drop\"", "\"dropped\"")) ==
        refusal_for("its 'partial_batch' is not keep, drop, error or fill"));
  CHECK(refusal(changed("\"drop\"", "1")) ==
        refusal_for("its 'partial_batch' is not keep, drop, error or fill"));
  CHECK(refusal(changed("00c0ffee00c0ffee", "00C0FFEE00C0FFEE")) ==
        refusal_for("its 'order' is not a string of 16 hexadecimal digits"));
  CHECK(refusal(changed("\"00c0ffee00c0ffee\"", "12")) ==
        refusal_for("its 'order' is not a string of 16 hexadecimal digits"));
  CHECK(refusal(changed("[\"image: float32, flip 0.5\"]", "0")) ==
        refusal_for("its 'transforms' is not an array of strings"));
}
