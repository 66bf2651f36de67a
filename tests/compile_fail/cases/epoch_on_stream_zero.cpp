// an epoch cannot be taken on a stream spelled 0
// expect: deleted (function|constructor).*stream_ref

#include <feedline/feedline.hpp>

void consume(feedline::loader& loader) {
#ifdef MISUSE
  static_cast<void>(loader.epoch(1, 0));
#else
  static_cast<void>(loader.epoch(1, {}));
#endif
}
