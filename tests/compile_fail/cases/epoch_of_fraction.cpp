// an epoch's number is no fraction
// expect: no matching (member )?function.*epoch

#include <feedline/feedline.hpp>

feedline::epoch_range half_way(feedline::loader& loader) {
#ifdef MISUSE
  return loader.epoch(0.5);
#else
  const int number = 1;
  return loader.epoch(number);
#endif
}
