// a sample's index is no ticket
// expect: (conversion|convert).*index<

#include <feedline/index.hpp>

feedline::ticket next(feedline::ticket ticket, feedline::sample_index sample) {
#ifdef MISUSE
  static_cast<void>(ticket);
  return sample;
#else
  return {ticket.value + sample.value};
#endif
}
