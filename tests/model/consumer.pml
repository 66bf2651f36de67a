/* The consumer, the leases on device slots, and the end of the loader. src/batch, src/loader. */

/* slot_leases: held batches, the number handed out, and whether the cursor may hand out more. */
byte held[DEVICE_SLOTS];
byte handed_out[DEVICE_SLOTS];
bit cursor[DEVICE_SLOTS];
bit slot_lost[DEVICE_SLOTS];

/* Batches that the consumer gave to another thread, which ends them. */
chan given = [DEVICE_SLOTS * BATCHES] of { byte };
bit consumer_done;

/* device_ring::recycle */
inline recycle_used(slot) {
#ifdef IN_PLACE
  STAGING(slot, leased, free, any thread);
  recycled ! slot
#else
  free_slots ! slot
#endif
}

#ifdef FURTHER
/* device_ring::end_further */
inline end_further(slot) {
  DEVICE(slot, leased, spare, any thread);
#ifdef IN_PLACE
  STAGING(slot, leased, free, any thread)
#endif
}

/* device_ring::grow */
inline grow() {
  DEVICE(LAST, spare, free, consumer);
  no_memory = 0;
#ifdef IN_PLACE
  recycled ! LAST
#else
  free_slots ! LAST
#endif
}
#ifdef NO_FREE_WAIT
#define may_free true
#else
#define may_free is_done(released(LAST))
#endif
#define may_grow (device_state[0] == device_leased && device_state[LAST] == device_spare)
#else
#define may_grow false
#endif

/* device_ring::end_use */
inline end_use(slot) {
  if
  :: slot_lost[slot]
#ifdef FURTHER
  :: !slot_lost[slot] && slot == LAST -> end_further(slot)
#endif
  :: else ->
       DEVICE(slot, leased, free, any thread);
       recycle_used(slot)
  fi
}

inline let_go(slot) {
  atomic {
    cursor[slot] = 0;
    if
    :: held[slot] == 0 -> end_use(slot)
    :: else
    fi
  }
}

/* device_ring::mark_released. If the device refuses, the failure is recorded in the table. */
inline mark_released(slot) {
#ifndef IN_PLACE
  if
  :: issue_record(CONSUMERS, released(slot))
  :: device_faults > 0 ->
       device_faults--;
       if
       :: issue_record(CONSUMERS, released(slot))
       :: slot_lost[slot] = 1; lost = 1
       fi;
       board = 1;
       free_closed = 1;
       ready_closed = 1
  fi
#else
  skip
#endif
}

/* The consumer's last work on a batch, and the end of its lease: device_ring::end_lease. */
inline work_on(slot) {
#ifdef IN_PLACE
  for (i : 0 .. requests_of(good[slot]) - 1) {
    assert(staged[slot * REQUESTS + i] == content[slot])
  }
  i = 0
#else
  issue(CONSUMERS, kernel, slot, content[slot], 0)
#endif
}

/* A thread that ends a lease looks, marks and ends it, in three steps: others may come between. */
#ifdef OTHER_THREAD
#define look_again
#else
#define look_again atomic
#endif
inline end_lease(slot) {
  do
  :: look_again {
       atomic { seen_held = held[slot]; seen_handed_out = handed_out[slot]; seen_cursor = cursor[slot] }
#ifndef NO_MARK
       atomic {
         if
         :: seen_held == 1 -> mark_released(slot)
         :: else
         fi
       }
#endif
       atomic {
         if
#ifdef NO_DEALT_COUNT
         :: held[slot] == seen_held && cursor[slot] == seen_cursor ->
#else
         :: held[slot] == seen_held && cursor[slot] == seen_cursor && handed_out[slot] == seen_handed_out ->
#endif
              held[slot]--;
              if
#ifdef NO_CURSOR_HOLD
              :: seen_held == 1 -> end_use(slot)
#else
              :: seen_held == 1 && !seen_cursor -> end_use(slot)
#endif
              :: else
              fi;
              seen_held = 0; seen_handed_out = 0; seen_cursor = 0;
              break
         :: else
         fi
       }
     }
  od
}

/* The user has done its last work on a batch. */
inline end_batch(slot) {
  look_again {
    atomic { mine[slot]--; work_on(slot) }
    end_lease(slot)
  }
}

#ifdef OTHER_THREAD
proctype other_thread() {
  byte slot, seen_held, seen_handed_out;
  bit seen_cursor;
  do
  :: given ? slot -> end_lease(slot); slot = 0
  :: consumer_done && empty(given) -> break
  od
}
#endif

