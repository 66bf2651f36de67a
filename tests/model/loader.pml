/* A loader: readers, transfer, consumer, and the device beside them. README.md tells what is
 * modelled and what is not; CMakeLists.txt has the sizes that are checked.
 *
 * Each process does what the thread of that name does. Names are those of src/.
 */

/* Sizes. */
#ifndef READERS
#define READERS 2
#endif
#ifndef STAGING_SLOTS
#define STAGING_SLOTS 2
#endif
#ifndef DEVICE_SLOTS
#define DEVICE_SLOTS 2
#endif
#ifndef EPOCHS
#define EPOCHS 1 /* at most 2 */
#endif
#ifndef TICKETS
#define TICKETS 3 /* of an epoch */
#endif
#ifndef PIECES
#define PIECES 1 /* of a ticket; more than 1 with 1 batch only */
#endif
#ifndef BATCHES
#define BATCHES 1 /* of a ticket */
#endif
#ifndef REQUESTS
#define REQUESTS 2 /* of a piece */
#endif
#ifndef READ_FAULTS
#define READ_FAULTS 0 /* reads that may fail, at most */
#endif
#ifndef DEVICE_FAULTS
#define DEVICE_FAULTS 0 /* calls to the device that may fail, at most */
#endif

#define NONE 255
#define LAST (DEVICE_SLOTS - 1)

/* FURTHER: the last device slot is a further one, and where slots are read in place so is the last
 * staging slot. It is spare at first, and has no memory. */
#ifdef FURTHER
bit no_memory = 1;
#define has_memory(slot) (!memory_freed && ((slot) != LAST || !no_memory))
#define OWN_DEVICE_SLOTS (DEVICE_SLOTS - 1)
#ifdef IN_PLACE
#define OWN_STAGING_SLOTS (STAGING_SLOTS - 1)
#endif
#else
#define has_memory(slot) (!memory_freed)
#define OWN_DEVICE_SLOTS DEVICE_SLOTS
#endif
#ifndef OWN_STAGING_SLOTS
#define OWN_STAGING_SLOTS STAGING_SLOTS
#endif

/* Each piece of the whole run has a number, from 1. It stands for its bytes, too: 0 is no bytes. */
#define first_piece(epoch, ticket) (((epoch) * TICKETS + (ticket)) * PIECES + 1)
#define epoch_of(piece) (((piece) - 1) / (TICKETS * PIECES))
#define ticket_of(piece) ((((piece) - 1) / PIECES) % TICKETS)
#define place_of(piece) (((piece) - 1) % PIECES)
#define ends_ticket(piece) (place_of(piece) == PIECES - 1)
/* A piece's requests follow each other in its batches: the batch in which one begins. */
#define batch_of(request) ((request) * BATCHES / REQUESTS)
/* Requests that a copy of the first batches takes. */
#define requests_of(batches) (((batches) * REQUESTS + BATCHES - 1) / BATCHES)

/* Streams and events of the device. */
#define COPIES (PIECES > 1 -> 2 : 1)
#define CONSUMERS 2
#define STREAMS 3
#define copied(slot) (slot)
#define ready(slot) (STAGING_SLOTS + (slot))
#define released(slot) (STAGING_SLOTS + DEVICE_SLOTS + (slot))
#define EVENTS (STAGING_SLOTS + 2 * DEVICE_SLOTS)
#ifndef QUEUE
#define QUEUE 12 /* issued and not executed; an assertion tells if it is too short */
#endif

/* The states of slots, and their transitions: the tables of docs/internals/pipeline.md. A
 * transition that starts from another state throws std::logic_error there, and fails here. */
