// a loop over an epoch cannot take its batches by value
// expect: deleted (function|constructor).*batch

#include <feedline/feedline.hpp>

void consume(feedline::loader& loader) {
#ifdef MISUSE
  for (feedline::batch batch : loader.epoch(0)) static_cast<void>(batch.size());
#else
  for (feedline::batch& batch : loader.epoch(0)) static_cast<void>(batch.size());
#endif
}
