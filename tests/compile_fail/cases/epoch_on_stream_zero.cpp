// an epoch cannot be taken on a stream spelled 0
// expect: deleted (function|constructor).*stream_ref|stream_ref.*deleted function

#include <feedline/feedline.hpp>

void consume_on_stream(feedline::loader& loader) {
#ifdef MISUSE
  static_cast<void>(loader.epoch(1, 0));
#else
  static_cast<void>(loader.epoch(1, {}));
#endif
}
