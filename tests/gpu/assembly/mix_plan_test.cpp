/// How the mixing of a slot is cut into parts, which needs no GPU.

#include "cuda/assembly/mix_plan.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::message_of;

namespace {

std::byte* at(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(address);  // points to no memory: only its alignment counts
}

/// Two batches of 101 images of 3 × 32 × 32, and labels of 10 classes.
struct planned_mixing {
  std::vector<field_assembly> fields{2};
  pair_mixing by;
  assembly work;

  planned_mixing() {
    fields[0].to_row_bytes = std::size_t{3} * 32 * 32 * 2;
    fields[1].to_offset = fields[0].to_row_bytes * 101;
    fields[1].to_row_bytes = 40;
    by.image = 0;
    by.label = 1;
    by.image_type = element_type::f16;
    by.height = by.width = 32;
    by.mixed_below = 1;
    work.slot = at(0x200000);
    work.copy_destination = at(0x300000);
    work.batch_size = 101;
    work.batch_bytes = (fields[0].to_row_bytes * 101 + 4040 + 255) / 256 * 256;
    work.samples = 202;
    work.fields = fields;
    work.mixing = &by;
  }
  planned_mixing(const planned_mixing&) = delete;
  planned_mixing& operator=(const planned_mixing&) = delete;
};

}  // namespace

TEST_CASE("mix plan: an item is 512 vectors of two rows, a warp's", "[cuda][host]") {
  planned_mixing mixing;
  const mix_parts planned = plan_mixing(mixing.work);
  REQUIRE(planned.count == 2);
  const mix_part& images = planned.parts[0];
  CHECK(images.vector_bytes == 16);
  CHECK(images.elements == 3072);
  CHECK(images.item_elements == 512 * 8);
  CHECK(images.items == 100);  // 50 pairs of two batches
  CHECK(images.blocks == 13);
  CHECK(images.batch_pairs.divisor() == 50);
  CHECK(images.line.divisor() == 32);
  CHECK(images.plane.divisor() == 32);
  CHECK(images.cuts);
  const mix_part& labels = planned.parts[1];
  CHECK(labels.vector_bytes == 4);
  CHECK(labels.elements == 10);
  CHECK(labels.items == 100);
  CHECK(!labels.cuts);
  CHECK(labels.field == 1);
  mixing.by.pixel_elements = 3;
  CHECK(plan_mixing(mixing.work).parts[0].line.divisor() == 96);
}

TEST_CASE("mix plan: the last batch may hold fewer pairs, and a long row has several items",
          "[cuda][host]") {
  planned_mixing mixing;
  mixing.work.samples = 101 + 8;
  CHECK(plan_mixing(mixing.work).parts[0].items == 54);
  mixing.work.samples = 7;
  CHECK(plan_mixing(mixing.work).parts[0].items == 3);
  mixing.fields[0].to_row_bytes = std::size_t{3} * 224 * 224 * 2;
  CHECK(plan_mixing(mixing.work).parts[0].row_items.divisor() == 37);
  CHECK(plan_mixing(mixing.work).parts[0].items == 3 * 37);
  mixing.fields[0].to_row_bytes += 2;  // rows at no multiple of 16
  CHECK(plan_mixing(mixing.work).parts[0].vector_bytes == 2);
  CHECK(plan_mixing(mixing.work).parts[0].item_elements == 512);
}

TEST_CASE("mix plan: if no sample has a partner, or none is mixed, there is nothing to do",
          "[cuda][host]") {
  planned_mixing mixing;
  mixing.work.samples = 1;
  CHECK(plan_mixing(mixing.work).count == 0);
  mixing.work.batch_size = 1;
  mixing.work.samples = 40;
  CHECK(plan_mixing(mixing.work).count == 0);
  mixing.work.batch_size = 20;
  CHECK(plan_mixing(mixing.work).count == 2);
  mixing.by.label = pair_mixing::none;
  CHECK(plan_mixing(mixing.work).count == 1);
  mixing.by.mixed_below = 0;
  CHECK(plan_mixing(mixing.work).count == 0);
  mixing.work.mixing = nullptr;
  CHECK(plan_mixing(mixing.work).count == 0);
}

TEST_CASE("mix plan: a row of more elements than a kernel counts is refused", "[cuda][host]") {
  planned_mixing mixing;
  mixing.fields[0].to_row_bytes = std::size_t{1} << 32;
  CHECK(message_of<usage_error>([&] { (void)plan_mixing(mixing.work); }) ==
        "2147483648 elements in a row: a slot that is assembled on a GPU has fewer than "
        "2147483648");
}
