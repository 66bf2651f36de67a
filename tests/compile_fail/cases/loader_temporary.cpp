// the epochs of a temporary loader cannot be gone through
// expect: deleted (member )?function.*epoch

#include <feedline/feedline.hpp>

void consume(const feedline::dataset_ptr& dataset) {
  const auto host = feedline::make_host_device();
#ifdef MISUSE
  for (feedline::batch& batch :
       feedline::loader{dataset, feedline::sequential{}, host, {}}.epoch(0))
    static_cast<void>(batch.size());
#else
  feedline::loader loader{dataset, feedline::sequential{}, host, {}};
  for (feedline::batch& batch : loader.epoch(0)) static_cast<void>(batch.size());
#endif
}
