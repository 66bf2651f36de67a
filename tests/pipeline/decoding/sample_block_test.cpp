/// Blocks of one sample each, as images are: they come in any order.

#include <feedline/sampler/class_balanced.hpp>
#include <feedline/sampler/explicit_order.hpp>
#include <feedline/sampler/take.hpp>
#include <feedline/sampler/weighted.hpp>

#include "pipeline/decoding/loading.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/sanitized.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// More often the larger their number is.
sampler drawn() {
  std::vector<double> weights(sample_count);
  for (std::uint64_t i = 0; i < sample_count; ++i) weights[i] = static_cast<double>(i);
  return weighted{weights, {.seed = 3, .epoch_size = 400}};
}

sampler listed() {
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < 230; ++i) order.push_back(i * i % sample_count);
  return explicit_order{order};
}

/// In order, except for one position: there it throws, or gives an invalid sample.
struct faulty_order {
  std::uint64_t bad;
  bool throws;

  static std::uint64_t size(std::uint64_t samples) { return samples; }
  void indices(std::uint64_t, std::uint64_t, position first, std::span<sample_index> out) const {
    for (std::uint64_t at = first.value; sample_index & each : out) {
      if (at == bad && throws) throw std::runtime_error{"no sample comes to mind"};
      each = sample_index{at == bad ? 9999 : at};
      ++at;
    }
  }
};

}  // namespace

TEST_CASE("blocks of a sample: the same batches as readers make, in any order", "[loader][host]") {
  const sampler order = GENERATE_COPY(as<sampler>{}, sequential{}, shuffle{.seed = 5}, drawn(),
                                      listed(), feedline::take{shuffle{.seed = 1}, 100});
  const std::uint64_t batch_size = GENERATE(1U, 32U, 150U);
  const int readers = GENERATE(0, 4);
  const std::uint64_t batches_per_slot = GENERATE(0U, 3U);
  const loader_options options{.batch_size = batch_size,
                               .readers = readers,
                               .expert = {.batches_per_slot = batches_per_slot}};
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(batch_size, readers, batches_per_slot);
  const run_result expected = deliver(decode_on::cpu, 1, order, options);
  const run_result seen = deliver(decode_on::device, 1, order, options);
  CHECK(seen.error == std::nullopt);
  CHECK(seen.batches == expected.batches);
  CHECK(seen.batches.size() > 1);
}

TEST_CASE("blocks of a sample: each position of the order brings one", "[loader][host]") {
  const auto script = std::make_shared<encoded_script>();
  (void)deliver(decode_on::device, 1, drawn(), {.batch_size = 16, .readers = 2}, script, 3);
  CHECK(script->block_reads == 3 * 3 * 400);  // three fields, in three epochs
  CHECK(script->sample_reads == 0);
}

TEST_CASE("blocks of a sample: a bad one ends the epoch wherever the order comes to it first",
          "[loader][host]") {
  const bool lost = GENERATE(true, false);
  const std::uint64_t sample = GENERATE(0U, 14U, 205U, 330U);
  const auto script = std::make_shared<encoded_script>();
  (lost ? script->unreadable : script->damaged).insert(sample);
  for (const sampler& order : {sampler{shuffle{.seed = 8}}, drawn(), listed()}) {
    const loader_options options{.batch_size = 10, .readers = 2};
    const run_result expected = deliver(decode_on::cpu, 1, order, options, script, 1);
    const run_result seen = deliver(decode_on::device, 1, order, options, script, 1);
    CHECK(seen.error == expected.error);
    CHECK(seen.batches == expected.batches);
  }
}

TEST_CASE("blocks of a sample: a sampler's fault is reported after the batches before it",
          "[loader][host]") {
  const bool throws = GENERATE(true, false);
  const std::uint64_t bad = GENERATE(0U, 1U, 95U, 330U);
  const int readers = GENERATE(0, 3);
  const loader_options options{
      .batch_size = 10, .readers = readers, .expert = {.batches_per_slot = 2}};
  const sampler order = faulty_order{bad, throws};
  const run_result expected = deliver(decode_on::cpu, 1, order, options);
  const auto script = std::make_shared<encoded_script>();
  const run_result seen = deliver(decode_on::device, 1, order, options, script);
  CAPTURE(throws, bad, readers);
  REQUIRE(expected.error);
  CHECK(contains(*expected.error, throws ? "comes to mind" : "gives sample 9999"));
  CHECK(seen.error == expected.error);
  CHECK(seen.batches == expected.batches);
  CHECK(seen.batches.size() == bad / 10);
  if (bad == 330) CHECK(script->block_reads == 3 * 330);  // three fields, and no invalid sample
}

TEST_CASE("blocks of a sample: an epoch that is left, and a run that resumes", "[loader][host]") {
  const scripted on;
  const sampler order = GENERATE_COPY(as<sampler>{}, shuffle{.seed = 2}, drawn());
  const auto make = [&] {
    return loader{
        make_encoded(make_identity_rows(sample_count, row_bytes), 1),
        order,
        on.device,
        {.batch_size = 7, .placement = placement::stream, .decode_on = decode_on::device}};
  };
  loader whole = make();
  REQUIRE(whole.plan().decode_on == decode_on::device);
  const run_result all = consume(whole, on, 2);
  loader left = make();
  for (const std::uint64_t stop_at : {1U, 13U, 40U}) {
    CAPTURE(stop_at);
    recorder record{on};
    for (batch& batch : left.epoch(0, on.stream)) {
      record(batch);
      if (batch.index() + 1 == stop_at) break;
    }
    loader other = make();
    other.seek(left.state());
    std::vector<seen_batch> seen = record.seen();
    const run_result rest = consume(other, on, 2);
    CHECK(rest.error == std::nullopt);
    seen.insert(seen.end(), rest.batches.begin(), rest.batches.end());
    CHECK(seen == all.batches);
  }
  CHECK(consume(left, on, 2).batches == all.batches);
}
