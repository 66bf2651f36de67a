// Tests how a conversion handles samples that cannot be read.

#include <feedline/error.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "programs/convert/conversion.hpp"
#include "programs/convert/order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr auto ignore = [](convert::step, std::uint64_t, std::uint64_t) {};
constexpr std::uint64_t many = 20'000;
constexpr std::size_t row_bytes = 1015;  // with the other fields 1 KiB, so that batches are many

convert::job job_to(const std::filesystem::path& output) {
  convert::job job{.output = output, .to = convert::format::records};
  job.checkpoint_bytes = 1;
  job.skip_damaged = true;
  return job;
}

dataset_ptr open_output(const convert::job& job) {
  return open_records({job.output}, {{"id", element_type::u64, {}},
                                     {"row", element_type::u8, {row_bytes}},
                                     {"note", element_type::u8, {}}});
}

/// An order's samples except for those that are bad.
std::vector<sample_index> without(const std::vector<sample_index>& order, const sample_set& bad) {
  std::vector<sample_index> left;
  std::ranges::copy_if(order, std::back_inserter(left),
                       [&](sample_index each) { return bad.count(each.value) == 0; });
  return left;
}

std::vector<sample_index> order_of(const sampler& order, std::uint64_t samples) {
  std::vector<sample_index> all(order.size(samples));
  order.indices(samples, 0, position{0}, all);
  return all;
}

convert::failures failures_of(const sample_set& bad) {
  convert::failures all;
  for (const std::uint64_t each : bad) {
    all.emplace_back();
    all.back().sample = {each};
  }
  return all;
}

}  // namespace

TEST_CASE("convert: skipping damage, the output lacks only the damaged samples",
          "[samples][host]") {
  const temporary_directory folder;
  const sample_set bad =
      GENERATE(sample_set{}, sample_set{0, 1, 9'000, 9'001, many - 1}, sample_set{8'191, 8'192});
  auto job = job_to(folder.path() / "out");
  sampler order = sequential{};
  const auto damaged = make_chunked(make_bad_rows(many, bad, row_bytes),
                                    {.samples = 100, .bytes = 100 << 10, .kept = 8});
  SECTION("in order") {}
  SECTION("shuffled") {
    job.shuffle = 9;
    order = shuffle{.seed = 9};
  }
  SECTION("shuffled within chunks") {
    job.shuffle = 9;
    job.within_chunks = 4;
    order = sampler{shuffle{.seed = 9, .within = chunks(4)}}.bind(*damaged, 8192);
  }
  std::uint64_t searched = 0;
  const auto done =
      convert::run(damaged, job, [&](convert::step now, std::uint64_t count, std::uint64_t) {
        if (now == convert::step::searching) searched = count;
      });
  CHECK(searched == many - bad.size());
  CHECK(done.samples == many - bad.size());
  REQUIRE(done.left_out.size() == bad.size());
  CHECK(std::ranges::equal(done.left_out, bad, {},
                           [](const auto& each) { return each.sample.value; }));
  const auto expected = without(order_of(order, many), bad);
  CHECK(read_samples(*open_output(job), order_of(sequential{}, done.samples)) ==
        read_samples(*make_identity_rows(many, row_bytes), expected));
}

TEST_CASE("convert: an order without some samples has the others at any position that is asked for",
          "[samples][host]") {
  std::mt19937 random{4};
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t samples = 1 + random() % 300;
    sample_set bad;
    for (std::uint64_t each = 0; each < samples; ++each)
      if (random() % 100 < static_cast<std::uint64_t>(i) / 2) bad.insert(each);
    const sampler whole = i % 2 == 0 ? sampler{sequential{}} : sampler{shuffle{.seed = 7}};
    const convert::order_without some{whole, samples, failures_of(bad)};
    const auto expected = without(order_of(whole, samples), bad);
    REQUIRE(some.size(samples) == expected.size());
    for (std::uint64_t first = 0; first <= expected.size(); first += 1 + random() % 9) {
      std::vector<sample_index> part(random() % (expected.size() - first + 1));
      some.indices(samples, 0, position{first}, part);
      REQUIRE(std::equal(part.begin(), part.end(),
                         expected.begin() + static_cast<std::ptrdiff_t>(first)));
    }
  }
}

TEST_CASE("convert: skipping damage, an unfinished output is continued, unless the damage changed",
          "[samples][host]") {
  const temporary_directory folder;
  const auto job = job_to(folder.path() / "out");
  const auto cut = [&](const sample_set& bad) {
    convert::step last{};
    CHECK_THROWS_AS(convert::run(make_bad_rows(many, bad, row_bytes), job,
                                 [&](convert::step now, std::uint64_t done, std::uint64_t) {
                                   last = now;
                                   if (now == convert::step::writing && done > many / 2)
                                     throw std::runtime_error{"a power failure"};
                                 }),
                    std::runtime_error);
    CHECK(last == convert::step::writing);
  };
  cut({5, 17'000});
  CHECK(message_of<usage_error>([&] {
          (void)convert::run(make_bad_rows(many, {5, 17'001}, row_bytes), job, ignore);
        }).find("without 2 damaged ones, which have checksum 0x") != std::string::npos);
  const auto done = convert::run(make_bad_rows(many, {5, 17'000}, row_bytes), job, ignore);
  CHECK(done.resumed_from > many / 2);
  CHECK(read_samples(*open_output(job), order_of(sequential{}, done.samples)) ==
        read_samples(*make_identity_rows(many, row_bytes),
                     without(order_of(sequential{}, many), {5, 17'000})));
}

TEST_CASE("convert: an input of which nothing can be read is an error, with the first cause",
          "[samples][host]") {
  const temporary_directory folder;
  CHECK(message_of<dataset_error>([&] {
          (void)convert::run(make_bad_rows(2, {0, 1}, row_bytes), job_to(folder.path() / "out"),
                             ignore);
        }) ==
        "disk/part-3.bin: none of the 2 samples can be read; the first: disk/part-3.bin: field "
        "'row', sample 0: bad checksum");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("convert: unless damage is to be skipped, the first sample of it ends the conversion",
          "[samples][host]") {
  const temporary_directory folder;
  auto job = job_to(folder.path() / "out");
  job.skip_damaged = false;
  CHECK_THROWS_AS(convert::run(make_bad_rows(100, {50}, row_bytes), job, ignore), stage_error);
}
