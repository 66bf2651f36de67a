#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/testing/checked.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Samples as a function of position, index in `out`, and how often the sampler was asked.
template <class Answer>
struct faulty {
  Answer answer;
  std::shared_ptr<std::uint64_t> asked = std::make_shared<std::uint64_t>(0);

  std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t /*samples*/, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    ++*asked;
    for (std::uint64_t i = 0; i < out.size(); ++i)
      out[i] = {answer(epoch, first.value + i, i, *asked)};
  }
};
template <class Answer>
faulty(Answer) -> faulty<Answer>;

/// Its epochs have another size at each question.
struct growing {
  std::shared_ptr<std::uint64_t> asked = std::make_shared<std::uint64_t>(0);
  std::uint64_t size(std::uint64_t samples) const { return samples + (*asked)++; }
  void indices(std::uint64_t /*samples*/, std::uint64_t /*epoch*/, position /*first*/,
               std::span<sample_index> /*out*/) const {}
};

/// Leaves the last element of `out` unchanged.
struct forgetful {
  std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    if (!out.empty()) sequential{}.indices(samples, epoch, first, out.first(out.size() - 1));
  }
};

dataset_ptr any_dataset(std::uint64_t samples) {
  return make_memory_dataset({own("x", std::vector<std::uint8_t>(samples))});
}

std::string refusal(auto&& call) {
  return message_of<usage_error>(call);
}

const std::string alone = "; its answer may depend on the epoch and the position alone";

}  // namespace

TEST_CASE("checked: changes no order", "[sampler][host]") {
  const sampler order = checked{shuffle{.seed = 3}};
  CHECK(epoch_of(order, 500, 2) == epoch_of(shuffle{.seed = 3}, 500, 2));
  CHECK(run_of(order, 500, 2, 77, 5) == run_of(shuffle{.seed = 3}, 500, 2, 77, 5));
  CHECK(run_of(order, 500, 2, 500, 0).empty());
  check_is_pure(order, 100);
}

TEST_CASE("checked: an answer that counts how often it was asked is found", "[sampler][host]") {
  const checked order{faulty{[](auto, auto at, auto, auto asked) { return (at + asked) % 10; }}};
  CHECK(refusal([&] { (void)run_of(order, 10, 3, 0, 8); }) ==
        "checked: the sampler is not pure: at position 4 of epoch 3 it gives sample 5 when asked "
        "for 8 from position 0, and sample 7 when asked again for 4 from position 4" +
            alone);
}

TEST_CASE("checked: an answer that depends on where the run began is found", "[sampler][host]") {
  const checked order{faulty{[](auto, auto at, auto place, auto) { return place == 0 ? 0 : at; }}};
  CHECK(refusal([&] { (void)run_of(order, 10, 0, 0, 8); }) ==
        "checked: the sampler is not pure: at position 4 of epoch 0 it gives sample 4 when asked "
        "for 8 from position 0, and sample 0 when asked again for 4 from position 4" +
            alone);
  // Only of runs of one is the answer another.
  const checked single{
      faulty{[last = std::make_shared<std::uint64_t>(0)](auto, auto at, auto place, auto) {
        const std::uint64_t answer = place == 0 && at != 0 && at != 4 ? 9 : at;
        return *last = answer;
      }}};
  CHECK(refusal([&] { (void)run_of(single, 10, 0, 0, 8); }).find("for 1 from position 7") !=
        std::string::npos);
}

TEST_CASE("checked: an answer that depends on the epoch asked before is found", "[sampler][host]") {
  const auto last = std::make_shared<std::uint64_t>(0);
  const checked order{faulty{[last](auto epoch, auto at, auto place, auto) {
    const std::uint64_t answer = at == 5 ? *last % 10 : at;
    if (place == 0) *last = epoch;
    return answer;
  }}};
  *last = 6;
  CHECK(refusal([&] { (void)run_of(order, 10, 6, 3, 4); }).find("at position 5 of epoch 6") !=
        std::string::npos);
}

TEST_CASE("checked: two sizes, an answer that is no sample, and none at all are found",
          "[sampler][host]") {
  CHECK(refusal([] { (void)checked{growing{}}.size(7); }) ==
        "checked: the sampler is not pure: over 7 samples its size is 7, and 8 when asked again");
  const std::string correct =
      ", but the dataset has samples 0 to 9; correct its indices(), which must write every element "
      "of `out`";
  const checked beyond{faulty{[](auto, auto at, auto, auto) { return at + 5; }}};
  CHECK(refusal([&] { (void)run_of(beyond, 10, 2, 3, 4); }) ==
        "checked: at position 5 of epoch 2 the sampler gives sample 10" + correct);
  CHECK(refusal([] { (void)run_of(checked{forgetful{}}, 10, 0, 0, 4); }) ==
        "checked: at position 3 of epoch 0 the sampler gives sample 18446744073709551615" +
            correct);
}

TEST_CASE("checked: binding finds a fault that only the end, or a distant epoch, has",
          "[sampler][host]") {
  const auto bound = [](const auto& order) {
    return refusal([&] { (void)checked{order}.bind(*any_dataset(10'000), 16); });
  };
  CHECK(bound(faulty{[](auto, auto at, auto, auto asked) {
          return at == 9'999 ? asked % 2 : at;
        }}).find("at position 9999 of epoch 0") != std::string::npos);
  CHECK(bound(faulty{[](auto epoch, auto at, auto, auto asked) {
          return epoch > 1000 && at == 0 ? asked % 2 : at;
        }}).find("at position 0 of epoch 1000000") != std::string::npos);
  CHECK(bound(shuffle{.seed = 1}) == "[nothing was thrown]");
}

TEST_CASE("checked: a sampler that must see the dataset sees it", "[sampler][host]") {
  const std::vector<std::uint64_t> lengths(100, 3);
  const bucket_by_length buckets{lengths, {.seed = 1}};
  const auto data = any_dataset(100);
  CHECK(epoch_of(sampler{checked{buckets}}.bind(*data, 8), 100, 1) ==
        epoch_of(buckets.bind(*data, 8), 100, 1));
}