#define staging_free 0
#define staging_filling 1
#define staging_filled 2
#define staging_copying 3
#define staging_leased 4
#define device_free 0
#define device_filled 1
#define device_leased 2
#define device_spare 3
byte staging_state[STAGING_SLOTS];
byte device_state[DEVICE_SLOTS];
#define STAGING(slot, from, to, who) \
  assert(staging_state[slot] == staging_##from); staging_state[slot] = staging_##to
#define DEVICE(slot, from, to, who) \
  assert(device_state[slot] == device_##from); device_state[slot] = device_##to

/* Memory: which piece's bytes are where, and who is at work there just now. */
byte staged[STAGING_SLOTS * REQUESTS];
byte writing[STAGING_SLOTS];   /* readers */
byte copying[STAGING_SLOTS];   /* copies that read it */
byte landed[DEVICE_SLOTS * PIECES];
byte filling[DEVICE_SLOTS];    /* copies that write it */
byte computing[DEVICE_SLOTS];  /* kernels of the consumer's that read it */
bit memory_freed;

/* Channels between threads, and whether they are closed. */
chan recycled = [STAGING_SLOTS] of { byte };
chan opened = [STAGING_SLOTS] of { byte };
chan requests = [STAGING_SLOTS * REQUESTS] of { byte, byte };
chan free_slots = [DEVICE_SLOTS] of { byte };
chan ready_slots = [DEVICE_SLOTS] of { byte };
bit schedule_closed, recycled_closed, opened_closed, requests_closed, free_closed, ready_closed;

bit stopped, stopping;     /* the pipeline's flag, the readers' */
bit board;                 /* a failure is on the board */
byte opening_failure, end_failure;
byte read_faults = READ_FAULTS;
byte device_faults = DEVICE_FAULTS;
byte first_failure[EPOCHS];  /* 1 + the first batch that failed; 0: none */
byte ended;                  /* threads of the loader that are gone */
bit lost;                    /* work was issued that no event follows */

/* Notes that a batch cannot be delivered. */
inline note_failure(epoch, batch) {
  if
  :: first_failure[epoch] == 0 || first_failure[epoch] > (batch) + 1 ->
       first_failure[epoch] = (batch) + 1
  :: else
  fi
}

/* The effect of copies and kernels on memory, when the device comes to them. */
#define begin_copy(from, to) \
  assert(has_memory(to)); \
  assert(!writing[from]); \
  assert(!computing[to]); \
  copying[from]++; \
  filling[to]++
#define end_copy(from, to, piece) \
  assert(has_memory(to)); \
  landed[to * PIECES + place_of(piece)] = staged[from * REQUESTS]; \
  copying[from]--; \
  filling[to]--
#define begin_kernel(slot, piece) \
  assert(has_memory(slot)); \
  assert(!filling[slot]); \
  computing[slot]++
#define end_kernel(slot, piece) \
  assert(has_memory(slot)); \
  assert(landed[slot * PIECES] == piece); \
  assert(landed[slot * PIECES + PIECES - 1] == piece + PIECES - 1); \
  computing[slot]--

#include "device.pml"
#include "readers.pml"

/* pipeline::close. Any thread. Only the stopper does it in steps, with others between. */
inline close_all() {
  stopping = 1;
  atomic {
    schedule_closed = 1;
#ifndef NO_STAGING_CLOSE
    recycled_closed = 1;
    opened_closed = 1;
#endif
    close_requests()
  }
#ifndef NO_RING_CLOSE
  atomic { free_closed = 1; ready_closed = 1 }
#endif
}

#include "transfer.pml"
#include "consumer.pml"

#ifdef STOP
/* Any thread may stop the loader, at any time. */
proctype stopper() {
  stopped = 1;
  close_all()
}
#endif

init {
  byte i;
  atomic {
#ifdef FURTHER
    device_state[LAST] = device_spare;
#endif
    for (i : 0 .. OWN_STAGING_SLOTS - 1) { recycled ! i }
#ifndef IN_PLACE
    for (i : 0 .. OWN_DEVICE_SLOTS - 1) { free_slots ! i }
    for (i : 0 .. COPIES - 1) { run stream(i) }
    run stream(CONSUMERS);
#endif
    for (i : 0 .. READERS - 1) { run reader(i) }
    run transfer();
    run consumer();
#ifdef OTHER_THREAD
    run other_thread();
#endif
#ifdef STOP
    run stopper();
#endif
    i = 0
  }
}
