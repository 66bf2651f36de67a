#include "hdf5/filter/filters.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/hdf5/filter_cases.hpp"

#include <atomic>
#include <thread>
#include <utility>

using namespace feedline::test;
using feedline::detail::hdf5_decoder;
using feedline::detail::hdf5_filter;
using feedline::detail::hdf5_filters;

namespace {

const filter_case& case_named(const std::vector<filter_case>& cases, const std::string& name) {
  for (const filter_case& each : cases)
    if (each.name == name) return each;
  throw std::logic_error{"no case " + name};
}

/// Bytes that the filters store, and the filters that decode them.
struct pipeline_case {
  explicit pipeline_case(const std::vector<std::string>& names) {
    const auto cases = filter_cases();
    std::vector<hdf5_filter> pipeline;
    for (const std::string& name : names) {
      steps.push_back(case_named(cases, name));
      pipeline.push_back(steps.back().filter);
    }
    filters = hdf5_filters{pipeline};
  }

  [[nodiscard]] bytes encode(bytes_view raw, std::uint32_t mask = 0) const {
    bytes now{raw.begin(), raw.end()};
    for (std::size_t i = 0; i < steps.size(); ++i)
      if ((mask >> i & 1U) == 0) now = steps[i].encode(now);
    return now;
  }

  std::vector<filter_case> steps;
  hdf5_filters filters{{}};
};

bytes content_named(const std::string& name, std::size_t size) {
  for (const content& each : contents())
    if (each.name == name) return each.make(size);
  throw std::logic_error{"no content " + name};
}

}  // namespace

TEST_CASE("hdf5 filters: each filter is undone, at any size, of any content", "[dataset][host]") {
  hdf5_decoder decoder;  // one for all: its old contents do not matter
  for (const filter_case& each : filter_cases()) {
    const hdf5_filters filters{{each.filter}};
    INFO(each.name << ", refused: " << filters.refusal());
    REQUIRE(filters.refusal().empty());
    for (const content& kind : contents())
      for (const std::size_t size :
           {1U, 7U, 8U, 15U, 16U, 64U, 100U, 784U, 4099U, 12544U, 70001U}) {
        if (size % each.unit != 0) continue;
        const bytes raw = kind.make(size);
        const bytes stored = each.encode(raw);
        bytes out(size, std::byte{0xee});
        filters.decode(stored, 0, true, decoder, out);
        INFO(kind.name << ", " << size << " bytes, stored as " << stored.size());
        CHECK(out == raw);
      }
  }
}

TEST_CASE("hdf5 filters: several are undone, the last first", "[dataset][host]") {
  const std::vector<std::string> names = GENERATE(
      std::vector<std::string>{}, std::vector<std::string>{"fletcher32", "fletcher32"},
      std::vector<std::string>{"shuffle of 4", "deflate at level 6"},
      std::vector<std::string>{"shuffle of 4", "deflate at level 6", "fletcher32"},
      std::vector<std::string>{"fletcher32", "shuffle of 4", "deflate at level 6"},
      std::vector<std::string>{"shuffle of 8", "shuffle of 2", "shuffle of 3"},
      std::vector<std::string>{"deflate at level 0", "lzf", "deflate at level 9", "fletcher32"},
      std::vector<std::string>{"lzf", "shuffle of 16", "deflate at level 1"},
      std::vector<std::string>{"bitshuffle of 1, blocks of 0, compression 0", "shuffle of 1",
                               "deflate at level 6"});
  const pipeline_case written{names};
  INFO(written.filters.describe());
  for (const content& kind : contents())
    for (const std::size_t size : {1U, 30U, 784U, 12545U}) {
      INFO(kind.name << ", " << size << " bytes");
      const bytes raw = kind.make(size);
      CHECK(decoded(written.filters, written.encode(raw), size) == raw);
    }
}

TEST_CASE("hdf5 filters: those that a chunk's mask leaves out are not undone", "[dataset][host]") {
  const pipeline_case written{
      {"fletcher32", "shuffle of 4", "deflate at level 6", "lzf", "fletcher32"}};
  for (const content& kind : contents()) {
    const bytes raw = kind.make(784);
    for (std::uint32_t mask = 0; mask < 32; ++mask) {
      INFO(kind.name << ", mask " << mask);
      CHECK(decoded(written.filters, written.encode(raw, mask), raw.size(), mask) == raw);
    }
    INFO("bits beyond the pipeline mean nothing");
    CHECK(decoded(written.filters, written.encode(raw), raw.size(), 0xffffffe0) == raw);
  }
}

