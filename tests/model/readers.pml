/* The epochs in line, the slot scheduler, the readers. src/reader, src/staging. */

/* Epochs in line (epoch_schedule), and how far each is opened. */
bit in_line[EPOCHS];
byte next_ticket[EPOCHS];
bit abandoned[EPOCHS];

/* A staging slot's work: its piece, the requests that are not ended, and 1 + the good batches before
 * its first failure, or 0. */
byte work[STAGING_SLOTS];
byte requests_left[STAGING_SLOTS];
byte slot_failure[STAGING_SLOTS];

/* The slot scheduler: one reader at a time, which holds `opening`. */
bit opening;
byte begun;  /* the next piece of the ticket that is being opened; 0: none */

#if EPOCHS == 2
#define to_open (in_line[0] && next_ticket[0] < TICKETS -> 0 : \
                (in_line[1] && next_ticket[1] < TICKETS -> 1 : NONE))
#else
#define to_open (in_line[0] && next_ticket[0] < TICKETS -> 0 : NONE)
#endif

/* Readers who sleep for a request. They wake when somebody rings: all, or as many as are named. */
bit asleep[READERS];

inline wake_all() {
  d_step {
    asleep[0] = 0;
#if READERS > 1
    asleep[1] = 0;
#endif
#if READERS > 2
    asleep[2] = 0;
#endif
    skip
  }
}

inline wake_one() {
  atomic {
    if
    :: asleep[0] -> asleep[0] = 0
#if READERS > 1
    :: asleep[1] -> asleep[1] = 0
#endif
#if READERS > 2
    :: asleep[2] -> asleep[2] = 0
#endif
    :: else
    fi
  }
}

inline close_requests() {
  requests_closed = 1;
#ifndef NO_CLOSE_WAKE
  wake_all()
#endif
}

/* staging_ring::recycle, by the transfer. */
inline recycle_unread(slot) {
  atomic {
    STAGING(slot, filled, free, transfer);
    recycled ! slot
  }
}

/* slot_scheduler::next and request_executor::fill, again and again. What one atomic block joins
 * concerns nobody else between. */
proctype reader(byte number) {
  byte slot, request, offered;
  bit taken;

next:
  atomic {
    slot = 0; request = 0; offered = 0; taken = 0;
    if
    :: requests ? slot, request -> goto fill
    :: empty(requests)
    fi
  }
  atomic {
#ifndef NO_OPENING_LOCK
    if
    :: !opening
    :: opening -> goto sleep
    fi;
#endif
    opening = 1;

    /* The slot scheduler. Somebody may have opened a ticket meanwhile. */
    if
    :: requests ? slot, request -> taken = 1; offered = 1; goto opened_one
    :: empty(requests)
    fi;
    /* epoch_schedule::take */
    if
    :: begun != 0
    :: begun == 0 && schedule_closed -> opened_closed = 1; goto opened_one
    :: begun == 0 && !schedule_closed && to_open != NONE ->
         begun = first_piece(to_open, next_ticket[to_open])
    fi;
    /* staging_ring::claim */
    if
    :: recycled ? slot ->
         if
         :: recycled_closed -> goto opened_one
         :: else
         fi
    :: empty(recycled) && recycled_closed -> goto opened_one
    fi;
    if
    :: staging_state[slot] == staging_copying ->
#ifndef NO_COPY_DONE_WAIT
         if
         :: is_done(copied(slot))
         :: !is_done(copied(slot)) && recycled_closed -> goto opened_one
         :: device_faults > 0 ->  /* the copy failed: the slot is lost, nothing more is opened */
              device_faults--;
              opening_failure = 1;
#ifndef NO_OPENED_CLOSE
              opened_closed = 1;
#endif
              schedule_closed = 1;
              begun = 0;
              goto opened_one
         fi;
#endif
         STAGING(slot, copying, free, slot scheduler)
    :: else
    fi;
    /* slot_scheduler::open_piece */
    assert(begun != 0);
    if
    :: place_of(begun) == 0 && in_line[epoch_of(begun)] -> next_ticket[epoch_of(begun)]++
    :: else
    fi;
    work[slot] = begun;
    requests_left[slot] = REQUESTS;
    STAGING(slot, free, filling, slot scheduler);
    opened ! slot;
    for (offered : 0 .. REQUESTS - 1) { requests ! slot, offered }
    begun = (ends_ticket(begun) -> 0 : begun + 1)
  }

opened_one:
  opening = 0;
  if
  :: offered == 0 ->
       close_requests();
       atomic {
         slot = 0;
         if
         :: requests ? slot, request -> goto fill
         :: empty(requests) -> goto done
         fi
       }
  :: offered == 1 && READERS > 1 -> wake_one()
  :: offered == 2 && READERS > 2 -> wake_one(); wake_one()
  :: offered >= READERS -> wake_all()
  fi;
  if
  :: taken -> goto fill
  :: else -> goto next
  fi;

sleep:  /* until there is a request, or no reader opens */
  if
  :: atomic { requests ? slot, request -> goto fill }
  :: empty(requests) && !opening && !requests_closed -> goto next
  :: empty(requests) && requests_closed -> goto done
  :: atomic { empty(requests) && opening && !requests_closed -> asleep[number] = 1 };
     !asleep[number];
     goto sleep
  fi;

fill:  /* request_executor::fill */
  atomic {
    if
    :: stopping || abandoned[epoch_of(work[slot])] ||
       (slot_failure[slot] != 0 && slot_failure[slot] <= batch_of(request)) -> goto filled
    :: else
    fi;
    assert(staging_state[slot] == staging_filling);
    assert(!copying[slot]);
    writing[slot]++
  }
  atomic {
    assert(!copying[slot]);
    writing[slot]--;
    if
    :: staged[slot * REQUESTS + request] = work[slot]
    :: read_faults > 0 ->
         read_faults--;
         note_failure(epoch_of(work[slot]), ticket_of(work[slot]) * BATCHES + batch_of(request));
#ifdef FAIL_AT_ONCE
         board = 1; ready_closed = 1; free_closed = 1;
#endif
         if
#ifndef KEEP_LAST_FAILURE
         :: slot_failure[slot] != 0 && slot_failure[slot] <= batch_of(request) + 1
#endif
         :: else -> slot_failure[slot] = batch_of(request) + 1
         fi
    fi;
filled:
#ifndef NO_STOPPING_CHECK
    if
    :: stopping -> goto next
    :: else
    fi;
#endif
    /* staging_ring::finish_request */
    requests_left[slot]--;
    if
#ifdef NO_REQUEST_COUNT
    :: requests_left[slot] == REQUESTS - 1 ->
#else
    :: requests_left[slot] == 0 ->
#endif
         STAGING(slot, filling, filled, reader)
    :: else
    fi;
    goto next
  }

done:
  atomic { ended++; slot = 0; request = 0; offered = 0; taken = 0 }
}
