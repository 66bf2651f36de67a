/// feedline_moto_program BUCKET ROWS: opens the .npy files of a bucket by a pattern, and compares
/// them with ROWS rows of 1000 bytes each, whose bytes are numbered. `moto_test.py` starts it with
/// AWS's variables, beside a server that checks signatures.

#include <feedline/device/host_device.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

int main(int count, char** words) try {
  if (count != 3) return 2;
  const std::string bucket = words[1];
  const auto data =
      feedline::open("s3://" + bucket + "/some folder+%/p\xc3\xa4rt-*.npy", {.fields = {"row"}});
  const auto rows = std::strtoull(words[2], nullptr, 10);
  feedline::loader loader{
      data, feedline::shuffle{}, feedline::make_host_device(), {.batch_size = 16, .readers = 3}};
  std::size_t right = 0;
  for (feedline::batch& batch : loader.epoch(0))
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch["row"].bytes().subspan(i * 1000, 1000);
      bool same = true;
      for (std::size_t byte = 0; byte < row.size(); ++byte)
        same = same &&
               row[byte] == static_cast<std::byte>((batch.samples()[i].value * 31 + byte) % 251);
      right += same ? 1 : 0;
    }
  std::printf("%zu of %llu rows are right\n", right, rows);
  return right == rows && data->size() == rows ? 0 : 1;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
