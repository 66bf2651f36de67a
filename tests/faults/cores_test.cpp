/// Few cores: one for 64 readers, and a control group's quota that pays for half of one.

#include <feedline/sampler/shuffle.hpp>

#include "detail/threads.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/control_group.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <stdexcept>
#include <vector>

#include <sched.h>

using namespace feedline;
using namespace feedline::test;

namespace {

/// While it lives, this thread, and all that it starts, may run on one core alone.
class one_core {
 public:
  one_core() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(first, &only);
    if (::sched_setaffinity(0, sizeof only, &only) != 0)
      throw std::runtime_error{"this thread cannot be kept to one core"};
  }
  one_core(const one_core&) = delete;
  one_core& operator=(const one_core&) = delete;
  ~one_core() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

std::vector<seen_batch> deliver(data_path through, int readers) {
  const path_setup by{through};
  loader loader = by.load(make_identity_rows(512, 16), shuffle{.seed = 4},
                          {.batch_size = 8, .readers = readers, .expert = {.batches_per_slot = 1}});
  return consume_epochs(loader, by, 2);
}

}  // namespace

TEST_CASE("faults: 64 readers on one core deliver the same as no readers", "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  const auto expected = deliver(through, 0);
  const one_core only;
  REQUIRE(detail::usable_cores() == 1);
  CHECK(deliver(through, 64) == expected);
}

TEST_CASE("faults: a control group that pays for half a core changes no batch", "[loader][host]") {
  const auto half = control_group::with_cpu_quota(50'000);
  if (!half) FEEDLINE_SKIP("no control group with a CPU quota can be made here");
  CHECK(detail::usable_cores() == 1);
  for (const data_path through : {data_path::in_place, data_path::stream, data_path::cached_half}) {
    CAPTURE(to_string(through));
    const auto expected = deliver(through, 0);
    CHECK(deliver(through, 8) == expected);
    CHECK(deliver(through, automatic_readers) == expected);
  }
}
