// a field cannot be viewed in a batch that is gone at once
// expect: deleted (member )?function.*operator\[\]|deleted operator .\[\]

#include <feedline/feedline.hpp>

#include <cstdint>

const std::uint8_t* labels(feedline::epoch_range& range, feedline::batch& batch) {
#ifdef MISUSE
  static_cast<void>(batch);
  return (*range.next())["label"].data<std::uint8_t>();
#else
  static_cast<void>(range);
  return batch["label"].data<std::uint8_t>();
#endif
}
