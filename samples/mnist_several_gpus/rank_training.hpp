#pragma once

#include <feedline/error.hpp>

#include "checkpoint.hpp"
#include "launch.hpp"
#include "training.hpp"

#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mnist {

/// The training of one rank, which can be killed and continued.
template <class Device>
class rank_training : public training<Device> {
 public:
  rank_training(const trainer_options& options, const several_options& several, Device& on)
      : training<Device>{options, on}, several_{several} {
    if (several.resume) resume();
    if (this->is_first()) {
      losses_ = batch_lines{several.losses, this->begin_};
      checksums_ = batch_lines{several.checksums, this->begin_};
    }
  }

  /// Joins the other ranks. All memory is allocated before: an allocation may wait for a GPU, and a
  /// GPU that sums waits for the other ranks.
  /// @throws feedline::usage_error if they train on something else, or begin elsewhere.
  void join(typename Device::team& team) {
    // These values must be equal on all ranks; otherwise they would train on batches of different
    // runs, or wait for each other forever. Each compares the sum over all ranks with its own
    // share.
    const trainer_options& options = this->options_;
    const std::vector<unsigned long long> own{
        this->begin_.epoch, this->begin_.batch, this->train_.order_digest(),
        options.epochs,     several_.every,     !several_.checksums.empty()};
    std::vector<unsigned long long> found = own;
    const feedline::shard& share = this->on_.share();
    this->on_.join(team);
    this->on_.sum_on_host(found);
    const auto differs = [&](std::size_t i) {
      return found[i] != own[i] * static_cast<unsigned long long>(share.world);
    };
    const std::string self = "rank " + std::to_string(share.rank);
    for (std::size_t i = 2; i < own.size(); ++i)
      if (differs(i))
        throw feedline::usage_error{
            self + " has another training than other ranks: " +
            std::to_string(this->digits_.first->size()) + " digits, batches of " +
            std::to_string(options.batch_size) + ", seed " + std::to_string(options.seed) + ", " +
            std::to_string(options.epochs) +
            " epochs; all ranks must have the same digits and the same options"};
    if (differs(0) || differs(1))
      throw feedline::usage_error{
          self + " begins at epoch " + std::to_string(this->begin_.epoch + 1) + ", batch " +
          std::to_string(this->begin_.batch) +
          ", and others elsewhere: all ranks must see the same --checkpoint"};
  }

 private:
  void on_step(std::uint64_t epoch, std::uint64_t step, const digits_view& digits) override {
    if (!several_.checksums.empty()) seen_.push_back(checksum(digits));
    if (several_.every != 0 && (step + 1) % several_.every == 0) save(epoch);
  }
  void on_score(std::uint64_t epoch, std::uint64_t batch, const score& of) override {
    losses_.add(epoch, batch, "%.9g", of.loss / of.digits);
    if (!several_.checksums.empty()) lines_.push_back({epoch, batch});
  }
  void on_epoch(std::uint64_t epoch) override {
    several_.checkpoint.empty() ? write_lines() : save(epoch);
  }

  /// The bits of each float, weighed by its index in the batch of all ranks, and summed: a sum of
  /// integers is the same in any order, and for any number of ranks. Waits for the device.
  unsigned long long checksum(const digits_view& digits) {
    const std::size_t inputs = feedline::sample_bytes(this->digits_.first->fields().front());
    const std::size_t first = digits.size * static_cast<std::size_t>(this->on_.share().rank);
    unsigned long long sum = 0;
    const auto add = [&](const float* from, std::size_t width, std::size_t offset) {
      std::vector<float> values(digits.count * width);
      this->on_.download(from, std::span{values});
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &values[i], sizeof bits);
        sum += (bits + 1ULL) * (2 * (offset + first * width + i) + 1);
      }
    };
    add(digits.images, inputs, 0);
    add(digits.labels, classes, digits.together * inputs);  // labels follow the images
    return sum;
  }

  /// Writes the lines of all batches with a known score. All ranks call it alike.
  void write_lines() {
    this->on_.sum_on_host(seen_);
    for (std::size_t i = 0; i < lines_.size(); ++i)
      checksums_.add(lines_[i].epoch, lines_[i].batch, "%016llx", seen_[i]);
    lines_.clear();
    seen_.clear();
    losses_.flush();
    checksums_.flush();
  }

  /// All ranks call it after the same batch; the first one writes.
  void save(std::uint64_t epoch) {
    this->take_scores(epoch);
    write_lines();
    if (!this->is_first()) return;
    std::vector<float> values(this->model_.values().size());
    this->on_.download(this->model_.values().data(), std::span{values});
    write_checkpoint(several_.checkpoint, {this->train_.state(), this->so_far_, sizes(), values});
  }

  void resume() {
    if (!std::filesystem::exists(several_.checkpoint)) return;
    const checkpoint found = read_checkpoint(several_.checkpoint, sizes());
    this->train_.seek(found.place);
    this->on_.upload(std::span<const float>{found.values}, this->model_.values().data());
    resumed_ = true;
    this->begin_ = found.place;
    this->taken_ = found.place.batch;
    this->so_far_ = found.so_far;
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes{feedline::sample_bytes(this->digits_.first->fields().front())};
    sizes.insert(sizes.end(), layer_sizes.begin(), layer_sizes.end());
    return sizes;
  }

  void tell_begin() const override {
    training<Device>::tell_begin();
    const feedline::loader_state& begin = this->begin_;
    if (resumed_)
      std::printf("resume: at epoch %ju, batch %ju\n", std::uintmax_t{begin.epoch + 1},
                  std::uintmax_t{begin.batch});
    else if (several_.resume)
      std::printf("resume: there is no %s yet\n", several_.checkpoint.c_str());
    if (begin.epoch >= this->options_.epochs)
      std::printf("%s is the end of %ju epochs: nothing is left to do\n",
                  several_.checkpoint.c_str(), std::uintmax_t{begin.epoch});
  }

  const several_options& several_;
  bool resumed_ = false;
  batch_lines losses_;  // on other ranks than the first these write nothing
  batch_lines checksums_;
  std::vector<feedline::loader_state> lines_;  // batches whose checksums are in `seen_`
  std::vector<unsigned long long> seen_;       // this rank's part of each
};

}  // namespace mnist
