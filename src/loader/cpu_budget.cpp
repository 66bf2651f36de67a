#include <feedline/loader/cpu_budget.hpp>

#include "reader/reader_turns.hpp"

namespace FEEDLINE_EXPORT feedline {

void set_cpu_budget(unsigned readers) {
  detail::reader_turns::of_process().set_limit(readers);
}

unsigned cpu_budget() {
  return detail::reader_turns::of_process().limit();
}

}  // namespace feedline