TEST_CASE("hdf5 filters: data that does not compress is stored in more bytes, and read",
          "[dataset][host]") {
  for (const std::string name : {"deflate at level 6", "lzf", "fletcher32"}) {
    const pipeline_case written{{name}};
    const bytes raw = content_named("noise", 5000);
    const bytes stored = written.encode(raw);
    INFO(name);
    CHECK(stored.size() > raw.size());
    CHECK(decoded(written.filters, stored, raw.size()) == raw);
  }
}

TEST_CASE("hdf5 filters: filters above tiny blocks take the size that these grow to",
          "[dataset][host]") {
  if (!has_lz4 || !has_zstd) FEEDLINE_SKIP("feedline was built without liblz4 or libzstd");
  for (const std::string method : {"2", "3"})
    for (const std::string above : {"fletcher32", "deflate at level 6"}) {
      const pipeline_case written{{"bitshuffle of 1, blocks of 8, compression " + method, above}};
      const bytes raw = content_named("noise", 100000);
      const bytes stored = written.encode(raw);
      INFO(written.filters.describe() << ", " << stored.size() << " bytes");
      CHECK(decoded(written.filters, stored, raw.size()) == raw);
    }
}

TEST_CASE("hdf5 filters: a checksum is compared only when that is asked for", "[dataset][host]") {
  const pipeline_case written{{"fletcher32"}};
  const bytes raw = content_named("strokes on black", 784);
  bytes stored = written.encode(raw);
  stored.back() ^= std::byte{1};
  CHECK(decoded(written.filters, stored, raw.size(), 0, false) == raw);
  CHECK_THROWS_AS(decoded(written.filters, stored, raw.size(), 0, true),
                  feedline::detail::hdf5_filter_error);
}

TEST_CASE("hdf5 filters: the checksum of HDF5 1.6.2 and older, with its bytes swapped, is right",
          "[dataset][host]") {
  const pipeline_case written{{"fletcher32"}};
  for (const content& kind : contents())
    for (const std::size_t size : {1U, 2U, 783U, 784U, 100000U}) {
      const bytes raw = kind.make(size);
      bytes stored = written.encode(raw);
      std::swap(stored[size], stored[size + 1]);
      std::swap(stored[size + 2], stored[size + 3]);
      INFO(kind.name << ", " << size << " bytes");
      CHECK(decoded(written.filters, stored, size) == raw);
    }
}

TEST_CASE("hdf5 filters: bytes after the end of a compressed stream are ignored",
          "[dataset][host]") {
  for (const std::string name : {"deflate at level 6", "deflate at level 0"}) {
    const pipeline_case written{{name}};
    const bytes raw = content_named("strokes on black", 784);
    bytes stored = written.encode(raw);
    stored.resize(stored.size() + 100, std::byte{0x55});
    CHECK(decoded(written.filters, stored, raw.size()) == raw);
  }
}

TEST_CASE("hdf5 filters: a decoder that failed decodes the next chunk", "[dataset][host]") {
  hdf5_decoder decoder;
  for (const filter_case& each : filter_cases()) {
    const hdf5_filters filters{{each.filter}};
    const bytes raw = content_named("strokes on black", 1008);
    const bytes stored = each.encode(raw);
    bytes out(raw.size());
    const auto half = bytes_view{stored}.first(stored.size() / 2);
    INFO(each.name);
    CHECK_THROWS_AS(filters.decode(half, 0, true, decoder, out),
                    feedline::detail::hdf5_filter_error);
    filters.decode(stored, 0, true, decoder, out);
    CHECK(out == raw);
  }
}