/* pipeline::next for each epoch, and what a user does between. Device slots: at most 2. */
proctype consumer() {
  byte epoch, i;
  byte slot = NONE;   /* the one at hand */
  byte taken;         /* batches of the epoch */
  byte place;         /* index of the next batch in the slot */
  byte mine[DEVICE_SLOTS];  /* batches that it holds */
  bit failure;        /* after the current slot */
  byte seen_held, seen_handed_out;
  bit seen_cursor;

claim:
  atomic {
    taken = 0;
    in_line[epoch] = 1;
    if
    :: epoch + 1 < EPOCHS -> in_line[epoch + 1] = 1  /* read ahead */
    :: else
    fi
  }

step:  /* The user ends batches sooner or later, or leaves, or takes the next one. */
  if
  :: mine[0] -> end_batch(0); goto step
  :: LAST && mine[LAST] -> end_batch(LAST); goto step
#ifdef OTHER_THREAD
  :: epoch == 0 && mine[0] -> atomic { mine[0]--; work_on(0); given ! 0 }; goto step
#endif
#ifdef LEAVE
  :: goto leave
#endif
#ifdef ABANDON
  :: epoch + 1 < EPOCHS -> goto end_epoch
#endif
  :: stopped -> goto leave
  :: atomic {  /* batch_cursor::hand_out */
       !stopped && slot != NONE ->
       held[slot]++; handed_out[slot]++; mine[slot]++; place++; taken++;
       if
       :: place == good[slot] -> let_go(slot); slot = NONE
       :: else
       fi
     }
     goto step
  :: !stopped && slot == NONE && failure ->
       assert(first_failure[epoch] == taken + 1);
       goto fail
  :: !stopped && slot == NONE && !failure && taken == TICKETS * BATCHES -> goto end_epoch
#ifdef FURTHER
  :: atomic { !stopped && slot == NONE && !failure && taken < TICKETS * BATCHES && may_grow -> grow() }
     goto step
  :: atomic {  /* device_ring::free_spare. Any thread, at any later time. */
       device_state[LAST] == device_spare && !no_memory && may_free -> no_memory = 1
     }
     goto step
#endif
  :: atomic {  /* device_ring::take */
       !stopped && slot == NONE && !failure && taken < TICKETS * BATCHES &&
         !(mine[0] && mine[LAST]) && !may_grow ->
       if
       :: ready_slots ? slot
       :: empty(ready_slots) && ready_closed -> goto ended_early
       fi;
       if
       :: stopped -> slot = NONE; goto leave
       :: else
       fi;
       /* batch_cursor::accept */
#ifndef NO_EPOCH_CHECK
       if
       :: epoch_of(content[slot]) == epoch ->
#else
       if
       :: true ->
#endif
            assert(content[slot] == first_piece(epoch, taken / BATCHES));
            failure = has_failure[slot]
       :: else -> good[slot] = 0
       fi;
       has_failure[slot] = 0;
       if
       :: good[slot] == 0 ->
            DEVICE(slot, filled, free, consumer);
            recycle_used(slot);
            slot = NONE
       :: good[slot] != 0 ->
            if
            :: device_faults > 0 -> device_faults--; board = 1; slot = NONE; goto fail
            :: true
            fi;
#if !defined(NO_WAIT_FOR_COPY) && !defined(IN_PLACE)
            issue_wait(CONSUMERS, ready(slot));
#endif
            place = 0;
            handed_out[slot] = 0;
            cursor[slot] = 1;
            DEVICE(slot, filled, leased, consumer)
       fi
     }
     goto step
  fi;

end_epoch:  /* at its end, or abandoned: batch_cursor::begin, epoch_schedule::end */
  atomic {
    abandoned[epoch] = 1;
    in_line[epoch] = 0;
    failure = 0;
    if
    :: slot != NONE -> let_go(slot); slot = NONE
    :: else
    fi
  }
  if
  :: epoch + 1 < EPOCHS -> epoch++; goto claim
  :: else -> goto leave
  fi;

ended_early:
  if
  :: stopped -> goto leave
  :: else
  fi;
  assert(end_failure || board);  /* "delivery ended with no failure, which cannot be" */
  assert(DEVICE_FAULTS > 0);     /* a read's failure ends delivery at its position only */
  /* Nothing could be opened any more: all that was opened has come. */
  assert(PIECES > 1 || end_failure != 1 || board || taken == next_ticket[epoch] * BATCHES);

fail:
  atomic { board = 1; close_all() }

leave:  /* ~loader; batches may outlive it */
  atomic { stopped = 1; close_all() }
  atomic {
    ended == READERS + 1;
    if
    :: slot != NONE -> let_go(slot); slot = NONE
    :: else
    fi
  }
  do
  :: mine[0] -> end_batch(0)
  :: !mine[0] && LAST && mine[LAST] -> end_batch(LAST)
  :: !mine[0] && !mine[LAST] -> break
  od;
  consumer_done = 1;

  /* The last owner frees memory, when no event is pending; never what was lost. */
  atomic {
#ifdef OTHER_THREAD
    empty(given) && !held[0] && !held[LAST];
#endif
#ifndef NO_IDLE_WAIT
    for (i : 0 .. EVENTS - 1) { is_done(i) }
    i = 0;
#endif
    memory_freed = !lost
  }
}
