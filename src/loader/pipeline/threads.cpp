// The work of a pipeline's threads.

#include "detail/threads.hpp"

#include "detail/cores.hpp"
#include "io/far_reads.hpp"
#include "loader/pipeline/pipeline.hpp"

#include <cstddef>
#include <string>

namespace feedline::detail {

void pipeline::start_threads() {
  threads_.reserve(static_cast<std::size_t>(plan_.readers) + 1);
  for (int i = 0; i < plan_.readers; ++i) {
    threads_.start(
        "reader thread " + std::to_string(i + 1) + " of " + std::to_string(plan_.readers),
        [this, i] { drive_reader(i); });
  }
  threads_.start("the transfer's thread", [this] { drive_transfer(); });
}

void pipeline::drive_reader(int number) {
  name_this_thread("fl-reader-" + std::to_string(number));
  bind_this_thread(plan_.cores);
  device_->begin_thread();
  const reads_for_loader mine{number_of_loader_};
  reader_scratch& use = scratch_[static_cast<std::size_t>(number)];
  use.cpu.open();
  const in_activity reading{&use.clock, activity::busy};
  for (;;) {
    slot_scheduler_.active().rest(number, &use.clock);
    const auto taken = slot_scheduler_.next(&use.clock);
    if (!taken) return;
    const reader_turns::turn turn{turns_, request_executor_.stopping(), &use.clock};
    request_executor_.fill(*taken, use);
  }
}

void pipeline::drive_transfer() {
  name_this_thread("fl-transfer");
  bind_this_thread(plan_.cores);
  device_->begin_thread();
  if (plan_.readers == 0) {
    while (advance()) {
    }
  } else {
    const in_activity moving{&transfer_.clock(), activity::busy};
    while (transfer_.step()) {
    }
  }
  close();
}

bool pipeline::advance() {
  {
    const reads_for_loader mine{number_of_loader_};
    reader_scratch& use = scratch_.front();
    const in_activity reading{&use.clock, activity::busy};
    const auto request = slot_scheduler_.next(&use.clock);
    if (request && !request_executor_.fill(*request, use)) return true;  // the slot has more
  }
  const in_activity moving{&transfer_.clock(), activity::busy};
  return transfer_.step();
}

}  // namespace feedline::detail