TEST_CASE("hdf5 filters: threads share them, each with its own decoder", "[dataset][host]") {
  const pipeline_case written{{"shuffle of 4", "deflate at level 6", "fletcher32"}};
  const bytes raw = content_named("strokes on black", 12544);
  const bytes stored = written.encode(raw);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      hdf5_decoder decoder;
      bytes out(raw.size());
      for (int turn = 0; turn < 50; ++turn) {
        written.filters.decode(stored, 0, true, decoder, out);
        if (out == raw) ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(right == 200);
}

TEST_CASE("hdf5 filters: they are described in the order in which they were written",
          "[dataset][host]") {
  CHECK(hdf5_filters{{}}.describe().empty());
  CHECK(hdf5_filters{{}}.empty());
  const hdf5_filters known{{{2, "", {4}}, {1, "zlib", {6}}, {3, "", {}}}};
  CHECK(known.describe() == "shuffle, deflate, fletcher32");
  CHECK(known.has_checksum());
  CHECK_FALSE(known.empty());
  const hdf5_filters unknown{{{311, "", {}}, {40000, "my own\nfilter \x80", {}}}};
  CHECK(unknown.describe() == "filter 311, myownfilter");
  CHECK_FALSE(unknown.has_checksum());
}

TEST_CASE("hdf5 filters: a pipeline that cannot be undone is refused, by its filter's name",
          "[dataset][host]") {
  const auto refusal = [](hdf5_filter filter) {
    return hdf5_filters{{{1, "deflate", {6}}, std::move(filter)}}.refusal();
  };
  CHECK(refusal({5, "", {}}) == "filter 5 (nbit) is not one that feedline decodes");
  CHECK(refusal({6, "", {}}) == "filter 6 (scaleoffset) has 0 parameters, not 20");
  CHECK(refusal({4711, "mine", {}}) == "filter 4711 (mine) is not one that feedline decodes");
  CHECK(refusal({-1, "", {}}) == "filter -1 is not one that feedline decodes");
  CHECK(refusal({2, "", {0}}) == "filter 2 (shuffle) does not say how large an element is");
  CHECK(refusal({32008, "", {0, 4}}) ==
        "filter 32008 (bitshuffle) does not say how large an element is");
  CHECK(refusal({32008, "", {0, 4, 0, 0, 0}}) ==
        "filter 32008 (bitshuffle) does not say how large an element is");
  CHECK(refusal({32008, "", {0, 4, 2, 12, 0}}) ==
        "filter 32008 (bitshuffle) has blocks of 12 elements, which is not a multiple of 8");
  CHECK(refusal({32008, "", {0, 4, 2, 0, 9}}) ==
        "filter 32008 (bitshuffle) compresses by method 9, which feedline does not know");
  if (has_szip) {
    CHECK(refusal({4, "", {1, 2, 3}}) == "filter 4 (szip) has no parameters");
    CHECK(refusal({4, "", {32, 0, 8, 0}}) ==
          "filter 4 (szip) has invalid parameters: 0 pixels a block, 8 bits a pixel, 0 pixels "
          "a scanline");
  }
  CHECK(hdf5_filters{std::vector<hdf5_filter>(33, {1, "deflate", {6}})}.refusal() ==
        "33 filters are more than HDF5 knows");
}

TEST_CASE(
    "hdf5 filters: a shuffle for no size of element, as those of variable length get, may only "
    "have been left out",
    "[dataset][host]") {
  const hdf5_filters filters{{{2, "", {}}}};
  CHECK(filters.refusal().empty());
  const bytes stored{std::byte{1}, std::byte{2}};
  CHECK(decoded(filters, stored, 2, 1) == stored);
  CHECK(message_of<feedline::detail::hdf5_filter_error>([&] {
          (void)decoded(filters, stored, 2);
        }) == "filter 2 (shuffle): does not say how large an element is, so it cannot be undone");
}

TEST_CASE("hdf5 filters: a filter whose library was not there is refused, with the library's name",
          "[dataset][host]") {
  const auto expected = [](bool is_there, const std::string& filter, const std::string& library) {
    return is_there
               ? std::string{}
               : filter + " needs " + library + ", which was not there when feedline was built";
  };
  const auto refusal = [](const hdf5_filter& filter) { return hdf5_filters{{filter}}.refusal(); };
  CHECK(refusal({4, "", {141, 16, 8, 784}}) == expected(has_szip, "filter 4 (szip)", "libaec"));
  CHECK(refusal({305, "", {}}) == expected(has_lzo, "filter 305 (lzo)", "liblzo2"));
  CHECK(refusal({307, "", {}}) == expected(has_bzip2, "filter 307 (bzip2)", "libbz2"));
  CHECK(refusal({32001, "", {}}) == expected(has_blosc, "filter 32001 (blosc)", "libblosc"));
  CHECK(refusal({32004, "", {}}) == expected(has_lz4, "filter 32004 (lz4)", "liblz4"));
  CHECK(refusal({32013, "", {0, 91252346, 304, 2281701376}}) ==
        expected(has_zfp, "filter 32013 (zfp)", "libzfp"));
  CHECK(refusal({32026, "", {}}) == expected(has_blosc2, "filter 32026 (blosc2)", "libblosc2"));
  CHECK(refusal({32015, "", {}}) == expected(has_zstd, "filter 32015 (zstd)", "libzstd"));
  CHECK(refusal({32008, "", {0, 4, 2, 0, 2}}) ==
        expected(has_lz4, "filter 32008 (bitshuffle)", "liblz4"));
  CHECK(refusal({32008, "", {0, 4, 2, 0, 3}}) ==
        expected(has_zstd, "filter 32008 (bitshuffle)", "libzstd"));
  CHECK(refusal({32008, "", {0, 4, 2, 0, 0}}).empty());
}
