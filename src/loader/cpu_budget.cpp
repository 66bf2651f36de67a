#include <feedline/loader/cpu_budget.hpp>

#include "reader/reader_turns.hpp"

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

void set_cpu_budget(unsigned readers) {
  detail::reader_turns::of_process().set_limit(readers);
}

unsigned cpu_budget() {
  return detail::reader_turns::of_process().limit();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
