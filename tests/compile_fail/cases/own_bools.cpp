// a vector of packed bools cannot become a field
// expect: no matching function for call to .*own

#include <feedline/dataset/memory_dataset.hpp>

feedline::memory_field field() {
#ifdef MISUSE
  return feedline::own("flag", std::vector<bool>{true, false});
#else
  return feedline::own("flag", std::vector<std::uint8_t>{1, 0});
#endif
}
