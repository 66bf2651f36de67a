// This sample measures what overlap gains. 16 chunks of 16 MiB go to the GPU, a kernel changes each
// in place, and they come back. Six ways do the same work: with pageable memory, with pinned
// memory, asynchronously on one stream, with both directions of the bus at once, with both and the
// kernel at once; and then the last one again by feedline's loader and result ring, which write no
// event and no buffer here. Every number that comes back is checked.
//
// Build:  cmake --preset release && cmake --build --preset release --target overlap
// Run:    build/release/samples/overlap [overlap.svg]
// Expect: a table of six lines: the time of each way, the rate of both directions together, how
//         many times as fast as the first it is; and a picture of who worked when, overlap.svg.
//         Without a GPU: "overlap needs a GPU, and there is none", and exit status 1.

#include <feedline/cuda/device.hpp>
#include <feedline/feedline.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call) check((call), #call)
void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess)
    throw std::runtime_error{std::string{call} + " failed: " + cudaGetErrorString(error)};
}

using word = std::uint32_t;
constexpr std::size_t chunks = 16;
constexpr std::size_t row_words = 4096;   // a sample of the loader's: 16 KiB
constexpr std::size_t chunk_rows = 1024;  // and its batch: 16 MiB
constexpr std::size_t chunk_words = chunk_rows * row_words;
constexpr std::size_t chunk_bytes = chunk_words * sizeof(word);
constexpr int runs = 5;  // for each way; the fastest counts, since others use the machine, too

// ---- The work: some steps of a generator of random numbers, for each word ----------------------

__host__ __device__ word next_random(word value) {
  return value * 1664525U + 1013904223U;
}

__global__ void change(word* words, int rounds) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  word value = words[i];
  for (int round = 0; round < rounds; ++round) value = next_random(value);
  words[i] = value;
}

void launch(word* words, int rounds, cudaStream_t stream) {
  change<<<chunk_words / 256, 256, 0, stream>>>(words, rounds);
  CHECK(cudaGetLastError());
}

// All rounds together multiply by `factor` and add `summand`: that is how the host checks them.
struct all_rounds {
  explicit all_rounds(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      factor *= 1664525U;
      summand = next_random(summand);
    }
  }
  void expect(const word* from, const word* to, std::size_t count, const std::string& way) const {
    for (std::size_t i = 0; i < count; ++i)
      if (to[i] != from[i] * factor + summand)
        throw std::runtime_error{way + " brought back a wrong number"};
  }
  word factor = 1;
  word summand = 0;
};

// ---- Handles that free what they hold ----------------------------------------------------------

