#include <feedline/statistics/statistics.hpp>

#include "detail/flat_json.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace feedline {
namespace {

using seconds = std::chrono::duration<double>;

/// An object of JSON, member by member.
class json_object {
 public:
  template <class Value>
  json_object& member(const std::string& name, const Value& value) {
    text_ += (text_.empty() ? "" : ", ") + detail::json_string(name) + ": ";
    if constexpr (std::is_same_v<Value, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<Value>) {
      std::array<char, 32> number{};
      const auto end = std::to_chars(number.data(), number.data() + number.size(), value).ptr;
      text_.append(number.data(), end);
    } else if constexpr (std::is_integral_v<Value>) {
      text_ += std::to_string(value);
    } else {
      text_ += value;  // JSON already
    }
    return *this;
  }
  json_object& time(const std::string& name, std::chrono::nanoseconds value) {
    return member(name + "_ns", value.count());
  }
  json_object& string(const std::string& name, std::string_view value) {
    return member(name, detail::json_string(value));
  }
  [[nodiscard]] std::string text() const { return '{' + text_ + '}'; }

 private:
  std::string text_;
};

std::string json_of(const stage_statistics& of) {
  return json_object{}
      .member("threads", of.threads)
      .member("batches", of.batches)
      .member("samples", of.samples)
      .member("bytes", of.bytes)
      .member("slots", of.slots)
      .member("slots_there", of.slots_there)
      .time("busy", of.busy)
      .time("starved", of.starved)
      .time("stalled", of.stalled)
      .time("copy_wait", of.copy_wait)
      .time("mean_latency", of.mean_latency())
      .time("max_latency", of.max_latency)
      .text();
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 256> line{};
  (void)std::snprintf(line.data(), line.size(), format, values...);
  return line.data();
}

double percent(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() <= 0 ? 0.0 : 100 * (seconds{part} / seconds{whole});
}

std::string row_of(const char* name, const stage_statistics& of, std::chrono::nanoseconds time) {
  const double took = seconds{time}.count();
  const auto milliseconds = [](std::chrono::nanoseconds value) {
    return 1e3 * seconds{value}.count();
  };
  return formatted("%-8s %7u %10llu %8.3f %6.1f %7.1f %7.1f %9.1f %10.3f %9.3f\n", name, of.threads,
                   static_cast<unsigned long long>(of.batches),
                   took <= 0 ? 0.0 : static_cast<double>(of.bytes) / took / 1e9,
                   percent(of.busy, of.time()), percent(of.starved, of.time()),
                   percent(of.stalled, of.time()), percent(of.copy_wait, of.time()),
                   milliseconds(of.mean_latency()), milliseconds(of.max_latency));
}

}  // namespace

std::string to_json(const loader_statistics& of) {
  const loader_verdict verdict = judge(of);
  return json_object{}
      .time("time", of.time)
      .member("reader", json_of(of.reader))
      .member("transfer", json_of(of.transfer))
      .member("consumer", json_of(of.consumer))
      .time("exposed", of.exposed)
      .member("exposed_on_stream", of.exposed_on_stream)
      .member("exposed_waits", of.exposed_waits)
      .member("unmeasured_waits", of.unmeasured_waits)
      .time("sampled_reading", of.sampled_reading)
      .time("sampled_cpu", of.sampled_cpu)
      .time("sampled_queue", of.sampled_queue)
      .member("queue_known", of.queue_known)
      .member("peak_copy_rate", of.peak_copy_rate)
      .member("cached_samples", of.cached_samples)
      .member("unreadable_samples", of.unreadable_samples)
      .member("recovered_reads", of.recovered_reads)
      .member("cores", of.cores)
      .member("cpu_budget", of.cpu_budget)
      .member("sample_bytes", of.sample_bytes)
      .member("chunked", of.chunked)
      .member("copies", of.copies)
      .member("verdict", json_object{}
                             .string("limit", to_string(verdict.limit))
                             .string("evidence", verdict.evidence)
                             .string("next", verdict.next)
                             .member("gain", verdict.gain)
                             .text())
      .text();
}

std::string report(const loader_statistics& of) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string text =
      "stage    threads    batches     GB/s  busy % starved stalled copy wait   ms/slot       "
      "max\n";
  text += row_of("reader", of.reader, of.time);
  text += row_of("transfer", of.transfer, of.time);
  text += row_of("consumer", of.consumer, of.time);
  text += formatted("exposed  %.3f ms in %llu waits%s, %.1f %% of the consumer's %.3f s\n",
                    1e3 * seconds{of.exposed}.count(), number(of.exposed_waits),
                    of.exposed_on_stream ? " of its stream" : "",
                    percent(of.exposed, of.consumer.time()), seconds{of.consumer.time()}.count());
  if (of.peak_copy_rate > 0)
    text += formatted("copies   %.1f GB/s at the most\n", of.peak_copy_rate / 1e9);
  if (of.cached_samples != 0)
    text += formatted("cached   %llu of %llu samples\n", number(of.cached_samples),
                      number(of.reader.samples));
  if (of.unreadable_samples != 0 || of.recovered_reads != 0)
    text += formatted("errors   %llu samples not read, %llu reads recovered\n",
                      number(of.unreadable_samples), number(of.recovered_reads));
  const loader_verdict verdict = judge(of);
  text += to_string(verdict.limit) + ": " + verdict.evidence + '\n';
  if (!verdict.next.empty()) {
    text += "next: " + verdict.next;
    if (verdict.gain > 1.005) text += formatted(" (up to %.2f times as fast)", verdict.gain);
    text += '\n';
  }
  return text;
}

}  // namespace feedline
