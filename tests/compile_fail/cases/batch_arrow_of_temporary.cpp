// a batch that no variable holds has no arrow
// expect: deleted (member )?function.*operator->|deleted operator.*->

#include <feedline/feedline.hpp>

feedline::tensor_view labels(feedline::epoch_range& range) {
#ifdef MISUSE
  return range.next()->operator[]("label");
#else
  static auto batch = range.next();
  return batch->operator[]("label");
#endif
}