struct stream {
  stream() { CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { cudaStreamDestroy(handle); }
  cudaStream_t handle = nullptr;
};

struct event {  // with timing: the picture is made of events
  event() { CHECK(cudaEventCreate(&handle)); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { cudaEventDestroy(handle); }
  void record(cudaStream_t on) { CHECK(cudaEventRecord(handle, on)); }
  cudaEvent_t handle = nullptr;
};

struct free_host {
  void operator()(word* memory) const { cudaFreeHost(memory); }
};
struct free_gpu {
  void operator()(word* memory) const { cudaFree(memory); }
};
std::unique_ptr<word, free_host> pinned(std::size_t words) {
  word* memory = nullptr;
  CHECK(cudaMallocHost(&memory, words * sizeof(word)));
  return std::unique_ptr<word, free_host>{memory};
}
std::unique_ptr<word, free_gpu> on_gpu(std::size_t words) {
  word* memory = nullptr;
  CHECK(cudaMalloc(&memory, words * sizeof(word)));
  return std::unique_ptr<word, free_gpu>{memory};
}

// ---- What is measured --------------------------------------------------------------------------

enum lane { to_gpu, kernel, from_gpu };

struct bar {  // a span of work, in milliseconds since the start of the way
  lane where;
  float begin, end;
};

struct measured {
  std::string way;
  double milliseconds = 1e9;
  std::vector<bar> bars = {};
};

// Events around a piece of work, which become a bar when all is done.
struct marks {
  void around(lane where, cudaStream_t on, const auto& issue) {
    auto& [place, begin, end] = all.emplace_back();
    place = where;
    begin.record(on);
    issue();
    end.record(on);
  }
  std::vector<bar> bars(const event& start) const {
    std::vector<bar> found;
    for (const auto& each : all) {
      auto& drawn = found.emplace_back(bar{each.where, 0, 0});
      CHECK(cudaEventElapsedTime(&drawn.begin, start.handle, each.begin.handle));
      CHECK(cudaEventElapsedTime(&drawn.end, start.handle, each.end.handle));
    }
    return found;
  }
  struct mark {
    lane where;
    event begin, end;
  };
  std::deque<mark> all;
};

// @param body Does the work, and returns a function that checks it when the clock has stopped.
template <class Body>
measured measure(const std::string& way, const Body& body) {
  measured best{way};
  for (int run = 0; run < runs; ++run) {
    marks marked;
    event start;
    const stream first;
    CHECK(cudaDeviceSynchronize());
    start.record(first.handle);
    CHECK(cudaEventSynchronize(start.handle));
    const auto begun = std::chrono::steady_clock::now();
    const auto check_what_came_back = body(marked);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
    CHECK(cudaDeviceSynchronize());
    check_what_came_back();
    if (took.count() < best.milliseconds) best = {way, took.count(), marked.bars(start)};
  }
  return best;
}

// ---- Five ways by hand -------------------------------------------------------------------------

// All ways have the same three steps for each chunk. They differ in the host's memory, whether the
// host waits after each step, and whether the steps share a stream. Separate streams need six
// events for a ring of three buffers: no step may read data that is not there yet, or overwrite
// data that is still read.
void by_hand(const word* from, word* to, const std::array<word*, 3>& buffers, bool waits,
             const std::array<cudaStream_t, 3>& streams, int rounds, marks& marked) {
  std::array<event, 3> arrived, changed, returned;
  const auto [in, work, out] = streams;
  const auto step = [&](lane where, cudaStream_t on, const auto& issue) {
    marked.around(where, on, issue);
    if (waits) CHECK(cudaStreamSynchronize(on));
  };
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t b = i % buffers.size();
    word* const buffer = buffers[b];
    const std::size_t at = i * chunk_words;
    CHECK(cudaStreamWaitEvent(in, returned[b].handle));
    step(to_gpu, in, [&] {
      CHECK(cudaMemcpyAsync(buffer, from + at, chunk_bytes, cudaMemcpyHostToDevice, in));
    });
    arrived[b].record(in);
    CHECK(cudaStreamWaitEvent(work, arrived[b].handle));
    step(kernel, work, [&] { launch(buffer, rounds, work); });
    changed[b].record(work);
    CHECK(cudaStreamWaitEvent(out, changed[b].handle));
    step(from_gpu, out, [&] {
      CHECK(cudaMemcpyAsync(to + at, buffer, chunk_bytes, cudaMemcpyDeviceToHost, out));
    });
    returned[b].record(out);
  }
  for (const cudaStream_t each : streams) CHECK(cudaStreamSynchronize(each));
}

// ---- The sixth, by feedline --------------------------------------------------------------------

measured by_feedline(const std::vector<word>& from, int rounds) {
  const auto gpu = feedline::make_cuda_device(0);
  const auto data = feedline::make_memory_dataset(
      {feedline::borrow("row", std::span<const word>{from}, {row_words})});
  feedline::loader loader{data,
                          feedline::sequential{},
                          gpu,
                          {.batch_size = chunk_rows,
                           .placement = feedline::placement::stream,
                           .expert = {.batches_per_slot = 1, .device_slots = 5}}};
  // There are as many slots as results, because results are checked when the clock has stopped.
  feedline::result_ring results{gpu, {.slot_bytes = chunk_bytes, .slots = chunks}};
  const stream mine;
  const feedline::stream_ref ref{mine.handle};
  std::uint64_t epoch = 0;

  return measure("feedline: loader, result ring", [&](marks& marked) {
    std::vector<feedline::result> taken;
    std::thread taker{[&] {
      while (taken.size() < chunks) {
        auto result = results.next();
        if (!result) return;  // stopped
        taken.push_back(std::move(*result));
      }
    }};
    try {
      struct pushed {  // a batch ends after the lease on it, so its slot is filled after the copy
        feedline::batch batch;
        std::optional<feedline::source_lease> copying;
      };
      std::deque<pushed> under_way;
      for (feedline::batch& batch : loader.epoch(epoch, ref)) {
        const auto row = batch["row"];
        marked.around(kernel, mine.handle,
                      [&] { launch(row.mutable_data<word>(), rounds, mine.handle); });
        auto copying = results.push(row.bytes().data(), chunk_bytes, ref, {epoch, batch.index()});
        under_way.push_back({std::move(batch), std::move(copying)});
        if (under_way.size() > 2) under_way.pop_front();
      }
    } catch (...) {
      results.stop();
      taker.join();
      throw;
    }
    taker.join();
    ++epoch;
    return [&, taken = std::move(taken)] {
      const all_rounds all{rounds};
      for (const feedline::result& result : taken)
        all.expect(from.data() + result.tag().batch * chunk_words, result.values<word>().data(),
                   chunk_words, "feedline");
    };
  });
}

// ---- The picture -------------------------------------------------------------------------------

void draw(const std::string& path, const std::vector<measured>& ways) {
  const double width = 900, left = 60, lane_height = 14, way_height = 76;
  const std::array<const char*, 3> colours{"#4477aa", "#ccbb44", "#aa3377"};
  const std::array<const char*, 3> lanes{"to GPU", "kernel", "from GPU"};
  const double scale = (width - left - 10) / ways.front().milliseconds;
  std::ofstream svg{path};
  svg << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='"
      << way_height * static_cast<double>(ways.size()) + 20
      << "' font-family='sans-serif' font-size='10'>\n<rect width='100%' height='100%' "
         "fill='white'/>\n";
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const double top = way_height * static_cast<double>(w) + 20;
    svg << "<text x='4' y='" << top << "' font-size='12'>" << ways[w].way << ": "
        << ways[w].milliseconds << " ms</text>\n";
    for (std::size_t l = 0; l < lanes.size(); ++l)
      svg << "<text x='4' y='" << top + lane_height * (static_cast<double>(l) + 1.2) << "'>"
          << lanes[l] << "</text>\n";
    for (const bar& each : ways[w].bars)
      svg << "<rect x='" << left + scale * each.begin << "' y='"
          << top + lane_height * (static_cast<double>(each.where) + 0.4) << "' width='"
          << std::max(scale * (each.end - each.begin) - 0.3, 0.3) << "' height='" << lane_height - 3
          << "' fill='" << colours[each.where] << "'/>\n";
  }
  svg << "</svg>\n";
  if (!svg.flush()) throw std::runtime_error{"cannot write " + path};
}

