/* A ring of results: pusher, taker, the device beside them. src/results. README.md tells what is
 * modelled and what is not.
 *
 * The pusher computes a result into one of the sources, pushes it, and keeps the lease on the
 * source until just before it computes into that source again, or ends it at once.
 */

#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef SOURCES
#define SOURCES 2 /* device buffers of the user's; at most 2 */
#endif
#ifndef RESULTS
#define RESULTS 4
#endif
#ifndef DEVICE_FAULTS
#define DEVICE_FAULTS 0 /* calls to the device that may fail, at most */
#endif

#define NONE 255

/* Streams and events. */
#define STREAMS 2
#define RING 0
#define PUSHER 1
#define copied(slot) (slot)
#define produced SLOTS
#define EVENTS (SLOTS + 1)
#define QUEUE 14

/* The states of slots, and their transitions: the table of docs/internals/pipeline.md. */
#define result_free 0
#define result_copying 1
#define result_held 2
byte result_state[SLOTS];
#define RESULT(slot, from, to, who) \
  assert(result_state[slot] == result_##from); result_state[slot] = result_##to

/* Memory: which result's bytes are where (from 1), and who is at work there just now. */
byte computed[SOURCES];
byte computing[SOURCES];
byte reading[SOURCES];  /* copies that read it */
byte arrived[SLOTS];
byte writing[SLOTS];    /* copies that write it */
bit memory_freed;

chan free_slots = [SLOTS] of { byte };
chan sent = [SLOTS] of { byte };
bit free_closed, sent_closed, stopped, board;
byte result_in[SLOTS];  /* number of the result in the slot */
bit lost;
byte device_faults = DEVICE_FAULTS;
byte pushed;    /* results that are in line for the taker */
bit pusher_done, taker_done;

#define begin_copy(slot, source) \
  assert(!memory_freed); \
  assert(result_state[slot] == result_copying); \
  assert(!computing[source]); \
  reading[source]++; \
  writing[slot]++
#define end_copy(slot, source, result) \
  assert(!memory_freed); \
  assert(computed[source] == result); \
  arrived[slot] = result; \
  reading[source]--; \
  writing[slot]--
#define begin_kernel(source, result) \
  assert(!reading[source]); \
  computing[source]++
#define end_kernel(source, result) \
  assert(!reading[source]); \
  computed[source] = result; \
  computing[source]--

#include "device.pml"

inline close_ring() { atomic { free_closed = 1; sent_closed = 1 } }

/* result_slots::end_source */
inline end_source(which) {
  if
  :: lease[which] != 0 && result_in[leased[which]] == lease[which] ->
#ifndef NO_SOURCE_WAIT
       issue_wait(PUSHER, copied(leased[which]))
#else
       skip
#endif
  :: else
  fi;
  lease[which] = 0;
  leased[which] = 0
}

proctype pusher() {
  byte result = 1;
  byte slot, source;
  byte lease[SOURCES];   /* the result whose copy reads the source; 0: none */
  byte leased[SOURCES];  /* its slot */

  do
  :: result > RESULTS -> break
  :: result <= RESULTS ->
       atomic {
         source = (result - 1) % SOURCES;
         end_source(source);
         issue(PUSHER, kernel, source, result, 0)
       }
       /* result_slots::push */
       atomic {
         if
         :: board -> goto ended
         :: !board && nempty(free_slots) -> free_slots ? slot
#ifdef NO_FREE_WAIT
         :: !board && empty(free_slots) -> slot = (result - 1) % SLOTS
#else
         :: !board && empty(free_slots) && free_closed -> goto ended
#endif
         fi;
         if
         :: board || stopped -> goto ended
         :: else
         fi;
         RESULT(slot, free, copying, pusher);
         result_in[slot] = result;
         /* result_slots::issue */
         issue_record(PUSHER, produced);
#ifndef NO_PRODUCED_WAIT
         issue_wait(RING, produced);
#endif
#ifdef RECORD_BEFORE_COPY
         issue_record(RING, copied(slot));
#endif
         if
         :: issue(RING, copy, slot, source, result)
         :: device_faults > 0 ->  /* a call was refused */
              device_faults--;
              if
              :: issue(RING, copy, slot, source, result)
              :: true
              fi;
              if
              :: issue_record(RING, copied(slot)); issue_wait(PUSHER, copied(slot))
              :: lost = 1
              fi;
              board = 1;
              close_ring();
              goto ended
         fi;
#ifndef RECORD_BEFORE_COPY
         issue_record(RING, copied(slot));
#endif
         sent ! slot;
         pushed++;
         lease[source] = result;
         leased[source] = slot;
         if
         :: end_source(source)  /* the lease was a temporary */
         :: true
         fi;
         slot = 0;
         result++
       }
  od;
  sent_closed = 1;  /* finish */

ended:
  atomic {  /* the leases that are left */
    end_source(0);
    if
    :: SOURCES > 1 -> end_source(SOURCES - 1)
    :: else
    fi;
    pusher_done = 1
  }
}

/* result_slots::arrived and hold. It may keep one result while it takes the next. */
proctype taker() {
  byte next = 1;
  byte slot = NONE;
  byte kept = NONE;

  do
  :: kept != NONE -> atomic {
       assert(arrived[kept] == result_in[kept]);
       assert(!writing[kept]);
       RESULT(kept, held, free, any thread);
       free_slots ! kept;
       kept = NONE
     }
  :: atomic {
       kept == NONE || (SLOTS > 1 && nempty(sent)) ->
       if
       :: sent ? slot
       :: empty(sent) && sent_closed -> break
       fi;
       if
       :: stopped -> break
       :: else
       fi;
#ifndef NO_COPIED_WAIT
       if
       :: is_done(copied(slot))
       :: !is_done(copied(slot)) && stopped -> break
       fi;
#endif
       RESULT(slot, copying, held, taker);
       assert(result_in[slot] == next);
       assert(!writing[slot]);
       assert(arrived[slot] == next);
       next++;
       if
       :: kept != NONE ->
            RESULT(kept, held, free, any thread);
            free_slots ! kept
       :: else
       fi;
       kept = slot;
       slot = NONE
     }
  od;
  /* A taker that is not stopped has all that was sent, also before a failure. */
  assert(stopped || next == pushed + 1);
  taker_done = 1
}

#ifdef STOP
proctype stopper() {
  stopped = 1;
  close_ring()
}
#endif

/* The last owner: the pusher and the taker are gone. */
proctype owner() {
  atomic {
    pusher_done && taker_done;
#ifndef NO_IDLE_WAIT
    is_done(copied(0)) && is_done(copied(SLOTS - 1));
#endif
    memory_freed = !lost
  }
}

init {
  byte i;
  atomic {
    for (i : 0 .. SLOTS - 1) { free_slots ! i }
    i = 0;
    run stream(RING);
    run stream(PUSHER);
    run pusher();
    run taker();
    run owner();
#ifdef STOP
    run stopper();
#endif
  }
}
