/// Resuming where samples cannot be read: what follows a seek is what the undisturbed run delivers,
/// with bad samples on both sides of the cut.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 41;
constexpr std::uint64_t epochs = 2;
const sample_set bad{0, 1, 7, 13, 14, 15, 22, 36, 39, 40};

error_policy with(error_action action) {
  return {.action = action, .substitute = 5, .max_share = 1};
}

loader_options options_of(std::uint64_t number, partial_batch last, const error_policy& errors) {
  loader_options options{.batch_size = 4,
                         .partial_batch = last,
                         .epochs = number % 2 == 0 ? 0 : epochs,
                         .readers = static_cast<int>(number % 3),
                         .errors = errors,
                         .expert = {.batches_per_slot = number % 4}};
  if (number % 5 == 0) options.expert.piece_bytes = 50;
  return options;
}

}  // namespace

TEST_CASE("resume: cut at any batch, an epoch with bad samples continues as if undisturbed",
          "[loader][host]") {
  const log_capture unheard;
  const data_path before = GENERATE(from_range(first_reading_data_paths()));
  const auto action = GENERATE(error_action::skip, error_action::substitute);
  const auto last = GENERATE(partial_batch::keep, partial_batch::drop, partial_batch::fill);
  const sampler order = GENERATE(0, 1) == 0 ? sampler{sequential{}} : shuffle{.seed = 8};
  const auto data = make_bad_rows(sample_count, bad);
  const path_setup whole{before};
  loader undisturbed = whole.load(data, order, options_of(0, last, with(action)));
  const batch_log expected = take_epochs(undisturbed, whole, 0, epochs);
  static combinations cases;
  for (std::uint64_t cut = 0; cut <= expected.batches.size(); ++cut) {
    if (!cases.takes_next()) continue;
    CAPTURE(to_string(before), static_cast<int>(action), static_cast<int>(last), cut);
    const path_setup first{before};
    loader cut_short = first.load(data, order, options_of(cut, last, with(action)));
    batch_log got = take_epochs(cut_short, first, 0, epochs, cut);
    auto state = loader_state::from_json(to_json(cut_short.state()));
    const path_setup second{first_reading_data_paths()[cut % first_reading_data_paths().size()]};
    loader resumed = second.load(data, order, options_of(cut + 1, last, with(action)));
    state.transforms = resumed.state().transforms;  // one of the ways converts a field
    resumed.seek(state);
    CHECK(resumed.state() == state);
    const batch_log rest = take_epochs(resumed, second, state.epoch, epochs);
    got.batches.insert(got.batches.end(), rest.batches.begin(), rest.batches.end());
    got.repeats.insert(got.repeats.end(), rest.repeats.begin(), rest.repeats.end());
    CHECK(got == expected);
    CHECK(cut_short.failures().count + resumed.failures().count == undisturbed.failures().count);
  }
}

TEST_CASE("resume: failures before the cut count for the share that may fail", "[loader][host]") {
  const log_capture unheard;
  const auto action = GENERATE(error_action::skip, error_action::substitute);
  auto errors = with(action);
  errors.max_share = 0.05;  // 2 of 40
  const loader_options options{.batch_size = 4, .errors = errors};
  const auto data = make_bad_rows(40, {1, 6, 9});
  const path_setup by{data_path::stream};
  loader first = by.load(data, sequential{}, options);
  (void)take_epochs(first, by, 0, 1, 2);
  loader second = by.load(data, sequential{}, options);
  second.seek(first.state());
  auto range = second.epoch(0, by.stream);
  CHECK(message_of<stage_error>([&] { (void)range.next(); }).find("3 of the epoch's 40") !=
        std::string::npos);
}

TEST_CASE("resume: a run that failed at a bad sample continues with a policy that skips it",
          "[loader][host]") {
  const log_capture unheard;
  const auto data = make_bad_rows(20, {9});
  const path_setup by{data_path::in_place};
  loader failing = by.load(data, sequential{}, {.batch_size = 4});
  CHECK_THROWS_AS(take_epochs(failing, by, 0, 1), stage_error);
  loader going_on =
      by.load(data, sequential{}, {.batch_size = 4, .errors = with(error_action::skip)});
  going_on.seek(failing.state());
  CHECK(take_epochs(going_on, by, 0, 1).batches ==
        std::vector<std::vector<std::uint64_t>>{{8, 19, 10, 11}, {12, 13, 14, 15}, {16, 17, 18}});
}

TEST_CASE("resume: a state whose epoch lacks samples is refused where none may be left out",
          "[loader][host]") {
  const log_capture unheard;
  const auto data = make_bad_rows(20, {1});
  const path_setup by{data_path::stream};
  loader skipping =
      by.load(data, sequential{}, {.batch_size = 4, .errors = with(error_action::skip)});
  (void)take_epochs(skipping, by, 0, 1, 2);
  const loader_state state = skipping.state();
  CHECK(state.skipped == 1);
  const auto refusal = [&](const loader_options& options, const loader_state& of) {
    loader other = by.load(data, sequential{}, options);
    return message_of<usage_error>([&] { other.seek(of); });
  };
  const std::string refused =
      "loader::seek: in the state's epoch 1 samples were left out and replaced by others, and this "
      "loader allows for 0: set loader_options::errors.action to skip, in one process, or continue "
      "with the next epoch";
  CHECK(refusal({.batch_size = 4}, state) == refused);
  CHECK(refusal({.batch_size = 4, .errors = with(error_action::substitute)}, state) == refused);
  loader_state impossible = state;
  impossible.skipped = 21;
  CHECK(refusal({.batch_size = 4, .errors = with(error_action::skip)}, impossible)
            .find("this loader allows for 20") != std::string::npos);
}