// ---- All of it ---------------------------------------------------------------------------------

// Rounds for which the kernel takes as long as a copy of a chunk, so that there is most to hide.
int rounds_as_long_as_a_copy(word* buffer, const word* from, cudaStream_t on) {
  constexpr int tried = 1000;
  event start, copied, changed;
  for (int warm = 0; warm < 2; ++warm) {
    start.record(on);
    CHECK(cudaMemcpyAsync(buffer, from, chunk_bytes, cudaMemcpyHostToDevice, on));
    copied.record(on);
    launch(buffer, tried, on);
    changed.record(on);
    CHECK(cudaStreamSynchronize(on));
  }
  float copy = 0, kernel = 0;
  CHECK(cudaEventElapsedTime(&copy, start.handle, copied.handle));
  CHECK(cudaEventElapsedTime(&kernel, copied.handle, changed.handle));
  return std::max(1, static_cast<int>(tried * copy / kernel));
}

std::vector<measured> measure_all() {
  std::vector<word> pageable(chunks * chunk_words);
  for (std::size_t i = 0; i < pageable.size(); ++i) pageable[i] = static_cast<word>(i);
  std::vector<word> pageable_back(pageable.size());
  const auto there = pinned(pageable.size());
  const auto back = pinned(pageable.size());
  std::copy(pageable.begin(), pageable.end(), there.get());
  const std::array memory{on_gpu(chunk_words), on_gpu(chunk_words), on_gpu(chunk_words)};
  const std::array<word*, 3> buffers{memory[0].get(), memory[1].get(), memory[2].get()};
  const stream a, b, c;
  const int rounds = rounds_as_long_as_a_copy(buffers[0], there.get(), a.handle);
  const all_rounds all{rounds};

  const auto way = [&](const std::string& name, const word* from, word* to, bool waits,
                       const std::array<cudaStream_t, 3>& streams) {
    return measure(name, [&, from, to, waits](marks& marked) {
      by_hand(from, to, buffers, waits, streams, rounds, marked);
      return [&, from, to] {
        all.expect(from, to, pageable.size(), name);
        std::fill_n(to, pageable.size(), 0U);  // so that the next run must bring all of it
      };
    });
  };
  const std::array alone{a.handle, a.handle, a.handle};
  std::vector<measured> ways;
  ways.push_back(way("pageable", pageable.data(), pageable_back.data(), true, alone));
  ways.push_back(way("pinned", there.get(), back.get(), true, alone));
  ways.push_back(way("pinned, asynchronous", there.get(), back.get(), false, alone));
  ways.push_back(
      way("both ways at once", there.get(), back.get(), false, {a.handle, a.handle, b.handle}));
  ways.push_back(way("both ways and the kernel", there.get(), back.get(), false,
                     {a.handle, b.handle, c.handle}));
  ways.push_back(by_feedline(pageable, rounds));
  return ways;
}

int main(int argc, char* argv[]) {
  if (feedline::cuda_device_count() == 0) {
    std::fprintf(stderr, "overlap needs a GPU, and there is none\n");
    return 1;
  }
  try {
    const std::vector<measured> ways = measure_all();
    const double both = 2.0 * chunks * chunk_bytes;
    for (const measured& each : ways)
      std::printf("%-32s %8.2f ms %8.1f GB/s %6.2f times as fast\n", each.way.c_str(),
                  each.milliseconds, both / each.milliseconds / 1e6,
                  ways.front().milliseconds / each.milliseconds);
    draw(argc > 1 ? argv[1] : "overlap.svg", ways);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "overlap: %s\n", error.what());
    return 1;
  }
}
