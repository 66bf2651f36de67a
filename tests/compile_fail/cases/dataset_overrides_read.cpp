// a dataset that overrides read instead of do_read is refused
// expect: only virtual member functions can be marked|marked .*override.*, but does not override

#include <feedline/feedline.hpp>

struct dataset_overrides_read : feedline::dataset {
#ifdef MISUSE
  void read(std::span<const feedline::sample_index> samples,
            std::span<const std::span<std::byte>> out) const override;
#else
  void do_read(const feedline::read_request& request) const override;
#endif
};
